package object

import (
	"encoding/json"
	"strconv"

	"hawser.dev/hawser/internal/secret"
)

// Masked is a copy of the object's body to be shown: what Mask hides is secret.Mask, keys stay, and every other text and
// number passes through redact.
func (o Object) Masked(redact func(string) string) map[string]any {
	m := masker{mask: o.Mask(), redact: redact}
	return m.fields(o.Body, nil)
}

// RedactBody passes every text and number of a body that is shown, and the names in it, through redact.
func RedactBody(body map[string]any, redact func(string) string) map[string]any {
	m := masker{redact: redact}
	return m.fields(body, nil)
}

type masker struct {
	mask   Mask
	redact func(string) string
}

func (m masker) fields(in map[string]any, trail []trailStep) map[string]any {
	if in == nil {
		return nil
	}
	out := make(map[string]any, len(in))
	for k, v := range in {
		name := m.redact(k)
		for n := 2; ; n++ { // two secret names are two entries still
			if _, taken := out[name]; !taken {
				break
			}
			name = m.redact(k) + strconv.Itoa(n)
		}
		out[name] = m.value(v, step(trail, trailStep{name: k}))
	}
	return out
}

func (m masker) value(v any, trail []trailStep) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			return m.fields(v, trail)
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			at := strconv.Itoa(i)
			out[i] = m.value(item, step(trail, trailStep{name: at, item: item, position: at}))
		}
		return out
	}
	if v != nil && m.mask.hides(trail) {
		return secret.Mask
	}
	switch v := v.(type) {
	case string:
		return m.redact(v)
	case int64, float64:
		text, err := json.Marshal(v)
		if err == nil && m.redact(string(text)) != string(text) {
			return secret.Mask
		}
	}
	return v
}
