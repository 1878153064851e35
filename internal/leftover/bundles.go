package leftover

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// CodeBundle is that of the warning about a bundle that was removed from the files.
const CodeBundle = "removed-bundle"

// Bundles warns of bundles that were removed from these files, and of which a plan takes something over: what becomes of their
// records, and of what nobody declares. beside may be nil, for none.
func Bundles(p *plan.Plan, beside *plan.Beside) diag.Findings {
	if beside == nil {
		return nil
	}
	here, from := map[object.Ref]bool{}, map[string]bool{}
	for _, ch := range p.Changes {
		here[ch.Ref] = ch.Action != plan.Delete && ch.Action != plan.Release && ch.Action != plan.Conflict
		if here[ch.Ref] && ch.Code == plan.CodeMoved && len(ch.FromManagers) > 0 {
			from[object.OwnerOf(ch.FromManagers[0])] = true
		}
	}
	var out diag.Findings
	for _, owner := range slices.Sorted(maps.Keys(beside.Former)) {
		former := beside.Former[owner]
		if !former.Removed || !from[owner] {
			continue
		}
		var left []string
		for _, o := range former.Inventory {
			if o.Hook == nil && !o.OwnNamespace && !here[o.Ref] {
				left = append(left, o.Ref.String())
			}
		}
		f := diag.Warnf(CodeBundle, "bundle %s was removed from these files: nothing of it is left when this is done", former.Bundle)
		f.Fix = "hawser delete " + former.Bundle + " removes its record then, and deletes nothing"
		if len(left) > 0 {
			f.What = "bundle " + former.Bundle + " was removed from these files, and not all that it has is declared here"
			f.Why, f.Fix = "left to it: "+diag.Few(left), "hawser delete "+former.Bundle+" deletes what is left and removes its record"
		}
		out = append(out, f)
	}
	return out
}
