package object

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// BeforeFirst is the manager that the API server makes the owner of everything an object had when its managed fields
// were missing.
const BeforeFirst = "before-first-apply"

// Left are the fields that we declared before and declare no longer, and that stay because the API server took them for
// somebody else's when the managed fields were missing: as FieldsV1, "" for none.
func Left(entries []metav1.ManagedFieldsEntry, base, declared map[string]any) string {
	if base == nil {
		return ""
	}
	left := &fieldpath.Set{}
	union(entries, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == BeforeFirst }).Iterate(func(p fieldpath.Path) {
		_, was := lookup(base, p)
		if _, is := lookup(declared, p); was && !is {
			left.Insert(p.Copy())
		}
	})
	if left.Empty() {
		return ""
	}
	raw, err := left.ToJSON()
	if err != nil {
		return ""
	}
	return string(raw)
}

// Reclaim moves fields (see Left) from where the API server put them into our Apply entry, so that they go with our next
// apply. changed is false when they are not there. entries is not changed.
func Reclaim(entries []metav1.ManagedFieldsEntry, manager, fields string) (out []metav1.ManagedFieldsEntry, changed bool, err error) {
	left := &fieldpath.Set{}
	if err := left.FromJSON(strings.NewReader(fields)); err != nil {
		return nil, false, err
	}
	moved := &fieldpath.Set{}
	for _, e := range entries {
		if e.Manager == BeforeFirst && e.Subresource == "" {
			set, err := fieldSet(e)
			if err != nil {
				return nil, false, err
			}
			moved = moved.Union(set.Intersection(left))
			if set = set.Difference(left); set.Empty() {
				continue
			}
			if e.FieldsV1, err = fieldsOf(set); err != nil {
				return nil, false, err
			}
		}
		out = append(out, e)
	}
	for i, e := range out {
		if e.Manager != manager || e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" || moved.Empty() {
			continue
		}
		set, err := fieldSet(e)
		if err != nil {
			return nil, false, err
		}
		if out[i].FieldsV1, err = fieldsOf(set.Union(moved)); err != nil {
			return nil, false, err
		}
		return out, true, nil
	}
	return entries, false, nil
}

// WithoutFields is a copy of an object without some fields (FieldsV1).
func WithoutFields(body map[string]any, fields string) map[string]any {
	set := &fieldpath.Set{}
	if fields == "" || set.FromJSON(strings.NewReader(fields)) != nil {
		return body
	}
	out := any(runtime.DeepCopyJSON(body))
	set.Leaves().Iterate(func(p fieldpath.Path) { out = cut(out, p) })
	rest, _ := out.(map[string]any)
	return rest
}
