package plan

import (
	"testing"

	"hawser.dev/hawser/internal/object"
)

// TestExpired: a Job that is done and gone is as declared while its declaration is, and nobody waited for it in vain.
func TestExpired(t *testing.T) {
	ref := object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "migrate"}
	type change func(*Desired, *InventoryEntry, *Input)
	for name, tt := range map[string]struct {
		change change
		action Action
		why    string
	}{
		"done":                        {func(*Desired, *InventoryEntry, *Input) {}, Unchanged, ""},
		"it does not go by itself":    {func(d *Desired, o *InventoryEntry, _ *Input) { d.Expires, o.Expires = false, false }, Create, "was deleted by somebody"},
		"its time to live is dropped": {func(d *Desired, _ *InventoryEntry, _ *Input) { d.Expires, d.Digest = false, "e" }, Create, "was done and removed, and is declared otherwise now"},
		"declared otherwise":          {func(d *Desired, _ *InventoryEntry, _ *Input) { d.Digest = "e" }, Create, "was done and removed, and is declared otherwise now"},
		"its end was not seen":        {func(_ *Desired, o *InventoryEntry, _ *Input) { o.Awaited = true }, Create, "is gone, and nobody saw it end well"},
		"intended and never written":  {func(_ *Desired, o *InventoryEntry, _ *Input) { o.UID = "" }, Create, ""},
		"after a delete that died":    {func(_ *Desired, _ *InventoryEntry, in *Input) { in.Undone = true }, Create, "was deleted by the run that ended while deleting"},
		"after an eject that died":    {func(_ *Desired, _ *InventoryEntry, in *Input) { in.Undone, in.Freeing = true, true }, Unchanged, ""},
		"no Job, after such an eject": {func(d *Desired, o *InventoryEntry, in *Input) {
			d.Expires, o.Expires, in.Undone, in.Freeing = false, false, true, true
		}, Create, "was deleted by somebody"},
		"gone with its namespace": {func(_ *Desired, _ *InventoryEntry, in *Input) { in.NamespaceExists = map[string]bool{"ns": false} }, Create, "was deleted by somebody"},
	} {
		d := Desired{Ref: ref, Version: "v1", Instance: "app", Digest: "d", Expires: true, Namespaced: true}
		o := InventoryEntry{Ref: ref, Version: "v1", Instance: "app", Digest: "d", Expires: true, UID: "u", ResourceVersion: "7", ApplyHash: "e"}
		in := Input{Owner: "me", NamespaceExists: map[string]bool{"ns": true}}
		tt.change(&d, &o, &in)
		in.Desired, in.Inventory = []Desired{d}, []InventoryEntry{o}
		in.Live = map[object.Ref]Live{ref: {}}
		p := Compute(in)
		if tt.action == Unchanged {
			if len(p.Changes) > 0 || p.Unchanged != 1 || len(p.Kept) != 1 || p.Kept[0] != o || p.Refresh {
				t.Errorf("%s: %+v", name, p)
			}
			continue
		}
		if len(p.Changes) != 1 || p.Changes[0].Action != tt.action || p.Changes[0].Why != tt.why {
			t.Errorf("%s: %+v", name, p.Changes)
		}
	}
}

// TestExpiredKept: a Job with a time to live that was not seen to end well stays so while it is there, and only then has to
// be there when the plan is carried out.
func TestExpiredKept(t *testing.T) {
	ref := object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "migrate"}
	there := map[object.Ref]Live{ref: {Found: true, UID: "u", ResourceVersion: "7", ApplyHash: "e", OwnerLabel: "me"}}
	for _, awaited := range []bool{false, true} {
		in := Input{Owner: "me", Live: there, Desired: []Desired{{Ref: ref, Digest: "d", Expires: true}},
			Inventory: []InventoryEntry{{Ref: ref, Digest: "d", Expires: true, Awaited: awaited, UID: "u", ResourceVersion: "7", ApplyHash: "e"}}}
		p := Compute(in)
		if len(p.Changes) > 0 || p.Kept[0].Awaited != awaited {
			t.Fatalf("%+v", p)
		}
		if p.Kept[0].Expired(false) == awaited {
			t.Errorf("awaited %v: %+v", awaited, p.Kept[0])
		}
	}
}
