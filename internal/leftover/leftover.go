// Package leftover tells which fields stay in an object though the bundle declares them no longer, since somebody has changed
// them or applies them too: the API server removes what an apply leaves out only where nobody else has it.
//
// The package must not know clusters or requests; it is given what a dry run answered.
package leftover

import (
	"bytes"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/plan"
)

// Code is that of the finding.
const Code = "field-stays"

// Fields are those, as FieldsV1; "" for none. after is the object as a dry run answered, base what was declared before (nil: not known), manager ours.
// What stayed before (change) is among them as long as others have it. What is left to others on purpose, handed over or scaled is not,
// nor what the API server took for somebody's when the managed fields were missing, which object.Left finds.
func Fields(after, base, declared map[string]any, manager string, change plan.Change) string {
	entries, stay := (&unstructured.Unstructured{Object: after}).GetManagedFields(), &fieldpath.Set{}
	for _, e := range entries {
		if base == nil || e.Manager == manager || e.Manager == object.BeforeFirst || e.Manager == object.HandoverManager || e.Subresource != "" || e.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if set.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())) != nil {
			continue
		}
		stay = stay.Union(dropped(set, base, declared))
	}
	stay = stay.Union(parsed(change.Stays))
	fields, _ := kept(stay, entries, manager, change.Ignore)
	return fields
}

// Seen is what was observed of an object, with what others still have of fields that stayed in it when they were declared no longer.
// manager is ours; what is ours again, or handed over, or left to others on purpose (leave), is none of it.
func Seen(l plan.Live, stays string, entries []metav1.ManagedFieldsEntry, manager string, leave *object.Ignore) plan.Live {
	if stays != "" {
		l.Stays, l.StaysBy = kept(parsed(stays), entries, manager, leave)
	}
	return l
}

func kept(was *fieldpath.Set, entries []metav1.ManagedFieldsEntry, manager string, leave *object.Ignore) (fields, by string) {
	theirs, ours := &fieldpath.Set{}, &fieldpath.Set{}
	var who []string
	for _, e := range entries {
		if was.Empty() || e.FieldsV1 == nil || e.Manager == object.BeforeFirst || e.Subresource != "" {
			continue
		}
		set := parsed(string(e.FieldsV1.GetRawBytes()))
		if e.Manager == manager || e.Manager == object.HandoverManager {
			ours = ours.Union(set)
		} else if set = set.Intersection(was); !set.Empty() {
			theirs, who = theirs.Union(set), append(who, e.Manager)
		}
	}
	slices.Sort(who)
	if theirs = leave.Spare(theirs.Difference(ours), entries, manager); theirs.Empty() {
		return "", ""
	}
	return text(theirs), strings.Join(slices.Compact(who), ", ")
}

// parsed is the set of fields of a FieldsV1, empty for what is none.
func parsed(fields string) *fieldpath.Set {
	set := &fieldpath.Set{}
	if fields == "" || set.FromJSON(strings.NewReader(fields)) != nil {
		return &fieldpath.Set{}
	}
	return set
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
	raw, err := set.ToJSON()
	if err != nil {
		return ""
	}
	return string(raw)
}

// Told are the fields as a plan shows them, with what the object holds there and who has them, and the warning; nil where the object holds
// none of them.
func Told(o object.Object, after map[string]any, stays string, redact func(string) string, by object.Setters) ([]plan.FieldChange, *diag.Finding) {
	if stays == "" {
		return nil, nil
	}
	out := plan.FieldChanges(o, after, object.WithoutFields(after, stays), redact, by)
	var paths, who []string
	for i, f := range out {
		out[i].Stays, out[i].New, out[i].Removed = true, f.Old, false
		paths, who = append(paths, f.Path), append(who, f.Manager)
	}
	if len(out) == 0 {
		return nil, nil
	}
	slices.Sort(who)
	f := warning(paths, strings.Join(slices.Compact(who), ", "))
	return out, &f
}

// Shared reports whether, of the fields in which a declaration differs from the last one, one is declared anew that somebody has already with the same
// value: fields come with who has them.
func Shared(fields []plan.FieldChange) bool {
	return slices.ContainsFunc(fields, func(f plan.FieldChange) bool { return f.Manager != "" && f.Old == "" && (f.Added || !f.Hidden) })
}

// Still warns of fields that stay in objects which a plan leaves as they are, or changes without having asked: live is what was observed.
func Still(p *plan.Plan, live map[object.Ref]plan.Live, redact func(string) string) diag.Findings {
	left := slices.Clone(p.Kept)
	for _, ch := range p.Changes {
		if !ch.Checked && ch.Stays != "" {
			left = append(left, plan.InventoryEntry{Ref: ch.Ref, Instance: ch.Instance})
		}
	}
	return StillIn(left, live, redact)
}

// StillIn is Still of the objects of an inventory.
func StillIn(inventory []plan.InventoryEntry, live map[object.Ref]plan.Live, redact func(string) string) diag.Findings {
	var out diag.Findings
	for _, o := range inventory {
		var paths []string
		parsed(live[o.Ref].Stays).Leaves().Iterate(func(p fieldpath.Path) {
			paths = append(paths, pathmask.Mask(object.TextOf(p), redact, object.AsNamed))
		})
		if len(paths) == 0 {
			continue
		}
		slices.Sort(paths)
		f := warning(paths, live[o.Ref].StaysBy)
		f.Object, f.Instance = o.Ref.String(), o.Instance
		out = append(out, f)
	}
	return out
}

func warning(paths []string, who string) diag.Finding {
	f := diag.Warnf(Code, "%s: declared no longer, and not removed", strings.Join(paths, ", "))
	f.Because(who + " changed it since, or applies it too: from now on it is not this bundle's")
	f.Fix = "where nobody needs it, remove it by hand (kubectl edit); a password that was withdrawn works until then"
	return f
}
