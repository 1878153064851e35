package plan

import (
	"testing"

	"hawser.dev/hawser/internal/object"
)

// TestRemnant: what the aggregating controller made again of a deleted ClusterRole is nobody's, and is taken for the
// declared one without --adopt; anything else of that look is not.
func TestRemnant(t *testing.T) {
	role := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "all"}
	other := object.Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding", Name: "all"}
	remnant := Live{Found: true, UID: "u2", ResourceVersion: "7", Remnant: true, Foreign: "clusterrole-aggregation-controller"}
	person := remnant
	person.Remnant = false
	for reason, c := range map[string]struct {
		ref   object.Ref
		live  Live
		owned []InventoryEntry
		once  bool
		want  Code
	}{
		"after a delete":            {role, remnant, nil, false, CodeAgain},
		"one-off":                   {role, remnant, nil, true, CodeAgain},
		"somebody deleted the role": {role, remnant, []InventoryEntry{{Ref: role, UID: "u1", Instance: "app", Digest: "d", ApplyHash: "o"}}, false, CodeAgain},
		"somebody's":                {role, person, nil, false, CodeForeign},
		"another kind":              {other, remnant, nil, false, CodeForeign},
	} {
		p := Compute(Input{Owner: "me", Desired: []Desired{{Ref: c.ref, Instance: "app", Digest: "d", Once: c.once}}, Inventory: c.owned, Live: map[object.Ref]Live{c.ref: c.live}})
		if len(p.Changes) != 1 || p.Changes[0].Code != c.want || (p.Changes[0].Action == Update) != (c.want == CodeAgain) || p.Changes[0].Force {
			t.Errorf("%s: %+v", reason, p.Changes)
		}
	}
}
