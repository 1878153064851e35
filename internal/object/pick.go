package object

import "slices"

// Pick are the objects of some identities, in their order: from bodies, else of the others, else left out.
func Pick(refs []Ref, bodies map[Ref]Object, others []Object) []Object {
	var out []Object
	for _, r := range refs {
		if o, ok := bodies[r]; ok {
			out = append(out, o)
		} else if i := slices.IndexFunc(others, func(o Object) bool { return o.Ref() == r }); i >= 0 {
			out = append(out, others[i])
		}
	}
	return out
}
