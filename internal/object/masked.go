package object

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"hawser.dev/hawser/internal/neversecret"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/redact"
)

// Masked is a copy of the object's body to be shown: what Mask hides is redact.Mask, keys that somebody chose (pathmask.Keys) pass through
// key, other names of fields and what names the object through name, and every other text and number through redact; those at places
// that are never secret pass through own instead, and in what gives rights through nothing. Its Sensitive paths must be those of this very body.
func (o Object) Masked(redact, own, name, key func(string) string) map[string]any {
	m := masker{ref: o.Ref(), mask: o.Mask(), redact: redact, own: own, name: name, key: key}
	m.mask.fits = trailStep.is
	return m.fields(o.Body, nil)
}

// AsNamed shows a name, or a key, as it is.
func AsNamed(name string) string { return name }

// RedactBody passes a body that is shown through the same.
func RedactBody(body map[string]any, redact, own, name, key func(string) string) map[string]any {
	m := masker{ref: Object{Body: body}.Ref(), redact: redact, own: own, name: name, key: key}
	return m.fields(body, nil)
}

type masker struct {
	ref                    Ref
	mask                   Mask
	redact, own, name, key func(string) string
}

// Names reports whether what stands at a path names the object, as our own marks do: no secret hides it for what it may equal.
func Names(path []string) bool {
	if len(path) == 1 {
		return path[0] == "apiVersion" || path[0] == "kind"
	}
	meta := len(path) > 1 && path[0] == "metadata"
	return meta && len(path) == 2 && (path[1] == "name" || path[1] == "namespace") ||
		meta && len(path) == 3 && path[1] == "labels" && slices.Contains([]string{LabelOwner, LabelBundle, LabelInstance}, path[2])
}

func (m masker) fields(in map[string]any, trail []trailStep) map[string]any {
	if in == nil {
		return nil
	}
	called, out := m.name, make(map[string]any, len(in))
	if n := len(trail); n > 0 && pathmask.Keys(trail[n-1].name) {
		called = m.key
	}
	for i, k := range slices.Sorted(maps.Keys(in)) {
		v, name := in[k], called(k)
		for n := 2; ; n++ { // two secret names are two entries still
			if _, taken := out[name]; !taken {
				break
			}
			name = called(k) + strconv.Itoa(n)
		}
		if text, ok := v.(string); ok && len(trail) < 3 && Names(append(stepsOf(trail), k)) {
			out[name] = m.name(text)
			continue
		}
		out[name] = m.value(v, step(trail, trailStep{name: k, at: i}))
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
		return m.text(v, trail)
	case int, int64, float64, json.Number:
		text, err := json.Marshal(v)
		if err == nil && m.text(string(text), trail) != string(text) {
			return redact.Mask
		}
	}
	return v
}

// text is what is shown of a text, or a number, that stands there.
func (m masker) text(text string, trail []trailStep) string {
	if m.redact(text) == text {
		return text
	}
	return neversecret.Mask(m.ref.Group, m.ref.Kind, stepsOf(trail), m.redact, m.own)(text)
}

// rest is a copy of a value at a trail that holds what must not be seen, without that.
func (m Mask) rest(v any, trail []trailStep) any {
	return masker{mask: m, redact: AsNamed, own: AsNamed, name: AsNamed, key: AsNamed}.value(v, trail)
}

// tells reports whether anything is shown of a value but that it holds what is not.
func tells(v any) (shown bool) {
	scalars(v, nil, func(_ []trailStep, text string) { shown = shown || text != redact.Mask }, nil)
	return shown
}
