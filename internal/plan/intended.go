package plan

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
)

// Intended is what a run may leave behind, for the record that is written before it: the recorded inventory and, without
// uid, every object the plan may create. schemas are keys by SchemaKey.
func Intended(p *Plan, recorded []InventoryEntry, wanted []Desired, schemas map[string]string) []InventoryEntry {
	entries := map[object.Ref]InventoryEntry{}
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
			entries[ch.Ref] = EntryFor(d, schemas[SchemaKey(ch.Ref)])
		}
		if o := entries[ch.Ref]; ok && ch.From != "" {
			o.Taken = ch.From
			entries[ch.Ref] = o
		}
	}
	return slices.SortedFunc(maps.Values(entries), func(a, b InventoryEntry) int { return a.Ref.Compare(b.Ref) })
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

// Earlier is whom an object was taken over from that had our marks and was in no record: a release before let it go.
const Earlier = "an earlier release of the bundle"

// ByMarks is whom an object was taken over from of which its marks alone are known: a release may have let it go as somebody else's.
const ByMarks = "somebody unknown (its record was lost)"

// before is who had an object that has our marks and is not in the inventory; one that is, under another group, has its own answer.
func (c *computation) before(live Live) string {
	if from, is := c.recorded[live.UID]; is {
		return from
	}
	return Earlier
}

// declared is from, of an object that is declared now: it is the bundle's, and a rollback's to let go where nobody knows whose it was.
func (o InventoryEntry) declared(uid string) string {
	return cmp.Or(map[string]string{ByMarks: Earlier}[o.from(uid)], o.from(uid))
}

// from is who had the object of a uid when it was adopted, "" for nobody, and for another object.
func (o InventoryEntry) from(uid string) string {
	return map[bool]string{true: o.Taken}[o.UID == "" || o.UID == uid]
}

// Wrote is the inventory entry of an object that a change wrote: body is what was sent, m the metadata of the answer, manager
// ours. wait: readiness is waited for; before is the entry until now, zero for none. The schema's key is the caller's.
func Wrote(ch Change, body object.Object, m metav1.ObjectMeta, manager string, wait bool, before InventoryEntry) InventoryEntry {
	actions, expires := object.ActionsOf(body.Unstructured().GetAnnotations()), object.Expires(body)
	spec, _ := body.Body["spec"].(map[string]any)
	o := InventoryEntry{Ref: ch.Ref, Version: body.GVK().Version, Instance: ch.Instance, Stage: ch.Stage, UID: string(m.UID), ResourceVersion: m.ResourceVersion,
		Digest: body.Digest(), Keep: actions.Keep, NoWait: ch.NoWait, Timeout: ch.Timeout, Ignore: ch.Ignore, Once: actions.Once,
		Expires: expires, Awaited: expires && wait && !ch.NoWait && ch.Hook == nil,
		OwnNamespace: ch.OwnNamespace, Replicas: spec["replicas"] != nil, Fixed: object.Fixed(body), Force: actions.Force, Stays: ch.Stays,
		Taken: cmp.Or(ch.From, before.declared(string(m.UID)))}
	o.ApplyHash, _ = object.OwnEntry(m.ManagedFields, manager)
	if ch.Ignore != nil {
		o.Entry = object.EntryOf(m.ManagedFields, manager)
	}
	if ch.Hook != nil {
		o.Hook = &HookRun{Event: ch.Hook.Event}
	}
	return o
}
