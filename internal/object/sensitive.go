package object

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"hawser.dev/hawser/internal/neversecret"
)

// A path of Object.Sensitive has names as FieldDiff.Path has them, and items of lists with what tells them apart in any
// other version of the object: spec.containers[name="app"].env[name="PW"].value. An item that has nothing of the kind, or
// a secret alone, stands with its position, spec.args[1]: in the body that the path was made of that is this item, in
// another one it may be any. Paths of older records have positions between dots, spec.args.1, and mean the same.
// So has an entry whose key is secret: data[3] is what stands under the fourth key, in order, and data[=3] is that key itself.

// MarkSecrets is the object with the paths at which a text turns up that is known to be secret: there also what was before is hidden.
// mask hides in any text what is secret, own what is so at places that are never secret (neversecret.Mask); key says which keys of entries
// are. What Secrets hold is hidden by their kind: of them the keys alone are marked.
func (o Object) MarkSecrets(mask, own func(text string) string, key func(text string) bool) Object {
	known := func(text string) bool { return mask(text) != text }
	if ref := o.Ref(); !ref.IsSecret() {
		if data, err := json.Marshal(o.Body); err == nil && !known(string(data)) {
			return o
		}
		o.Sensitive = slices.Concat(o.Sensitive, valuePaths(o.Body, func(trail []trailStep, text string) bool {
			return known(text) && neversecret.Mask(ref.Group, ref.Kind, stepsOf(trail), mask, own)(text) != text
		}, known, key))
	}
	o.Sensitive = slices.Concat(o.Sensitive, keyPaths(o.Body, known, key))
	return o
}

// SensitivePaths are the paths, in the form of Object.Sensitive, of the texts and numbers in a body that are secret, in
// order. Nothing that is secret itself names an item in them.
func SensitivePaths(body map[string]any, secret func(string) bool) []string {
	return valuePaths(body, func(_ []trailStep, text string) bool { return secret(text) }, secret, func(string) bool { return false })
}

// valuePaths are those at which hides says so, in which nothing that is secret, and no key that is, names an entry.
func valuePaths(body map[string]any, hides func(trail []trailStep, text string) bool, secret, key func(string) bool) []string {
	var out []string
	scalars(body, nil, func(trail []trailStep, text string) {
		if hides(trail, text) {
			out = append(out, selector(trail, secret, key))
		}
	}, nil)
	return out
}

// keyPaths are those of the keys that are secret.
func keyPaths(body map[string]any, secret, key func(string) bool) []string {
	var out []string
	scalars(body, nil, nil, func(trail []trailStep) {
		if last := len(trail) - 1; last > 0 && key(trail[last].name) {
			out = append(out, selector(trail[:last], secret, key)+"[="+strconv.Itoa(trail[last].at)+"]")
		}
	})
	return out
}

// SensitiveKeys are the keys of entries that the object's Sensitive paths name, which must be those of this very body.
func (o Object) SensitiveKeys() []string {
	var out []string
	p := newPathSet(o.Sensitive)
	p.scalars(o.Body, nil, p.start(), nil, func(trail []trailStep, _ int) { out = append(out, trail[len(trail)-1].name) })
	return out
}

// SensitiveValues are the texts and numbers at the object's Sensitive paths, which must be those of this very body.
func (o Object) SensitiveValues() []string {
	if len(o.Sensitive) == 0 {
		return nil
	}
	var out []string
	p := newPathSet(o.Sensitive)
	p.scalars(o.Body, nil, p.start(), func(_ []trailStep, text string, _ int) { out = append(out, text) }, nil)
	return out
}

// scalars calls fn with every text and number, and entry with every key, in order of their paths; either may be nil. They must not
// keep the trail.
func scalars(v any, trail []trailStep, fn func(trail []trailStep, text string), entry func(trail []trailStep)) {
	switch v := v.(type) {
	case map[string]any:
		for i, k := range slices.Sorted(maps.Keys(v)) {
			below := append(trail, trailStep{name: k, at: i})
			if entry != nil {
				entry(below)
			}
			scalars(v[k], below, fn, entry)
		}
	case []any:
		for i, item := range v {
			scalars(item, append(trail, trailStep{item: item, position: strconv.Itoa(i)}), fn, entry)
		}
	case string, int64, float64:
		if fn != nil {
			fn(trail, fmt.Sprint(v))
		}
	}
}

// selector writes the path of a trail.
func selector(trail []trailStep, secret, key func(string) bool) string {
	path := ""
	for i, st := range trail {
		if st.position == "" && i > 0 && key(st.name) {
			path += "[" + strconv.Itoa(st.at) + "]"
			continue
		}
		if st.position == "" {
			path = JoinPath(path, st.name)
			continue
		}
		keys := selectorKeys(st.item, secret)
		if len(keys) == 0 {
			keys = []string{st.position}
		}
		path += "[" + strings.Join(keys, ",") + "]"
	}
	return path
}

// selectorKeys are all fields that may tell an item from others, as name=value: which of them the other version is
// compared by is not known yet. A type, which many items share, is taken only where there is nothing else.
func selectorKeys(item any, secret func(string) bool) []string {
	m, _ := item.(map[string]any)
	var keys, last []string
	for _, fields := range listKeys {
		v, ok := m[fields[0]]
		if !ok || v == "" || secret(fmt.Sprint(v)) {
			continue
		}
		text := ""
		switch v := v.(type) {
		case string:
			text = strconv.Quote(v)
		case int64, float64:
			text = fmt.Sprint(v)
		default:
			continue
		}
		if text = fields[0] + "=" + text; fields[0] == "type" {
			last = []string{text}
		} else {
			keys = append(keys, text)
		}
	}
	if len(keys) == 0 {
		return last
	}
	return keys
}

// is: the item is the one that was named, in the body it was named in.
func (st trailStep) is(el fieldpath.PathElement) bool {
	if el.Key == nil {
		return el.Index == nil || st.position == strconv.Itoa(*el.Index)
	}
	return !slices.ContainsFunc(*el.Key, func(f value.Field) bool { return !itemHas(st.item, f) })
}

// mayBe: the item, before or after, may be the one that was named in another version of the object.
func (st trailStep) mayBe(el fieldpath.PathElement) bool {
	return el.Key == nil || slices.ContainsFunc(*el.Key, func(f value.Field) bool {
		return itemHas(st.item, f) || itemHas(st.other, f)
	})
}

func itemHas(item any, f value.Field) bool {
	m, _ := item.(map[string]any)
	v, ok := m[f.Name]
	return ok && value.Equals(value.NewValueInterface(v), f.Value)
}
