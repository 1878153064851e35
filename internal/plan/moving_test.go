package plan

import (
	"testing"

	"hawser.dev/hawser/internal/object"
)

// Moving are declared objects that are new or declared otherwise.
func TestMoving(t *testing.T) {
	a, b, c := object.Ref{Kind: "ConfigMap", Name: "a"}, object.Ref{Kind: "ConfigMap", Name: "b"}, object.Ref{Kind: "ConfigMap", Name: "c"}
	in := Input{Desired: []Desired{{Ref: a, Digest: "1"}, {Ref: b, Digest: "2"}, {Ref: c}}, Inventory: []InventoryEntry{{Ref: a, Digest: "1"}, {Ref: b, Digest: "1"}}}
	if got := in.Moving(); len(got) != 2 || !got[b] || !got[c] {
		t.Errorf("%v", got)
	}
}
