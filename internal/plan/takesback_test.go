package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/object"
)

// TestConflictsInAnyOrder: the order in which an API server names conflicts decides nothing that a plan says, and all that is taken back is named.
func TestConflictsInAnyOrder(t *testing.T) {
	ref := object.Ref{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "d"}
	compute := func(conflicts ...FieldConflict) *Plan {
		in := Input{Cluster: "c", Owner: "o", Desired: []Desired{{Ref: ref, Version: "v1", Instance: "web", Digest: "new"}},
			Inventory: []InventoryEntry{{Ref: ref, Version: "v1", UID: "u", ResourceVersion: "1", Digest: "old", ApplyHash: "e"}},
			Live:      map[object.Ref]Live{ref: {Found: true, UID: "u", ResourceVersion: "1", ApplyHash: "e", OwnerLabel: "o", Shared: true, Autoscaler: "hpa"}},
			Previews:  map[object.Ref]Preview{ref: {Checked: true, Conflicts: conflicts}}}
		return Compute(in)
	}
	env := FieldConflict{Path: "spec.env[PW].value", Manager: "kubectl-patch", Ours: true}
	note := FieldConflict{Path: "metadata.annotations.dsn", Manager: "kubectl-annotate", Ours: true}
	size := FieldConflict{Path: "spec.replicas", Manager: "hpa", Subresource: "scale"}
	size2 := FieldConflict{Path: "spec.other", Manager: "hpa", Subresource: "scale"}
	theirs, others := FieldConflict{Path: "spec.paused", Manager: "b"}, FieldConflict{Path: "spec.paused", Manager: "a"}
	for _, conflicts := range [][]FieldConflict{{env, note}, {size, env, size2, note}, {theirs, env, others}} {
		want := compute(conflicts...)
		for i := range conflicts {
			turned := slices.Concat(conflicts[i:], conflicts[:i])
			slices.Reverse(turned)
			given := slices.Clone(turned)
			if d := cmp.Diff(want, compute(turned...)); d != "" || !slices.Equal(given, turned) {
				t.Error(d)
			}
		}
	}
	if why := compute(env, note).Changes[0].Why; why != "also takes back metadata.annotations.dsn from kubectl-annotate, spec.env[PW].value from kubectl-patch" {
		t.Error(why)
	}
}
