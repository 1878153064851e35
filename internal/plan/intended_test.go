package plan

import (
	"testing"

	"hawser.dev/hawser/internal/object"
)

func TestIntended(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name} }
	p := &Plan{Changes: []Change{{Ref: ref("new"), Action: Create}, {Ref: ref("changed"), Action: Update}, {Ref: ref("again"), Action: Recreate}, {Ref: ref("gone"), Action: Delete}},
		Kept: []InventoryEntry{{Ref: ref("kept"), UID: "5"}}}
	recorded := []InventoryEntry{{Ref: ref("gone"), UID: "1"}, {Ref: ref("changed"), UID: "2"}, {Ref: ref("again"), UID: "3"}, {Ref: ref("kept"), UID: "4"}}
	got := Intended(p, recorded, []Desired{{Ref: ref("new")}, {Ref: ref("changed")}, {Ref: ref("again")}, {Ref: ref("kept")}}, nil)
	uids := map[string]string{"again": "", "changed": "2", "gone": "1", "kept": "5", "new": ""}
	if len(got) != len(uids) {
		t.Fatalf("%+v", got)
	}
	for i, o := range got {
		if want, ok := uids[o.Ref.Name]; !ok || o.UID != want || i > 0 && got[i-1].Ref.Compare(o.Ref) >= 0 {
			t.Errorf("%d: %+v, want the uid %q", i, o, want)
		}
	}
}
