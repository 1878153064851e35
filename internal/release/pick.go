package release

import (
	"slices"

	"hawser.dev/hawser/internal/object"
)

// Pick are the objects of some identities, in their order: from bodies, else of the others, else left out.
func Pick(refs []object.Ref, bodies map[object.Ref]object.Object, others []object.Object) []object.Object {
	var out []object.Object
	for _, r := range refs {
		if o, ok := bodies[r]; ok {
			out = append(out, o)
		} else if i := slices.IndexFunc(others, func(o object.Object) bool { return o.Ref() == r }); i >= 0 {
			out = append(out, others[i])
		}
	}
	return out
}
