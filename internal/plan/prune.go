package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// CodeUnserved is that of objects whose kind the cluster does not serve.
const CodeUnserved Code = "kind-not-served"

// dropped decides about an object of the inventory that is no longer declared. Deleted is only what the inventory
// names, with the same uid, that still carries our entry and nobody else manages or, in the same files, declares; labels
// alone never suffice.
func (c *computation) dropped(o InventoryEntry) {
	live := c.Live[o.Ref]
	if c.Rebuilt && !c.Suspended[o.Instance] {
		o.Instance = "" // what is recorded of an instance whose inputs are equal counts as declared
	}
	if !c.freed(o) && (c.Options.NoPrune || c.Suspended[o.Instance] || c.Rebuilt || c.unseen(o, live) || c.waits(o)) {
		c.plan.Kept = append(c.plan.Kept, o)
		return
	}
	ch := Change{Ref: o.Ref, Version: o.Version, Instance: o.Instance, Stage: o.Stage,
		UID: live.UID, ResourceVersion: live.ResourceVersion, ApplyHash: live.ApplyHash}
	ch.Action, ch.Code, ch.Why = c.fate(o, live)
	c.eject(&ch)
	c.lend(o, ch) // for who declares it; what follows goes back to who had it
	switch from := o.from(live.UID); {
	case ch.Action != Delete || from == "":
	case c.Options.RollingBack:
		ch.Action, ch.Code, ch.From, ch.Why = Release, CodeMoved, from, "was taken over from "+from+" after that release"
	case from == ByMarks:
		ch.From = from
	}
	if ch.Action == Delete {
		ch.Claims, ch.Aggregates, ch.TakenBy = live.Claims, live.Aggregates, takenBy(o, live)
	}
	c.add(ch)
}

// unseen refuses to forget an object of which nobody knows whether it is there, because its kind is not served: it stays in
// the inventory. One that is declared under another group lives on there.
func (c *computation) unseen(o InventoryEntry, live Live) bool {
	if !live.Unserved || c.Options.LetUnserved || o.UID != "" && c.liveUIDs[o.UID] {
		return false
	}
	f := diag.Errorf(string(CodeUnserved), "the cluster does not serve the kind %s of %s, and the record has an object of it that is to go", o.Ref.Kind, o.Ref.Group)
	f.Object, f.Instance = o.Ref.String(), o.Instance
	f.Because("nobody knows whether it is there; forgotten, it would come back with the kind, in no record")
	f.Fix = "serve the kind again, or delete its definition: without one it has no objects (that definitions may be listed is needed); to forget it on purpose: --let-unserved"
	if o.Aggregated() {
		f.Fix = "register its API server again (APIService " + o.apiService() + ", which is gone); to forget it on purpose: --let-unserved"
	}
	c.find(f)
	return true
}

// fate is Delete, or Release with the reason why the object is left alone.
func (c *computation) fate(o InventoryEntry, live Live) (Action, Code, string) {
	switch {
	case live.Unserved && c.liveUIDs[o.UID]:
		return Release, CodeReplaced, "declared under another group or version"
	case live.Unserved:
		return Release, CodeUnserved, "its kind is not served: nobody knows whether it is there"
	case !live.Found:
		return Release, CodeGone, "already gone"
	case o.OwnNamespace:
		return Release, CodeKept, "the instance's namespace is kept"
	case o.Keep || live.Keep:
		return Release, CodeKept, "annotated to be kept"
	case c.liveUIDs[live.UID]:
		return Release, CodeReplaced, "declared under another group or version"
	case o.UID != "" && o.UID != live.UID:
		return Release, CodeReplaced, "is another object now (other uid)"
	case live.ForeignBundle || live.OwnerLabel != "" && live.OwnerLabel != c.Owner:
		return Release, CodeForeign, "managed by " + orUnknown(live.Foreign) + " now"
	case Unmarked(live):
		return Release, CodeForeign, "no longer carries our managed fields entry"
	case o.UID != "" && live.OwnerLabel == "":
		return Release, CodeForeign, "no longer carries our owner label"
	case o.UID == "" && !c.ours(live):
		return Release, CodeForeign, "was not written by us"
	case live.Reconciled, live.Released:
		return Release, CodeForeign, orUnknown(live.Foreign) + " manages it too"
	case c.handed(o.Ref) != "":
		return Release, CodeMoved, c.handed(o.Ref)
	case live.Terminating:
		return Delete, CodeDropped, "already being deleted" + finalizers(live)
	}
	why := map[bool]string{false: "no longer in the bundle", true: "not placed here any more"}[c.NotPlaced[o.Instance] != ""]
	switch {
	case c.Options.Deleting:
		why = ""
	case c.Options.RollingBack:
		why = "not in release " + c.Options.BackTo
	}
	if by := takenBy(o, live); by != "" {
		why = strings.TrimPrefix(why+"; "+by+" has taken fields of it since it was written", "; ")
	}
	return Delete, CodeDropped, why
}

// eject lets what the inventory names stay that a delete would remove, keep or let go, without whatever it has of our marks; what is
// another bundle's by now, or gone, is let go as ever.
func (c *computation) eject(ch *Change) {
	live := c.Live[ch.Ref]
	if !c.Options.Ejecting || !live.Found || live.OwnerLabel != c.Owner && (live.ForeignBundle || live.OwnerLabel != "") {
		return
	}
	if ch.Action == Delete || ch.Code == CodeKept {
		ch.Why = ""
	}
	ch.Action, ch.Code = Release, CodeEjected
}

// freed reports whether an object of the inventory is ours no longer, because an eject that has not ended took our marks off it.
func (c *computation) freed(o InventoryEntry) bool {
	live := c.Live[o.Ref]
	return c.Freeing && live.Found && Unmarked(live) && live.OwnerLabel == ""
}

// takenBy is who took fields of an object from us since it was written, "" for nobody. What is left to others was not taken,
// nor are the replicas that an autoscaler sets.
func takenBy(o InventoryEntry, live Live) string {
	switch {
	case o.ApplyHash == "" || Unmarked(live) || !Moved(o, live):
		return ""
	case live.Foreign != "":
		return live.Foreign
	case o.Replicas && !live.OwnReplicas && live.Autoscaler == "" && !o.Ignore.Leaves(ReplicasPath, live.ReplicasOwner):
		return live.by()
	}
	return ""
}

func orUnknown(s string) string {
	return cmp.Or(s, "somebody else")
}

// givenBack warns of objects that were taken over after the release that is gone back to: they were there before, and going back
// does not delete them.
func (c *computation) givenBack() {
	by := map[string][]string{}
	for _, ch := range c.plan.Changes {
		if ch.Action == Release && ch.From != "" {
			by[ch.From] = append(by[ch.From], ch.Ref.String())
		}
	}
	for _, from := range slices.Sorted(maps.Keys(by)) {
		f := diag.Warnf("taken-since", "%s taken over from %s after that release: not deleted", diag.Counted(len(by[from]), "object"), from)
		f.Why = some(by[from])
		f.Fix = "delete by hand what nobody needs"
		if from != Earlier && from != ByMarks {
			f.Fix = "go back with that one too, which takes them back (hawser rollback, for a bundle); " + f.Fix
		}
		c.find(f)
	}
}

// retakenBy reports whether another owner has an object of ours again, which is not taken back unasked.
func (c *computation) retakenBy(l Live) bool { return (l.Released || l.Reconciled) && c.ours(l) }
