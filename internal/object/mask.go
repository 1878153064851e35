package object

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// LastApplied is kubectl's annotation with a copy of the whole object.
const LastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Mask says which values of one object must not be shown.
type Mask struct {
	secret    bool
	sensitive []string
}

// Mask returns what to hide of the object: data and stringData of Secrets, kubectl's copy of the object, and the
// values at Sensitive paths with everything below them.
func (o Object) Mask() Mask { return Mask{secret: o.Ref().IsSecret(), sensitive: o.Sensitive} }

// SensitivePaths are the paths, in the form of Object.Sensitive, of the texts and numbers in a body that are secret, in
// order.
func SensitivePaths(body map[string]any, secret func(string) bool) []string {
	var out []string
	scalars(body, "", func(path, text string) {
		if secret(text) {
			out = append(out, path)
		}
	})
	return out
}

// SensitiveValues are the texts and numbers at the object's Sensitive paths.
func (o Object) SensitiveValues() []string {
	if len(o.Sensitive) == 0 {
		return nil
	}
	var out []string
	scalars(o.Body, "", func(path, text string) {
		if slices.Contains(o.Sensitive, path) {
			out = append(out, text)
		}
	})
	return out
}

// scalars calls fn with every text and number in order of their paths: names and positions joined by dots.
func scalars(v any, path string, fn func(path, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			scalars(v[k], path+"."+k, fn)
		}
	case []any:
		for i, item := range v {
			scalars(item, path+"."+strconv.Itoa(i), fn)
		}
	case string:
		fn(strings.TrimPrefix(path, "."), v)
	case int64, float64:
		fn(strings.TrimPrefix(path, "."), fmt.Sprint(v))
	}
}

// hides reports whether the value at a path (in the grammar of FieldDiff.Path) must not be shown.
func (m Mask) hides(path string, trail []trailStep) bool {
	if len(trail) == 0 {
		return false
	}
	if m.secret && (trail[0].name == "data" || trail[0].name == "stringData") {
		return true
	}
	if len(trail) == 3 && trail[1].name == "annotations" && trail[2].name == LastApplied {
		return true
	}
	dotted := dottedTrail(trail)
	return slices.ContainsFunc(m.sensitive, func(s string) bool {
		return within(path, s) || within(dotted, s) || within(s, path) || within(s, dotted)
	})
}

// within reports whether path is parent or lies below it.
func within(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+".") || strings.HasPrefix(path, parent+"[")
}

// dottedTrail is the path with list positions as plain numbers, the form of Object.Sensitive.
func dottedTrail(trail []trailStep) string {
	parts := make([]string, len(trail))
	for i, st := range trail {
		parts[i] = st.name
		if st.item != nil {
			parts[i] = st.position
		}
	}
	return strings.Join(parts, ".")
}

// prune returns a copy of body without what the server adds to every object and people never declare.
func prune(body map[string]any) map[string]any {
	out := maps.Clone(body)
	delete(out, "status")
	meta, ok := out["metadata"].(map[string]any)
	if !ok {
		return out
	}
	meta = maps.Clone(meta)
	for _, k := range []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"} {
		delete(meta, k)
	}
	out["metadata"] = meta
	return out
}
