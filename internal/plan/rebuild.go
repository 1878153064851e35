package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// CodeLostRecord is that of findings about a release whose record is lost.
const CodeLostRecord = "lost-record"

// Lost reports whether a release without a record was here all the same: something declared carries both our marks. What a
// delete leaves there, the instances' own namespaces and what is annotated to be kept, does not tell.
func Lost(in Input) bool {
	return slices.ContainsFunc(in.Desired, func(d Desired) bool {
		l := in.Live[d.Ref]
		return l.Found && !l.Terminating && !d.OwnNamespace && !l.Keep && l.OwnerLabel == in.Owner && !Unmarked(l)
	})
}

// Namespaces are those of declared and recorded objects, sorted.
func (in Input) Namespaces() []string {
	names := map[string]bool{}
	for _, d := range in.Desired {
		names[d.Ref.Namespace] = true
	}
	for _, o := range in.Inventory {
		names[o.Ref.Namespace] = true
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// FromMarks is the inventory entry of an object that carries both marks of a bundle, when the record is lost. What a
// namespace was made for is not known any more: it is kept, as an instance's own one is; nor whether it is ours: a rollback lets go of
// what was somebody's, with its marks.
func FromMarks(ref object.Ref, version, instance string, l Live) InventoryEntry {
	return InventoryEntry{Ref: ref, Version: version, Instance: instance, UID: l.UID, ResourceVersion: l.ResourceVersion, ApplyHash: l.ApplyHash, Keep: l.Keep,
		OwnNamespace: ref.IsNamespace(), Taken: ByMarks}
}

// Marks are the objects that carry both marks of a bundle, as far as could be looked.
type Marks struct {
	Cluster   string
	Inventory []InventoryEntry
	Live      map[object.Ref]Live
	// Unseen are the resources that could not be listed in the whole cluster, with the reason. Only the namespaces Asked
	// were looked at where that was allowed. Silent are groups among them whose API server does not answer.
	Unseen map[string]string
	Silent []string
	Asked  []string
}

// Kinds are the resources that could not be looked at, sorted.
func (m Marks) Kinds() []string { return slices.Sorted(maps.Keys(m.Unseen)) }

// why says what could not be looked at, and the first reason.
func (m Marks) why() string {
	names := m.Kinds()
	why := some(names) + ": " + m.Unseen[names[0]]
	if len(m.Asked) > 0 {
		why += "; namespaces asked: " + some(m.Asked)
	}
	return why
}

// fix is what lets them be seen. No permission helps where an API server of its own does not answer.
func (m Marks) fix(permit string) string {
	if len(m.Silent) == 0 {
		return permit
	}
	return "look at: kubectl get apiservices; let the API server behind them answer again, or delete the APIService if it is gone for good" + map[bool]string{false: "; for the others: " + permit}[len(m.Silent) == len(m.Unseen)]
}

// Findings say that marks could not be looked for in the whole cluster; none when they could.
func (m Marks) Findings() diag.Findings {
	if len(m.Unseen) == 0 {
		return nil
	}
	f := diag.Warnf("not-looked-at", "objects with the bundle's marks could not be looked for everywhere: %s", diag.Counted(len(m.Unseen), "kind"))
	f.Cluster, f.Why = m.Cluster, m.why()
	f.Fix = m.fix("grant list on them in the whole cluster, or look with other credentials") + "; the record says that it is incomplete, and each apply looks again"
	return diag.Findings{f}
}

// Standing is what a status without a record tells: lost when objects are there, unknown when that could not be seen, ""
// and "" when there is nothing.
func (m Marks) Standing() (lost, unknown string) {
	if owned := Deletable(m.Inventory); len(owned) > 0 {
		return diag.Counted(len(owned), "object") + " with its marks: " + someRefs(owned), ""
	}
	if len(m.Unseen) > 0 {
		return "", "there is no record, and whether objects of the bundle are there could not be seen: " + m.why()
	}
	return "", ""
}

// Looks reports whether objects with the bundle's marks are to be looked for: the record is lost, or it was made again
// when not everything could be looked at.
func (in Input) Looks() bool {
	return in.Damaged || len(in.Unseen) > 0 || !in.Recorded && (in.Delivered || Lost(in))
}

// Rebuild takes over what was found. A record without marks anywhere is none; one that was incomplete gets what it lacks. took says by
// uid whom objects were taken over from ("" for nobody), as far as revisions tell that are kept: what is not declared, and was not made
// here for all that is known, stays ByMarks.
func (in *Input) Rebuild(m Marks, took map[string]string) diag.Findings {
	declared := Input{Desired: in.Desired}.Moving() // all, where no inventory has any
	for i, o := range m.Inventory {
		switch from, known := took[o.UID]; {
		case known && (declared[o.Ref] || from == ""):
			m.Inventory[i].Taken = from
		case declared[o.Ref]:
			m.Inventory[i].Taken = Earlier
		}
	}
	in.Unseen = m.Kinds()
	owned := m.Inventory
	switch {
	case in.Recorded:
		if owned = in.missing(m.Inventory); len(owned) == 0 {
			return m.Findings()
		}
		owned = slices.Concat(in.Inventory, owned)
	case !in.Damaged && !Lost(*in) && len(Deletable(owned)) == 0:
		return m.Findings()
	}
	for ref, l := range m.Live {
		if _, known := in.Live[ref]; !known || !in.Recorded {
			in.Live[ref] = l
		}
	}
	in.Inventory, in.Rebuilt = owned, true
	return m.Findings()
}

// missing are the marked objects that the inventory does not have.
func (in Input) missing(marked []InventoryEntry) []InventoryEntry {
	known := map[object.Ref]bool{}
	for _, o := range in.Inventory {
		known[o.Ref] = true
	}
	return slices.DeleteFunc(slices.Clone(marked), func(o InventoryEntry) bool { return known[o.Ref] })
}

// Incomplete is what a status says of a record that was made again when these kinds could not be looked at.
func Incomplete(bundle string, unseen []string) diag.Findings {
	if len(unseen) == 0 {
		return nil
	}
	f := diag.Warnf("incomplete-record", "the record of bundle %s was made again, and not everything could be looked at: %s", bundle, diag.Counted(len(unseen), "kind"))
	f.Because("objects of these kinds that carry its marks may be missing in it: " + some(unseen))
	f.Fix = "apply it with credentials that may list them in the whole cluster: each apply looks again"
	return diag.Findings{f}
}

// rebuilt says that the record is written again, and names what is in it and not declared: the next apply prunes that,
// by the rules of every inventory.
func (c *computation) rebuilt() {
	if !c.Rebuilt {
		return
	}
	c.plan.Rebuilt = true
	f := diag.Warnf(CodeLostRecord, "the record of bundle %s is lost, or went with a delete of it: it is made again from the objects that carry its marks", c.Bundle)
	if c.Recorded {
		f.What = "the record of bundle " + c.Bundle + " was made again when not everything could be looked at: it gets the objects that carry its marks and were not seen then"
	}
	undeclared := slices.DeleteFunc(slices.Clone(c.Inventory), func(o InventoryEntry) bool { return c.declared[o.Ref] })
	if len(undeclared) > 0 {
		f.Because(fmt.Sprintf("%d of them are not declared any more and stay this time: %s", len(undeclared), someRefs(undeclared)))
		f.Fix = "the apply after this one deletes what is not declared; its plan shows it"
		if slices.ContainsFunc(undeclared, func(o InventoryEntry) bool { return o.Taken == ByMarks }) {
			f.Fix += ", and wants the number of deletions: some may be somebody else's (adopted once and let go), which stays when the label " + object.LabelOwner + " is taken off it"
		}
	}
	c.find(f)
}

// Deletable are the objects that carry both marks of a bundle without a record, those apart that a delete leaves there.
func Deletable(marked []InventoryEntry) []InventoryEntry {
	return slices.DeleteFunc(slices.Clone(marked), func(o InventoryEntry) bool { return o.OwnNamespace || o.Keep })
}

// LostAtDelete is what a delete, or a rollback, finds about a bundle whose record is lost or, where there is one, incomplete, while objects
// carry both its marks that no record names: an error. Where marks could not be looked for everywhere it is one too when
// hawser.lock says that the bundle was delivered, or when the record is incomplete; else a warning.
func LostAtDelete(bundle string, in Input, m Marks) diag.Findings {
	found := Deletable(in.missing(m.Inventory))
	switch {
	case len(found) > 0:
		f := diag.Errorf(CodeLostRecord, "bundle %s has no record here, and %s with its marks", bundle, diag.Counted(len(found), "object"))
		if in.Recorded {
			f.What = "the record of bundle " + bundle + " lacks " + diag.Counted(len(found), "object") + " with its marks, which could not be seen when it was made again"
		}
		word := map[bool][]string{false: {"deleted", "delete"}, true: {"let go of", "eject"}}[in.Options.Ejecting]
		f.Because("what is " + word[0] + " is what a record names, never what has a label: " + someRefs(found))
		f.Fix = "apply the bundle once, which makes the record again; then " + word[1] + " it"
		if in.Options.RollingBack {
			f.Because("nobody knows what it had in any release: " + someRefs(found))
			f.Fix = "apply the files of the release to go back to here, which makes the record again; or roll back the other clusters alone: --cluster"
		}
		return diag.Findings{f}
	case len(m.Unseen) == 0:
		return nil
	}
	f := diag.Warnf(CodeLostRecord, "bundle %s has no record here, and whether its objects are there is unknown", bundle)
	if in.Delivered {
		f = diag.Errorf(CodeLostRecord, "bundle %s has no record here, hawser.lock says that it was delivered, and whether its objects are there is unknown", bundle)
	}
	if in.Recorded {
		f = diag.Errorf(CodeLostRecord, "the record of bundle %s was made again when not everything could be looked at, and whether it has everything is still unknown", bundle)
	}
	f.Why, f.Fix = m.why(), m.fix("look with credentials that may list in the whole cluster")
	return diag.Findings{f}
}

// someRefs names the first of many objects.
func someRefs(owned []InventoryEntry) string {
	var names []string
	for _, o := range owned {
		names = append(names, o.Ref.String())
	}
	return some(names)
}

// some names the first of many.
func some(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
