package plan

import (
	"slices"
	"strconv"

	"hawser.dev/hawser/internal/object"
)

// Simulate returns the Input that an exact execution of Compute(in) would leave behind: what is written is there with
// a new resourceVersion and managed fields hash, what is deleted is gone, and the inventory names it all. Changes
// that block (conflicts) leave everything as it is. It states the idempotence law:
// Compute(Simulate(in)) writes nothing.
func Simulate(in Input) Input {
	p := Compute(in)
	out := in
	out.Previews, out.Open, out.Undone = nil, false, false
	out.Live = make(map[object.Ref]Live, len(in.Live))
	for r, l := range in.Live {
		out.Live[r] = l
	}
	out.Inventory = append([]InventoryEntry(nil), p.Kept...)
	byRef := map[object.Ref]Desired{}
	for _, d := range in.Desired {
		if _, ok := byRef[d.Ref]; !ok {
			byRef[d.Ref] = d
		}
	}
	before := map[object.Ref]InventoryEntry{}
	for _, o := range in.Inventory {
		before[o.Ref] = o
	}
	out.HookStates = map[string]HookState{}
	for name, l := range p.HookStates {
		if over, stays := l.Completed(); stays {
			out.HookStates[name] = over
		}
	}
	for i, ch := range p.Changes {
		if ch.Hook != nil && (ch.Action == Create || ch.Action == Recreate || ch.Action == Unchanged) {
			ran(&out, ch, i)
			continue
		}
		switch ch.Action {
		case Create, Update, Recreate, Adopt, Unknown:
			d := byRef[ch.Ref]
			l := out.Live[ch.Ref]
			if ch.Action != Update && ch.Action != Adopt {
				l = Live{UID: "new-uid-" + strconv.Itoa(i)}
			}
			l.Found, l.Terminating, l.OwnerLabel = true, false, in.Owner
			l.Remnant = false
			l.Foreign, l.ForeignManagers, l.ForeignBundle, l.Reconciled = "", nil, false, false
			if d.Replicas && len(ch.OmitFields) == 0 && !d.Ignore.Leaves(ReplicasPath, l.ReplicasOwner) {
				l.OwnReplicas = true
			}
			l.ResourceVersion, l.ApplyHash = "after-"+strconv.Itoa(i), "own-"+d.Digest
			out.Live[ch.Ref] = l
			out.Inventory = append(out.Inventory, InventoryEntry{Ref: d.Ref, Version: d.Version, Instance: d.Instance, Stage: d.Stage,
				UID: l.UID, ResourceVersion: l.ResourceVersion, Digest: d.Digest, ApplyHash: l.ApplyHash,
				Schema: in.Schema[SchemaKey(d.Ref)], Keep: d.Keep, NoWait: d.NoWait, Timeout: d.Timeout, Ignore: d.Ignore, Once: d.Once,
				Expires: d.Expires, OwnNamespace: d.OwnNamespace, Replicas: d.Replicas, Fixed: d.Fixed, Force: d.ForceRecreate})
		case Delete:
			out.Live[ch.Ref] = Live{}
		case Release:
		case Conflict:
			if o, ok := before[ch.Ref]; ok {
				out.Inventory = append(out.Inventory, o)
			}
		}
	}
	return out
}

// ran is what a hook leaves behind: its object, unless it goes when it has succeeded.
func ran(out *Input, ch Change, i int) {
	out.Inventory = slices.DeleteFunc(out.Inventory, func(o InventoryEntry) bool { return o.Ref == ch.Ref })
	if ch.Hook.IfSucceeded {
		out.Live[ch.Ref] = Live{}
		return
	}
	l := out.Live[ch.Ref]
	if ch.Action != Unchanged {
		l = Live{Found: true, UID: "new-uid-" + strconv.Itoa(i), OwnerLabel: out.Owner, ResourceVersion: "after-" + strconv.Itoa(i), ApplyHash: "own-" + ch.Digest}
	}
	out.Live[ch.Ref] = l
	out.Inventory = append(out.Inventory, InventoryEntry{Ref: ch.Ref, Version: ch.Version, Instance: ch.Instance, UID: l.UID,
		ResourceVersion: l.ResourceVersion, Digest: ch.Digest, ApplyHash: l.ApplyHash, Hook: &HookRun{Event: ch.Hook.Event, Done: true}})
}
