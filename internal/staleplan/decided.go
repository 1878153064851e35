package staleplan

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Decided names what values decide about beyond what a plan shows as not known, sorted: what Allows would refuse if others came for them. shown are the
// objects with what stands in for the values (was, by their paths), other the same rendered with others (is). Of an object that would be otherwise it is
// the fields, of one that would be there, or would not, the object.
func Decided(shown, other []object.Object, was, is map[string]any) []string {
	bodies := map[object.Ref]object.Object{}
	for _, o := range other {
		bodies[o.Ref()] = o
	}
	var out []string
	for _, o := range shown {
		ref := o.Ref()
		now, ok := bodies[ref]
		delete(bodies, ref)
		if !ok {
			out = append(out, ref.String())
			continue
		}
		late := &plan.Late{Object: o, Values: was, Open: slices.Collect(maps.Keys(was))}
		if fields := beyond(late, &plan.Late{Object: now, Values: is}); len(fields) > 0 {
			out = append(out, diag.Few(fields)+" of "+ref.String())
		}
	}
	for ref := range bodies {
		out = append(out, ref.String())
	}
	slices.Sort(out)
	return out
}
