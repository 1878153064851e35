package leftover

import (
	"bytes"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
)

// Together is what an apply of a declaration makes of a live object, as far as can be told without its schema: what the manager had
// and declares no longer is gone, and the declaration lies over what others and defaults have.
func Together(live, declared map[string]any, manager string) map[string]any {
	entries := slices.Clone((&unstructured.Unstructured{Object: live}).GetManagedFields())
	for i, e := range entries {
		if e.Manager == object.BeforeFirst {
			entries[i].Manager = "somebody" // an apply leaves it alone, taking over does not
		}
	}
	return object.NewTakeover(entries, nil, manager).Over(live, declared)
}

// AsNew is an object that can be tried as a new one beside the one that is there: under another name, without a status, and
// without what the API server and controllers keep in metadata.
func AsNew(body map[string]any) map[string]any {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(body)}
	meta := map[string]any{"generateName": "hawser-check-"}
	for _, kept := range []string{"namespace", "labels", "annotations"} {
		if v, ok, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", kept); ok {
			meta[kept] = v
		}
	}
	u.Object["metadata"] = meta
	delete(u.Object, "status")
	return u.Object
}

// Setters are the managers but ours that have one of the fields of a live object, each as an API server's refusal names it,
// "spec.ports[0].name": in any item of a list, because the item's number is that of an object that there is not. Where nobody has
// a field, those of what it is a field of.
func Setters(live map[string]any, manager string, fields []string) []string {
	var out []string
	for _, path := range fields {
		steps := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
		for n, before := len(steps), len(out); n > 1 && n >= len(steps)-1 && len(out) == before; n-- {
			for _, e := range (&unstructured.Unstructured{Object: live}).GetManagedFields() {
				if e.Manager != manager && e.Subresource == "" && hasSteps(fieldsOf(e), steps[:n]) {
					out = append(out, e.Manager)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Goes reports whether a field of an object goes when a manager applies it without that field: its applies are the only owner. A path to or through
// items of a list is never known to.
func Goes(entries []metav1.ManagedFieldsEntry, manager string, path v1alpha1.Path) bool {
	names := make([]any, len(path))
	for i, step := range path {
		if step.Index || step.Key != "" {
			return false
		}
		names[i] = step.Name
	}
	at, mine := fieldpath.MakePathOrDie(names...), false
	for _, e := range entries {
		if fieldsOf(e).Has(at) {
			if e.Manager != manager || e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" {
				return false
			}
			mine = true
		}
	}
	return mine
}

func fieldsOf(e metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := &fieldpath.Set{}
	if e.FieldsV1 == nil || set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())) != nil {
		return &fieldpath.Set{}
	}
	return set
}

// hasSteps reports whether a set of fields has a path, or something below it.
func hasSteps(set *fieldpath.Set, steps []string) bool {
	found := false
	look := func(el fieldpath.PathElement) {
		switch {
		case found, el.FieldName != nil && *el.FieldName != steps[0], el.FieldName == nil && strings.Trim(steps[0], "0123456789") != "":
		case len(steps) == 1:
			found = true
		default:
			if below, ok := set.Children.Get(el); ok {
				found = hasSteps(below, steps[1:])
			}
		}
	}
	set.Members.Iterate(look)
	set.Children.Iterate(look)
	return found
}
