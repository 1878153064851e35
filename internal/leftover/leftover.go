// Package leftover tells which fields stay in an object though the bundle declares them no longer, since somebody has changed
// them or applies them too: the API server removes what an apply leaves out only where nobody else has it.
//
// The package must not know clusters or requests; it is given what a dry run answered.
package leftover

import (
	"bytes"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Code is that of the finding.
const Code = "field-stays"

// Fields are those, as FieldsV1; "" for none. after is the object as a dry run answered, base what was declared before (nil: not
// known), manager ours. What is left to others on purpose (leave), handed over or scaled is not among them, nor what the API
// server took for somebody's when the managed fields were missing, which object.Left finds.
func Fields(after, base, declared map[string]any, manager string, leave *object.Ignore) string {
	if base == nil {
		return ""
	}
	entries, stay := (&unstructured.Unstructured{Object: after}).GetManagedFields(), &fieldpath.Set{}
	for _, e := range entries {
		if e.Manager == manager || e.Manager == object.BeforeFirst || e.Manager == object.HandoverManager || e.Subresource != "" || e.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())) != nil {
			continue
		}
		stay = stay.Union(dropped(set, base, declared))
	}
	return text(leave.Spare(stay, entries, manager))
}

// dropped is the part of a set that base has and declared has not: of list items all that others have in one.
func dropped(set *fieldpath.Set, base, declared map[string]any) *fieldpath.Set {
	gone := func(p fieldpath.Path) bool { return object.Has(base, p) && !object.Has(declared, p) }
	out := &fieldpath.Set{}
	set.Iterate(func(p fieldpath.Path) {
		for n := len(p); n > 0; n-- {
			if (n == len(p) || p[n-1].Key != nil) && gone(p[:n]) {
				out.Insert(p.Copy())
				return
			}
		}
	})
	return out
}

func text(set *fieldpath.Set) string {
	if set.Empty() {
		return ""
	}
	raw, err := set.ToJSON()
	if err != nil {
		return ""
	}
	return string(raw)
}

// Told are the fields (FieldsV1) as a plan shows them, with what the object holds there and who has them, and the warning; nil
// where the object holds none of them.
func Told(o object.Object, after map[string]any, fields string, redact func(string) string, by object.Setters) ([]plan.FieldChange, *diag.Finding) {
	if fields == "" {
		return nil, nil
	}
	out := plan.FieldChanges(o, after, object.WithoutFields(after, fields), redact, by)
	var paths, who []string
	for i, f := range out {
		out[i].Stays, out[i].New = true, f.Old
		paths, who = append(paths, f.Path), append(who, f.Manager)
	}
	if len(out) == 0 {
		return nil, nil
	}
	slices.Sort(who)
	f := diag.Warnf(Code, "%s: declared no longer, and not removed", strings.Join(paths, ", "))
	f.Because(strings.Join(slices.Compact(who), ", ") + " changed it since, or applies it too: from now on it is not this bundle's")
	f.Fix = "where nobody needs it, remove it by hand (kubectl edit); a password that was withdrawn works until then"
	return out, &f
}
