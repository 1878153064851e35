package plan

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/object"
)

// Intended is what a run may leave behind, for the record that is written before it: the recorded inventory and, without
// uid, every object the plan may create. schemas are keys by SchemaKey.
func Intended(p *Plan, recorded []Owned, wanted []Desired, schemas map[string]string) []Owned {
	entries := map[object.Ref]Owned{}
	for _, o := range slices.Concat(recorded, p.Kept) {
		entries[o.Ref] = o
	}
	desired := map[object.Ref]Desired{}
	for _, d := range wanted {
		desired[d.Ref] = d
	}
	for _, ch := range p.Changes {
		if ch.Hook != nil {
			if o, is := IntendedHook(entries[ch.Ref], ch); is {
				entries[ch.Ref] = o
			}
			continue
		}
		d, ok := desired[ch.Ref]
		if _, known := entries[ch.Ref]; ok && ch.Action.Writes() && (!known || ch.Action == Create || ch.Action == Recreate) {
			entries[ch.Ref] = OwnedAs(d, schemas[SchemaKey(ch.Ref)])
		}
	}
	return slices.SortedFunc(maps.Values(entries), func(a, b Owned) int { return a.Ref.Compare(b.Ref) })
}

// Writes is the number of objects the plan writes.
func (p *Plan) Writes() int {
	n := 0
	for _, ch := range p.Changes {
		if ch.Action.Writes() {
			n++
		}
	}
	return n
}

// Writes is the number of writes among what was done.
func (c Counts) Writes() int {
	return c.Create + c.Update + c.Delete + c.Recreate + c.Adopt + c.Unknown + c.Hooks
}
