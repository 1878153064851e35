package leftover

import (
	"cmp"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/plan"
)

// Answer are the differences that tell what becomes of fields which are declared no longer: Told are those that a plan shows, Declared those of the
// declaration to the last one, Real those of what the API server would have to the last declaration. Handed is the path of a field that somebody
// else of us keeps, "" for none.
type Answer struct {
	Told, Declared, Real []plan.FieldChange
	Handed               string
}

// Fields are those that are told, where what is declared no longer goes only if the server has it no more: what it keeps, or fills in with the same value, stays, and what it
// fills in with another one changes. What stays is told, though nothing of the live object changes.
func (a Answer) Fields() []plan.FieldChange {
	out := slices.Clone(a.Told)
	for _, f := range a.Declared {
		if !f.Gone() {
			continue
		}
		has, gone := a.has(f)
		i := slices.IndexFunc(out, func(told plan.FieldChange) bool { return told.Path == f.Path })
		switch {
		case f.Path == a.Handed && i >= 0:
			out[i] = stays(out[i], out[i].Old)
		case f.Path == a.Handed:
			out = append(out, stays(f, f.Old))
		case gone:
		case i >= 0 && !out[i].Gone(): // what the live object becomes is told already
		case i >= 0 && len(has) > 0:
			out = slices.Replace(out, i, i+1, has...)
		case i >= 0:
			out[i] = stays(out[i], f.Old)
		case !slices.ContainsFunc(out, func(told plan.FieldChange) bool { return within(f.Path, told.Path) || within(told.Path, f.Path) }):
			old := f.Old
			if len(has) == 1 && has[0].Path == f.Path {
				old = has[0].New
			}
			out = append(out, stays(f, old))
		}
	}
	slices.SortStableFunc(out, func(a, b plan.FieldChange) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// has are the differences at a field's place and below it, and whether the field, or what it stands in, is gone.
func (a Answer) has(f plan.FieldChange) (has []plan.FieldChange, gone bool) {
	for _, r := range a.Real {
		switch {
		case within(f.Path, r.Path) || r.Path == f.Path && r.Gone():
			return nil, true
		case (r.Path == f.Path || within(r.Path, f.Path)) && (r.Old != "" || r.Hidden && !r.Added):
			has = append(has, r)
		}
	}
	return has, false
}

// within reports whether a path is below another one.
func within(path, above string) bool {
	rest, below := strings.CutPrefix(path, above)
	return below && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "["))
}

func stays(f plan.FieldChange, value string) plan.FieldChange {
	f.Stays, f.Removed, f.Old, f.New, f.Manager, f.Since = true, false, value, value, "", ""
	return f
}
