package object

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Takeover is an object on its way from a former owner to us.
type Takeover struct {
	// former is what the former owner's managers own, third what third parties do, all what anybody does.
	former, third, all *fieldpath.Set
}

// NewTakeover reads who owns what. from are the former owner's field managers, manager is ours.
func NewTakeover(entries []metav1.ManagedFieldsEntry, from []string, manager string) Takeover {
	isFormer := func(e metav1.ManagedFieldsEntry) bool {
		return e.Subresource == "" && (slices.Contains(from, e.Manager) || e.Manager == "before-first-apply" || e.Manager == manager)
	}
	return Takeover{
		former: ownable(union(entries, isFormer)),
		third:  everywhere(entries, func(e metav1.ManagedFieldsEntry) bool { return !isFormer(e) && e.Manager != HandoverManager }),
		all:    union(entries, func(metav1.ManagedFieldsEntry) bool { return true }),
	}
}

// everywhere is union with what was written through any subresource: controllers write metadata together with the status.
func everywhere(entries []metav1.ManagedFieldsEntry, take func(metav1.ManagedFieldsEntry) bool) *fieldpath.Set {
	out := &fieldpath.Set{}
	for _, e := range entries {
		if set, err := fieldSet(e); err == nil && take(e) {
			out = out.Union(set)
		}
	}
	return out
}

// Rest is a copy of an object without what only the former owner had and declared does not have: what is left when it is
// taken over.
func (t Takeover) Rest(body, declared map[string]any) map[string]any {
	out := any(runtime.DeepCopyJSON(body))
	var paths []fieldpath.Path
	t.former.Iterate(func(p fieldpath.Path) { paths = append(paths, p.Copy()) })
	slices.SortFunc(paths, func(a, b fieldpath.Path) int { return len(a) - len(b) }) // wholes before their parts
	for _, p := range paths {
		if _, ok := lookup(declared, p); !ok && !touches(t.third, p) {
			out = cut(out, p)
		}
	}
	rest, _ := out.(map[string]any)
	return rest
}

// Foreign tells who of the third parties owns a field that differs, "" when none does. A person's tool is no third
// party: what is declared goes over what somebody typed.
func (t Takeover) Foreign(by Setters, d FieldDiff, from []string) string {
	for _, e := range by.entries {
		if !slices.Contains(from, e.manager) && e.manager != "before-first-apply" && !ByHand(e.manager) && owns(e.fields, d.trail) {
			return e.manager
		}
	}
	return ""
}

// Patch is the merge patch that makes of a live object, in one write, what is left of it when the former owner's fields
// are gone and the declared ones are there. Lists are merged as the managed fields show that the API server merges them.
func (t Takeover) Patch(live, declared map[string]any) map[string]any {
	return mergePatch(live, t.Over(live, declared))
}

// Over is what that patch makes of a live object.
func (t Takeover) Over(live, declared map[string]any) map[string]any {
	want, _ := overlay(t.Rest(live, declared), declared, t.all).(map[string]any)
	return want
}

// touches reports whether a set has a path, something above it that is owned as a whole, or something below it.
func touches(set *fieldpath.Set, p fieldpath.Path) bool {
	for _, el := range p {
		below, ok := set.Children.Get(el)
		if !ok || below.Empty() {
			return set.Members.Has(el)
		}
		set = below
	}
	return true
}

// cut takes what stands at a path out of a node, which it may change: a field, or an item of a list.
func cut(node any, p fieldpath.Path) any {
	el, rest := p[0], p[1:]
	if el.FieldName != nil {
		m, ok := node.(map[string]any)
		child, has := m[*el.FieldName]
		switch {
		case !ok || !has:
		case len(rest) == 0:
			delete(m, *el.FieldName)
		default:
			m[*el.FieldName] = cut(child, rest)
		}
		return node
	}
	list, _ := node.([]any)
	i := itemAt(list, el)
	switch {
	case i < 0:
		return node
	case len(rest) == 0:
		return slices.Delete(list, i, i+1)
	}
	list[i] = cut(list[i], rest)
	return list
}

// overlay puts a declaration over what is there: maps and lists with keys are merged, the rest is replaced.
func overlay(there, declared any, owned *fieldpath.Set) any {
	if owned == nil {
		owned = &fieldpath.Set{}
	}
	switch d := declared.(type) {
	case map[string]any:
		m, ok := there.(map[string]any)
		if !ok {
			return d
		}
		out := maps.Clone(m)
		for k, v := range d {
			el := fieldpath.FieldNameElement(k)
			below, nested := owned.Children.Get(el)
			if old, has := m[k]; has && (nested || !owned.Members.Has(el)) {
				v = overlay(old, v, below)
			}
			out[k] = v
		}
		return out
	case []any:
		l, ok := there.([]any)
		if !ok {
			return d
		}
		return overlayList(l, d, owned)
	}
	return declared
}

func overlayList(there, declared []any, owned *fieldpath.Set) any {
	key, isSet := []string(nil), false
	learn := func(el fieldpath.PathElement) {
		isSet = isSet || el.Value != nil
		if el.Key != nil && key == nil {
			for _, f := range *el.Key {
				key = append(key, f.Name)
			}
		}
	}
	owned.Members.Iterate(learn)
	owned.Children.Iterate(learn)
	if key == nil && !isSet {
		return declared
	}
	out := slices.Clone(there)
	for _, item := range declared {
		el := fieldpath.ValueElement(value.NewValueInterface(item))
		if key != nil {
			el = keyOfItem(item, key)
		}
		switch i := itemAt(out, el); {
		case i < 0:
			out = append(out, item)
		case key != nil:
			below, _ := owned.Children.Get(el)
			out[i] = overlay(out[i], item, below)
		}
	}
	return out
}

// keyOfItem is the path element of a list item with key fields; those it does not have are left out.
func keyOfItem(item any, key []string) fieldpath.PathElement {
	m, _ := item.(map[string]any)
	var fields value.FieldList
	for _, name := range key {
		v, ok := m[name]
		if !ok && name == "protocol" {
			v, ok = "TCP", true
		}
		if ok {
			fields = append(fields, value.Field{Name: name, Value: value.NewValueInterface(v)})
		}
	}
	return fieldpath.KeyElement(fields...)
}

// mergePatch is the JSON merge patch (RFC 7396) from one object to another.
func mergePatch(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range to {
		old, has := from[k]
		oldMap, okOld := old.(map[string]any)
		newMap, okNew := v.(map[string]any)
		switch {
		case has && equalJSON(old, v):
		case okOld && okNew:
			out[k] = mergePatch(oldMap, newMap)
		default:
			out[k] = v
		}
	}
	for k := range from {
		if _, ok := to[k]; !ok {
			out[k] = nil
		}
	}
	return out
}
