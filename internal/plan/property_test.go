package plan

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/object"
)

var kinds = []string{"ConfigMap", "Secret", "Deployment", "Namespace", "CustomResourceDefinition", "PersistentVolumeClaim"}

func drawRef(t *rapid.T) object.Ref {
	return object.Ref{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Namespace: "ns",
		Name: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")}
}

// drawInput makes an arbitrary cluster: any mix of declared, owned and live objects.
func drawInput(t *rapid.T) Input {
	const owner = "me"
	in := Input{Cluster: "c", Bundle: "b", Owner: owner, Live: map[object.Ref]Live{}, Schema: map[string]string{},
		Previews: map[object.Ref]Preview{}, NamespaceExists: map[string]bool{"ns": true}, Contents: map[object.Ref]Contents{},
		Open: rapid.Bool().Draw(t, "open"),
		Options: Options{Adopt: rapid.Bool().Draw(t, "adopt"), Recreate: rapid.Bool().Draw(t, "recreate"),
			NoPrune: rapid.Bool().Draw(t, "noPrune"), Diff: rapid.Bool().Draw(t, "diff")}}
	digest := rapid.SampledFrom([]string{"d1", "d2"})
	seen := map[object.Ref]bool{}
	for range rapid.IntRange(0, 6).Draw(t, "desired") {
		d := Desired{Ref: drawRef(t), Version: rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "version"), Instance: "i",
			Digest: digest.Draw(t, "digest"), Once: rapid.IntRange(0, 9).Draw(t, "once") == 0, Namespaced: true,
			Replicas: rapid.Bool().Draw(t, "replicas"), Fixed: rapid.SampledFrom([]string{"", "f1", "f2"}).Draw(t, "fixed")}
		if seen[d.Ref] {
			continue
		}
		seen[d.Ref] = true
		in.Desired = append(in.Desired, d)
	}
	owned := map[object.Ref]bool{}
	for range rapid.IntRange(0, 6).Draw(t, "owned") {
		o := InventoryEntry{Ref: drawRef(t), Version: "v1", Instance: "i", UID: rapid.SampledFrom([]string{"", "u1", "u2"}).Draw(t, "ouid"),
			ResourceVersion: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "orv"), Digest: digest.Draw(t, "odigest"),
			ApplyHash: rapid.SampledFrom([]string{"o1", "o2"}).Draw(t, "oown"), Keep: rapid.IntRange(0, 5).Draw(t, "keep") == 0}
		if owned[o.Ref] {
			continue
		}
		owned[o.Ref] = true
		in.Inventory = append(in.Inventory, o)
	}
	for _, kind := range kinds {
		for _, name := range []string{"a", "b", "c", "d"} {
			in.Live[object.Ref{Kind: kind, Namespace: "ns", Name: name}] = drawLive(t, owner)
		}
	}
	replicas := map[object.Ref]bool{}
	for _, d := range in.Desired {
		replicas[d.Ref] = d.Replicas
		for i, o := range in.Inventory {
			if o.Ref == d.Ref && o.Digest == d.Digest { // the same declaration
				in.Inventory[i].Replicas = d.Replicas
			}
		}
	}
	Previewed(&in, func(needs, _ []Change) map[object.Ref]Preview {
		out := map[object.Ref]Preview{}
		for _, ch := range needs {
			lost := replicas[ch.Ref] && !in.Live[ch.Ref].OwnReplicas // then a write changes our entry
			p := Preview{NoOp: !lost && rapid.Bool().Draw(t, "noop"), Immutable: rapid.IntRange(0, 9).Draw(t, "immutable") == 0, Force: ch.Force, OmitFields: ch.OmitFields}
			if !p.NoOp {
				p.Fields = []FieldChange{{Path: "data.x", Old: "1", New: "2"}}
			}
			if !ch.Force && rapid.IntRange(0, 3).Draw(t, "conflict") == 0 {
				p = Preview{Conflicts: []FieldConflict{{Path: "spec.replicas", Manager: rapid.SampledFrom([]string{"x", object.HandoverManager}).Draw(t, "by"),
					Subresource: rapid.SampledFrom([]string{"", "scale"}).Draw(t, "sub"), Ours: rapid.Bool().Draw(t, "ours")}}}
			}
			out[ch.Ref] = p
		}
		return out
	})
	return in
}

func drawLive(t *rapid.T, owner string) Live {
	if rapid.Bool().Draw(t, "absent") {
		return Live{}
	}
	l := Live{Found: true, UID: rapid.SampledFrom([]string{"u1", "u2"}).Draw(t, "uid"),
		ResourceVersion: rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "rv"),
		ApplyHash:       rapid.SampledFrom([]string{"", "o1", "o2"}).Draw(t, "own"),
		OwnerLabel:      rapid.SampledFrom([]string{"", owner, "other"}).Draw(t, "label"),
		Terminating:     rapid.IntRange(0, 9).Draw(t, "terminating") == 0,
		Keep:            rapid.IntRange(0, 9).Draw(t, "keep") == 0}
	if l.OwnerLabel != owner {
		l.Foreign = rapid.SampledFrom([]string{"", "Helm release x"}).Draw(t, "foreign")
		l.ForeignBundle = l.OwnerLabel == "other"
	}
	l.Shared = rapid.Bool().Draw(t, "shared")
	l.ReplicasOwner = rapid.SampledFrom([]string{"", "", "kubectl-scale", "hpa", object.HandoverManager}).Draw(t, "replicasOwner")
	l.OwnReplicas = l.ReplicasOwner == "" && rapid.Bool().Draw(t, "ownReplicas")
	if l.ReplicasOwner == "hpa" {
		l.ScaleOwner, l.Autoscaler = "hpa", rapid.SampledFrom([]string{"", "HorizontalPodAutoscaler ns/a"}).Draw(t, "autoscaler")
	}
	return l
}

func TestIdempotenceLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		if in.Options.NoPrune {
			in.Options.NoPrune = false // what is not pruned stays in the inventory: nothing to settle
		}
		blocked := map[object.Ref]bool{}
		for _, ch := range Compute(in).Changes {
			blocked[ch.Ref] = ch.Action == Conflict // stays as it is
		}
		next := Compute(Simulate(in))
		for _, ch := range next.Changes {
			if blocked[ch.Ref] {
				continue
			}
			if ch.Action.Writes() || ch.Action == Release {
				t.Fatalf("after the plan was carried out, %s %s (%s: %s) is left to do", ch.Action, ch.Ref, ch.Code, ch.Why)
			}
		}
	})
}

// TestNothingForeignIsTouched: whatever the state, only objects that are ours by uid and managed fields entry, or by
// both marks, are deleted or updated; others are conflicts or adopted on purpose.
func TestNothingForeignIsTouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		owned := map[object.Ref]InventoryEntry{}
		for _, o := range in.Inventory {
			owned[o.Ref] = o
		}
		p := Compute(in)
		for _, ch := range p.Changes {
			live, o := in.Live[ch.Ref], owned[ch.Ref]
			byUID := o.UID != "" && o.UID == live.UID && !live.ForeignBundle
			byMarks := live.OwnerLabel == in.Owner && live.ApplyHash != ""
			switch ch.Action {
			case Delete:
				if live.ApplyHash == "" || live.Keep || o.Keep || !(byUID || byMarks && o.UID == "") {
					t.Fatalf("deletes %s which is not provably ours: live %+v, owned %+v", ch.Ref, live, o)
				}
				if in.Options.NoPrune {
					t.Fatalf("deletes %s though pruning is off", ch.Ref)
				}
			case Update, Recreate:
				if !byUID && !byMarks && (ch.From == "" || !in.Options.Adopt || live.Reconciled) {
					t.Fatalf("%s %s which is not ours: live %+v, owned %+v", ch.Action, ch.Ref, live, o)
				}
			case Adopt:
				if !in.Options.Adopt || live.Reconciled {
					t.Fatalf("adopts %s without being asked", ch.Ref)
				}
			case Create:
				if live.Found && !live.Terminating {
					t.Fatalf("creates %s which exists", ch.Ref)
				}
			}
			if ch.Force && (ch.UID == "" || ch.ResourceVersion == "") {
				t.Fatalf("%s %s is forced without preconditions", ch.Action, ch.Ref)
			}
		}
	})
}

// TestEveryObjectIsAccountedFor: each declared and each owned object appears exactly once, as a change or as kept.
func TestEveryObjectIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		count := map[object.Ref]int{}
		p := Compute(in)
		for _, ch := range p.Changes {
			count[ch.Ref]++
		}
		for _, o := range p.Kept {
			count[o.Ref]++
		}
		want := map[object.Ref]bool{}
		for _, d := range in.Desired {
			want[d.Ref] = true
		}
		for _, o := range in.Inventory {
			want[o.Ref] = true
		}
		for ref := range want {
			if count[ref] != 1 {
				t.Fatalf("%s is accounted for %d times", ref, count[ref])
			}
		}
		if len(count) != len(want) {
			t.Fatalf("the plan names %d objects, there are %d", len(count), len(want))
		}
	})
}

func TestComputeIsStableUnderPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		shuffled := in
		shuffled.Desired = rapid.Permutation(in.Desired).Draw(t, "order")
		shuffled.Inventory = rapid.Permutation(in.Inventory).Draw(t, "ownedOrder")
		a, b := Compute(in), Compute(shuffled)
		x, errX := json.Marshal(a.Changes)
		y, errY := json.Marshal(b.Changes)
		if errX != nil || errY != nil || string(x) != string(y) {
			t.Fatalf("order of the input changes the plan:\n%v\n%v", a.Changes, b.Changes)
		}
	})
}
