package plan

import (
	"slices"

	"hawser.dev/hawser/internal/diag"
)

// lend keeps in mind what is let go for another bundle of the same files until that has it: what nobody declares any more by
// then would stay in the cluster with our marks, and in no record.
func (c *computation) lend(o InventoryEntry, ch Change) {
	if ch.Action == Release && ch.Code == CodeMoved {
		c.plan.Lent = append(c.plan.Lent, o)
	}
}

// lent decides about an object that was let go for another bundle. Nothing is left to remember where somebody has it, it is
// gone, or it is declared here again; where the files, which are those of then, declare it nowhere, nor what stands on it, it is
// pruned as ours.
func (c *computation) lent(o InventoryEntry) {
	live := c.Live[o.Ref]
	_, owned := c.owned[o.Ref]
	known := live.Unseen == "" && !live.Unserved
	switch {
	case owned || c.declared[o.Ref] || known && (!live.Found || live.UID != o.UID || live.ForeignBundle || !c.ours(live)):
		c.plan.Refresh = true
	case known && c.Beside.Told && c.handed(o.Ref) == "" && c.Beside.Stands[o.Ref] == "" && !c.Options.NoPrune && !c.Rebuilt:
		c.dropped(o)
		if ch := &c.plan.Changes[len(c.plan.Changes)-1]; ch.Action == Delete {
			ch.Why = "was let go for another bundle of the same files, and is declared nowhere any more"
			c.plan.Lent = append(c.plan.Lent, o) // the deletion may fail: it is forgotten when it is gone
		}
	default:
		c.plan.Lent = append(c.plan.Lent, o)
	}
}

// abandoned warns of what a deleted bundle let go for another one that has not taken it: with the record nobody knows of it.
func (c *computation) abandoned() {
	var left []string
	for _, o := range c.plan.Lent {
		if !slices.ContainsFunc(c.plan.Changes, func(ch Change) bool { return ch.Ref == o.Ref && ch.Hook == nil }) {
			left = append(left, o.Ref.String())
		}
	}
	if !c.Options.Deleting || len(left) == 0 {
		return
	}
	f := diag.Warnf("left-to-nobody", "%s stay, which the bundle let go for another one that has not taken them: no record will name them", diag.Counted(len(left), "object"))
	if len(left) == 1 {
		f.What = "an object stays, which the bundle let go for another one that has not taken it: no record will name it"
	}
	f.Why, f.Fix = diag.Few(left), "apply the bundle that declares them first; what none declares any more is deleted with -f and the files"
	c.find(f)
}

// AsksOfLent reports whether a plan wants to know what the other bundles of the same files declare for the sake of what was
// let go for them alone: without an answer it stays as it is.
func AsksOfLent(in Input) bool { return len(in.Lent) > 0 && !in.Options.NoPrune }
