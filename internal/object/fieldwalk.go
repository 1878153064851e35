package object

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"hawser.dev/hawser/api/v1alpha1"
)

// textOf is a value as a path's selector writes it.
func textOf(v any) string { return fmt.Sprint(v) }

// itemAt finds the item of a list that a path element names, below 0 if none.
func itemAt(list []any, el fieldpath.PathElement) int {
	switch {
	case el.Key != nil:
		return slices.IndexFunc(list, func(item any) bool { return hasKey(item, *el.Key) })
	case el.Value != nil:
		return slices.IndexFunc(list, func(item any) bool { return value.Equals(value.NewValueInterface(item), *el.Value) })
	case el.Index != nil && *el.Index >= 0 && *el.Index < len(list):
		return *el.Index
	}
	return -1
}

// hasKey reports whether a list item is the one that a key names. A key field that the item leaves to its default does
// not count against it; a missing protocol is TCP.
func hasKey(item any, key value.FieldList) bool {
	m, ok := item.(map[string]any)
	if !ok {
		return false
	}
	hit := false
	for _, f := range key {
		v, there := m[f.Name]
		if !there && f.Name == "protocol" {
			v = "TCP"
		}
		if v != nil && !value.Equals(value.NewValueInterface(v), f.Value) {
			return false
		}
		hit = hit || there
	}
	return hit
}

// Has reports whether there is a field at a path of a body.
func Has(body map[string]any, p fieldpath.Path) bool {
	_, ok := lookup(body, p)
	return ok
}

// lookup is the value at a field path.
func lookup(node any, p fieldpath.Path) (any, bool) {
	for _, el := range p {
		if el.FieldName != nil {
			m, _ := node.(map[string]any)
			v, ok := m[*el.FieldName]
			if !ok {
				return nil, false
			}
			node = v
			continue
		}
		list, _ := node.([]any)
		i := itemAt(list, el)
		if i < 0 {
			return nil, false
		}
		node = list[i]
	}
	return node, true
}

// drop takes the field at a path out of a node, which it may change. Items of keyed lists and their keys stay: they say
// that we declare something there. gone tells that nothing is left of the node.
func drop(node any, p fieldpath.Path) (left any, gone bool) {
	el, rest := p[0], p[1:]
	if el.FieldName != nil {
		m, ok := node.(map[string]any)
		child, has := m[*el.FieldName]
		if !ok || !has {
			return node, false
		}
		empty := len(rest) == 0
		if !empty {
			child, empty = drop(child, rest)
		}
		if m[*el.FieldName] = child; empty {
			delete(m, *el.FieldName)
		}
		return m, len(m) == 0
	}
	list, _ := node.([]any)
	i := itemAt(list, el)
	switch {
	case i < 0, el.Value == nil && len(rest) == 0, len(rest) == 1 && isKey(el, rest[0]):
		return node, false
	case el.Value != nil:
		list = slices.Delete(list, i, i+1)
	default:
		list[i], _ = drop(list[i], rest)
	}
	return list, len(list) == 0
}

// isKey reports whether a field is one of those that name its list item.
func isKey(el, field fieldpath.PathElement) bool {
	return el.Key != nil && field.FieldName != nil &&
		slices.ContainsFunc(*el.Key, func(f value.Field) bool { return f.Name == *field.FieldName })
}

// dropStep is drop for a path of the documents: a whole item goes when the path ends with it.
func dropStep(node any, p v1alpha1.Path) (left any, gone bool) {
	step, rest := p[0], p[1:]
	if step.Key == "" {
		m, ok := node.(map[string]any)
		child, has := m[step.Name]
		if !ok || !has {
			return node, false
		}
		empty := len(rest) == 0
		if !empty {
			child, empty = dropStep(child, rest)
		}
		if m[step.Name] = child; empty {
			delete(m, step.Name)
		}
		return m, len(m) == 0
	}
	list, _ := node.([]any)
	i := slices.IndexFunc(list, func(item any) bool {
		m, ok := item.(map[string]any)
		v, has := m[step.Key]
		return ok && has && textOf(v) == step.Value
	})
	switch {
	case i < 0:
		return node, false
	case len(rest) == 0:
		list = slices.Delete(list, i, i+1)
	default:
		list[i], _ = dropStep(list[i], rest)
	}
	return list, len(list) == 0
}

// put sets the value at a field path in a node, which it may change, making what is missing on the way.
func put(node any, p fieldpath.Path, v any) any {
	if len(p) == 0 {
		return v
	}
	el, rest := p[0], p[1:]
	if el.FieldName != nil {
		m, ok := node.(map[string]any)
		if !ok {
			m = map[string]any{}
		}
		m[*el.FieldName] = put(m[*el.FieldName], rest, v)
		return m
	}
	list, _ := node.([]any)
	if i := itemAt(list, el); i >= 0 {
		list[i] = put(list[i], rest, v)
		return list
	}
	var item any
	if el.Key != nil {
		m := map[string]any{}
		for _, f := range *el.Key {
			m[f.Name] = f.Value.Unstructured()
		}
		item = m
	}
	return append(list, put(item, rest, v))
}

// identified gives an object what names it and marks it as ours, whatever was taken out.
func identified(out, body map[string]any) map[string]any {
	out["apiVersion"], out["kind"] = body["apiVersion"], body["kind"]
	from, _ := body["metadata"].(map[string]any)
	meta, ok := out["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		out["metadata"] = meta
	}
	for _, k := range []string{"name", "namespace"} {
		if v, ok := from[k]; ok {
			meta[k] = v
		}
	}
	marks, _ := from["labels"].(map[string]any)
	for k, v := range marks {
		if strings.HasPrefix(k, "hawser.dev/") {
			labels, ok := meta["labels"].(map[string]any)
			if !ok {
				labels = map[string]any{}
				meta["labels"] = labels
			}
			labels[k] = v
		}
	}
	return out
}
