package rights

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// maxUnconfirmed is how many rights or rules are named before the rest is a number.
const maxUnconfirmed = 5

// Unconfirmed lets a plan that is only looked at do without the dry runs that may not be asked for: their findings go, and
// one warning for all of them comes. It changes previews.
func Unconfirmed(previews map[object.Ref]plan.Preview) diag.Findings {
	lacks := map[string]bool{}
	n := 0
	for ref, p := range previews {
		if p.Lacks {
			lacks[p.Finding.What] = true
			p.Finding = nil
			previews[ref] = p
			n++
		}
	}
	if n == 0 {
		return nil
	}
	f := diag.Warnf("unconfirmed", "changes are not confirmed by a dry run: they are what the declarations and the live objects tell")
	list := slices.Sorted(maps.Keys(lacks))
	f.Why = strings.Join(list[:min(len(list), maxUnconfirmed)], "; ")
	if more := len(list) - maxUnconfirmed; more > 0 {
		f.Why += fmt.Sprintf("; and %d more", more)
	}
	f.Fix = "with the right to patch them a plan asks the API servers; apply does, or compares again under its lock"
	return diag.Findings{f}
}

// Lacking tells the dry runs that are forbidden for want of a right from those that admission refuses: without says which of
// some rights we do not have. It changes previews.
func Lacking(cluster string, changes []plan.Change, previews map[object.Ref]plan.Preview, resource func(object.Ref) string, without func([]Right) []Right) {
	asked := plan.Plan{Changes: slices.DeleteFunc(slices.Clone(changes), func(ch plan.Change) bool { return !previews[ch.Ref].Lacks })}
	if len(asked.Changes) == 0 {
		return
	}
	missing := map[object.Ref][]Right{}
	for _, r := range without(Of(&asked, resource)) {
		ref := object.Ref{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		missing[ref] = append(missing[ref], r)
	}
	for _, ch := range asked.Changes {
		p := previews[ch.Ref]
		if fs := Missing(cluster, missing[ch.Ref]); len(fs) > 0 {
			p.Finding.Code, p.Finding.What, p.Finding.Fix = fs[0].Code, fs[0].What, fs[0].Fix
		} else {
			p.Lacks, p.Fields = false, nil
		}
		previews[ch.Ref] = p
	}
}

// Told are the fields of a change that no dry run tells: live are those in which the declaration differs from the live object, as far as it is declared,
// changed those in which it differs from what the live object has of the last declaration. They come by path.
func Told(live, changed []plan.FieldChange) []plan.FieldChange {
	out := slices.Clone(live)
	for _, f := range plan.Unasked(slices.Clone(changed)) {
		if f.Undeclared && !slices.ContainsFunc(live, func(l plan.FieldChange) bool { return l.Path == f.Path }) {
			out = append(out, f)
		}
	}
	if len(out) > len(live) {
		slices.SortStableFunc(out, func(a, b plan.FieldChange) int { return cmp.Compare(a.Path, b.Path) })
	}
	return out
}
