package rights

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// CodeDelete is that of the warning that something of a bundle could not be deleted: it is no error of an apply.
const CodeDelete = "delete-rights"

// Lasting are the Namespaces and definitions that are declared and would go with the bundle: what is in them is looked at before that.
func Lasting(desired []plan.Desired) []object.Ref {
	var out []object.Ref
	for _, d := range desired {
		if (d.Ref.IsNamespace() || d.Ref.IsCRD()) && !d.Keep && !d.OwnNamespace && d.Hook == nil {
			out = append(out, d.Ref)
		}
	}
	return out
}

// Listed is the right with which the objects of a definition's kind are looked at.
func Listed(definition object.Ref) Right {
	plural, group, _ := strings.Cut(definition.Name, ".")
	return Right{Verb: "list", Group: group, Resource: plural, Kind: plural}
}

// Undeletable warns of each of some Namespaces and definitions in which somebody may not look at everything. inside are the kinds that
// a Namespace is asked for; where the rules of one are not all known, nothing is said of it.
func (a Asker) Undeletable(ctx context.Context, holders []object.Ref, inside []Right) diag.Findings {
	var out diag.Findings
	rules := map[string]Known{}
	for _, r := range holders {
		needed, ns := []Right{Listed(r)}, ""
		if r.IsNamespace() {
			needed, ns = slices.Clone(inside), r.Name
		}
		if _, asked := rules[ns]; !asked {
			rules[ns] = a.Known(ctx, ns)
		}
		if known := rules[ns]; known.Whole || ns == "" && len(known.Rules) > 0 {
			for i := range needed {
				needed[i].Namespace = ns
			}
			if missing := a.missing(ctx, known, needed); len(missing) > 0 {
				out = append(out, undeletable(r, missing))
			}
		}
	}
	return out
}

func undeletable(r object.Ref, missing []Right) diag.Finding {
	var kinds []string
	for _, m := range missing {
		name := m.Resource
		if m.Group != "" {
			name += "." + m.Group
		}
		kinds = append(kinds, name)
	}
	slices.Sort(kinds)
	f := diag.Warnf(CodeDelete, "you could not delete %s: what would be lost with it is looked at before, and you may not list all of that", r)
	f.Object, f.Why = r.String(), "list on "+diag.Few(kinds)+" in the cluster"
	f.Fix = "who is to delete it needs that; " + Roles
	if r.IsNamespace() {
		f.Why = fmt.Sprintf("list on %s in namespace %s", diag.Few(kinds), r.Name)
		f.Fix = "who is to delete it needs the right to list everything in it, Secrets too: hawser fleet check -f BUNDLE --print-rbac has a role for that, commented out; " +
			"or let it stay: hawser.dev/prune: disabled"
	}
	return f
}
