package object

import (
	"encoding/json"
	"strconv"

	"hawser.dev/hawser/internal/redact"
)

// Masked is a copy of the object's body to be shown: what Mask hides is redact.Mask, keys and what names the object pass through
// name, and every other text and number through redact.
func (o Object) Masked(redact, name func(string) string) map[string]any {
	m := masker{mask: o.Mask(), redact: redact, name: name}
	return m.fields(o.Body, nil)
}

// AsNamed shows a name as it is.
func AsNamed(name string) string { return name }

// RedactBody passes every text and number of a body that is shown through redact, its keys and what names the object through
// name.
func RedactBody(body map[string]any, redact, name func(string) string) map[string]any {
	m := masker{redact: redact, name: name}
	return m.fields(body, nil)
}

type masker struct {
	mask         Mask
	redact, name func(string) string
}

// names reports whether a field names the object.
func names(trail []trailStep, field string) bool {
	switch len(trail) {
	case 0:
		return field == "apiVersion" || field == "kind"
	case 1:
		return trail[0].name == "metadata" && (field == "name" || field == "namespace")
	}
	return false
}

func (m masker) fields(in map[string]any, trail []trailStep) map[string]any {
	if in == nil {
		return nil
	}
	out := make(map[string]any, len(in))
	for k, v := range in {
		name := m.name(k)
		for n := 2; ; n++ { // two secret names are two entries still
			if _, taken := out[name]; !taken {
				break
			}
			name = m.name(k) + strconv.Itoa(n)
		}
		if text, ok := v.(string); ok && names(trail, k) {
			out[name] = m.name(text)
			continue
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
		return redact.Mask
	}
	switch v := v.(type) {
	case string:
		return m.redact(v)
	case int, int64, float64, json.Number:
		text, err := json.Marshal(v)
		if err == nil && m.redact(string(text)) != string(text) {
			return redact.Mask
		}
	}
	return v
}
