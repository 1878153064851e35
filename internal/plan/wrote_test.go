package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/object"
)

// What the inventory says of an object that was written: what the answer has of it, what is declared, and what it says itself.
func TestWrote(t *testing.T) {
	ref := object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "migrate"}
	body := object.Object{Body: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "migrate",
		"annotations": map[string]any{"hawser.dev/prune": "disabled"}}, "spec": map[string]any{"replicas": int64(1), "ttlSecondsAfterFinished": int64(9)}}}
	m := metav1.ObjectMeta{UID: "u", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "hawser:me", Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: "batch/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}}
	ch := Change{Action: Create, Ref: ref, Instance: "i", Stage: 2}
	o := Wrote(ch, body, m, "hawser:me", true, InventoryEntry{})
	if o.Ref != ref || o.Version != "v1" || o.UID != "u" || o.ResourceVersion != "7" || o.ApplyHash == "" || o.Digest != body.Digest() || !o.Keep || !o.Expires || !o.Awaited || !o.Replicas || o.Stage != 2 || o.Entry != nil || o.Hook != nil {
		t.Errorf("%+v", o)
	}
	ch.NoWait, ch.Ignore, ch.Hook = true, &object.Ignore{Paths: []string{"spec.x"}}, &HookTask{Event: object.PreDelete}
	if o := Wrote(ch, body, m, "hawser:me", true, InventoryEntry{}); o.Awaited || o.Entry == nil || o.Hook == nil || o.Hook.Event != object.PreDelete || o.Hook.Done {
		t.Errorf("%+v", o)
	}
}

// TestTaken: who had an object before it was adopted stays with it, in the intention of a run that ends in the middle too, as long
// as it is that object; going back to before that leaves it, and nothing else does.
func TestTaken(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	body := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}}
	d := Desired{Ref: ref, Version: "v1", Digest: "d"}
	adopt := &Plan{Changes: []Change{{Action: Adopt, Ref: ref, From: "Hawser bundle pay"}}}
	intended := Intended(adopt, nil, []Desired{d}, nil)
	if len(intended) != 1 || intended[0].Taken != "Hawser bundle pay" || intended[0].UID != "" {
		t.Fatalf("%+v", intended)
	}
	for uid, want := range map[string]string{"u": "Hawser bundle pay", "another": ""} {
		before := Wrote(adopt.Changes[0], body, metav1.ObjectMeta{UID: "u"}, "hawser:me", true, InventoryEntry{})
		if o := Wrote(Change{Action: Update, Ref: ref}, body, metav1.ObjectMeta{UID: types.UID(uid)}, "hawser:me", true, before); o.Taken != want {
			t.Errorf("%s: %q", uid, o.Taken)
		}
	}
	if o := Wrote(Change{Action: Update, Ref: ref}, body, metav1.ObjectMeta{UID: "u"}, "hawser:me", true, intended[0]); o.Taken == "" {
		t.Error("a run that ended before it was recorded forgets it")
	}
	own := InventoryEntry{Ref: ref, Version: "v1", UID: "u", ApplyHash: "e", Digest: "d", Taken: "Hawser bundle pay"}
	in := Input{Owner: "me", Inventory: []InventoryEntry{own}, Desired: []Desired{d}, Live: map[object.Ref]Live{ref: {Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}}}
	if p := Compute(in); len(p.Kept) != 1 || p.Kept[0].Taken != own.Taken || p.Refresh {
		t.Errorf("%+v", p)
	}
	in.Desired = nil
	for name, c := range map[string]struct {
		back   bool
		taken  string
		action Action
		warns  int
	}{"an apply": {false, own.Taken, Delete, 0}, "a rollback": {true, own.Taken, Release, 1}, "a rollback, and it was made here": {true, "", Delete, 0}} {
		in.Options.RollingBack, in.Inventory[0].Taken = c.back, c.taken
		if p := Compute(in); len(p.Changes) != 1 || p.Changes[0].Action != c.action || len(p.Findings) != c.warns || p.Findings.HasErrors() {
			t.Errorf("%s: %+v %v", name, p.Changes, p.Findings)
		}
	}
}

// TestLetGoAndTakenAgain: what a release let go, and a later one has again, was there before that one: going back lets it go again. What the
// inventory has under another group has its own origin, and what a run made that died before it was recorded is deleted.
func TestLetGoAndTakenAgain(t *testing.T) {
	ref, old := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}, object.Ref{Group: "old.example", Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	body := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}}
	d := Desired{Ref: ref, Version: "v1", Digest: "d"}
	for name, c := range map[string]struct {
		inventory []InventoryEntry
		preview   *Preview
		action    Action
	}{
		"written":                    {nil, nil, Release},
		"as it was":                  {nil, &Preview{NoOp: true}, Release},
		"under another group":        {[]InventoryEntry{{Ref: old, UID: "u"}}, nil, Delete},
		"adopted, by another group":  {[]InventoryEntry{{Ref: old, UID: "u", Taken: "Helm release x"}}, nil, Release},
		"by a run that died":         {[]InventoryEntry{{Ref: ref}}, nil, Delete},
		"adopted by a run that died": {[]InventoryEntry{{Ref: ref, Taken: "Helm release x"}}, nil, Release},
	} {
		in := Input{Owner: "me", Inventory: c.inventory, Desired: []Desired{d}, Live: map[object.Ref]Live{ref: {Found: true, UID: "u", ApplyHash: "e", OwnerLabel: "me"}}}
		if c.preview != nil {
			in.Previews = map[object.Ref]Preview{ref: *c.preview}
		}
		p := Compute(in)
		kept := p.Kept
		for _, ch := range p.Changes {
			if ch.Action == Update {
				before := c.inventory
				if intended := Intended(p, c.inventory, []Desired{d}, nil); len(before) == 0 || before[0].Ref != ref {
					before = slices.DeleteFunc(intended, func(o InventoryEntry) bool { return o.Ref != ref })
				}
				kept = append(kept, Wrote(ch, body, metav1.ObjectMeta{UID: "u", ManagedFields: nil}, "hawser:me", true, before[0]))
			}
		}
		if len(kept) != 1 {
			t.Fatalf("%s: %+v", name, p)
		}
		back := Compute(Input{Owner: "me", Inventory: kept, Live: in.Live, Options: Options{RollingBack: true, BackTo: "1"}})
		if len(back.Changes) != 1 || back.Changes[0].Action != c.action || (len(back.Findings) == 1) != (c.action == Release) {
			t.Errorf("%s: %+v %v", name, back.Changes, back.Findings)
		}
	}
}

// TestTakenBack: going back takes an object of another bundle only where that bundle's record does not have it any more.
func TestTakenBack(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: "a"}
	live := Live{Found: true, UID: "u", OwnerLabel: "o", ForeignBundle: true, Foreign: "Hawser bundle pay", ForeignManagers: []string{object.Manager("o")}}
	for name, c := range map[string]struct {
		record *Former
		action Action
		says   string
	}{
		"it has it":         {&Former{Bundle: "pay", Inventory: []InventoryEntry{{Ref: ref}}}, Conflict, "bundle pay has it in its release 7 (R)"},
		"it has it no more": {&Former{Bundle: "pay", Inventory: []InventoryEntry{{Ref: object.Ref{Kind: "Secret", Namespace: "ns", Name: "a"}}}}, Adopt, ""},
		"nobody knows":      {nil, Conflict, "Hawser bundle pay"},
	} {
		in := Input{Owner: "me", Bundle: "mine", Desired: []Desired{{Ref: ref, Version: "v1", Digest: "d"}}, Live: map[object.Ref]Live{ref: live},
			Beside: Beside{Yields: map[string]string{}}, Options: Options{RollingBack: true}}
		if c.record != nil {
			in.Beside.AddRecord("o", "7 (R)", *c.record)
		}
		p := Compute(in)
		if len(p.Changes) != 1 || p.Changes[0].Action != c.action || p.Findings.HasErrors() != (c.action == Conflict) || strings.Contains(p.Changes[0].Why+fmt.Sprint(p.Findings), "same files") {
			t.Errorf("%s: %+v %v", name, p.Changes, p.Findings)
		}
		if c.says != "" && (!strings.Contains(p.Findings[0].String(), c.says) || !strings.Contains(p.Findings[0].Fix, "--adopt")) {
			t.Errorf("%s: %v", name, p.Findings)
		}
	}
}
