package object

import (
	"maps"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
)

// WithoutPaths returns a copy of body without the fields at paths of names (`spec.replicas`, `data."app.yaml"`); what is
// left empty on the way stays. A path into a list removes nothing. body itself is not changed; nil stays nil.
func WithoutPaths(body map[string]any, paths []string) map[string]any {
	if body == nil {
		return nil
	}
	for _, p := range paths {
		parsed, err := v1alpha1.ParsePath(p)
		if err == nil && !slices.ContainsFunc(parsed, func(st v1alpha1.Step) bool { return st.Index || st.Key != "" }) {
			body = withoutPath(body, parsed)
		}
	}
	return body
}

func withoutPath(m map[string]any, path v1alpha1.Path) map[string]any {
	name := path[0].Name
	v, ok := m[name]
	if !ok {
		return m
	}
	out := maps.Clone(m)
	if len(path) == 1 {
		delete(out, name)
		return out
	}
	if child, ok := v.(map[string]any); ok {
		out[name] = withoutPath(child, path[1:])
	}
	return out
}

// Restrict returns the part of live that has a counterpart in declared: fields it names, and list items with the keys
// it uses. Lists of plain values are kept whole.
func Restrict(live, declared map[string]any) map[string]any {
	if live == nil {
		return nil
	}
	out := map[string]any{}
	for k, d := range declared {
		if l, ok := live[k]; ok {
			out[k] = restrict(k, l, d)
		}
	}
	return out
}

func restrict(name string, live, declared any) any {
	if d, ok := declared.(map[string]any); ok {
		if l, ok := live.(map[string]any); ok {
			return Restrict(l, d)
		}
		return live
	}
	d, ok := declared.([]any)
	l, ok2 := live.([]any)
	if !ok || !ok2 {
		return live
	}
	key := listKey([]trailStep{{name: name}}, l, d)
	if key == nil {
		return live
	}
	var out []any
	for _, item := range l {
		i := slices.IndexFunc(d, func(x any) bool { return keyOf(x, key) == keyOf(item, key) })
		if i >= 0 {
			out = append(out, restrict("", item, d[i]))
		}
	}
	return out
}
