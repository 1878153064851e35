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
	for _, d := range in.Desired {
		if l := in.Live[d.Ref]; l.Found && !l.Terminating && !d.OwnNamespace && !l.Keep && l.OwnerLabel == in.Owner && l.Own != "" {
			return true
		}
	}
	return false
}

// Namespaces are those of declared objects, sorted.
func Namespaces(desired []Desired) []string {
	names := map[string]bool{}
	for _, d := range desired {
		names[d.Ref.Namespace] = d.Ref.Namespace != ""
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// FromMarks is the inventory entry of an object that carries both marks of a bundle, when the record is lost. What a
// namespace was made for is not known any more: it is kept, as an instance's own one is.
func FromMarks(ref object.Ref, version, instance string, l Live) Owned {
	return Owned{Ref: ref, Version: version, Instance: instance, UID: l.UID, ResourceVersion: l.ResourceVersion, Own: l.Own, Keep: l.Keep,
		OwnNamespace: ref.Group == "" && ref.Kind == "Namespace"}
}

// NotLookedAt says that marks could not be looked for in the whole cluster, by resource with the reason. Only the
// namespaces were asked where that was allowed.
func NotLookedAt(unseen map[string]string, namespaces []string) diag.Finding {
	names := slices.Sorted(maps.Keys(unseen))
	f := diag.Warnf("not-looked-at", "objects with the bundle's marks could not be looked for everywhere: %d kinds", len(names))
	f.Why = some(names) + ": " + unseen[names[0]]
	if len(namespaces) > 0 {
		f.Why += "; namespaces asked: " + some(namespaces)
	}
	f.Fix = "grant list on them in the whole cluster, or look with other credentials: what is not found again is in no record"
	return f
}

// rebuilt says that the record is written again, and names what is in it and not declared: the next apply prunes that,
// by the rules of every inventory.
func (c *computation) rebuilt() {
	if !c.Rebuilt {
		return
	}
	c.plan.Rebuilt = true
	f := diag.Warnf(CodeLostRecord, "the record of bundle %s is lost: it is made again from the objects that carry its marks", c.Bundle)
	var undeclared []string
	for _, o := range c.Owned {
		if !c.declared[o.Ref] {
			undeclared = append(undeclared, o.Ref.String())
		}
	}
	if len(undeclared) > 0 {
		f.Why = fmt.Sprintf("%d of them are not declared any more and stay this time: %s", len(undeclared), some(undeclared))
		f.Fix = "the apply after this one deletes what is not declared; its plan shows it"
	}
	c.find(f)
}

// Deletable are the objects that carry both marks of a bundle without a record, those apart that a delete leaves there.
func Deletable(marked []Owned) []Owned {
	return slices.DeleteFunc(slices.Clone(marked), func(o Owned) bool { return o.OwnNamespace || o.Keep })
}

// LostAtDelete is the finding about a bundle that is to be deleted and has no record, while objects carry both its marks;
// or while hawser.lock says that it was delivered, and marks could not be looked for everywhere: unseen says where not.
func LostAtDelete(bundle string, marked []Owned, unseen diag.Findings, delivered bool) diag.Findings {
	owned := Deletable(marked)
	if len(owned) == 0 && len(unseen) > 0 && delivered {
		f := diag.Errorf(CodeLostRecord, "bundle %s has no record here, hawser.lock says that it was delivered, and whether its objects are there is unknown", bundle)
		f.Why, f.Fix = unseen[0].Why, "look with credentials that may list in the whole cluster"
		return diag.Findings{f}
	}
	if len(owned) == 0 {
		return nil
	}
	var names []string
	for _, o := range owned {
		names = append(names, o.Ref.String())
	}
	f := diag.Errorf(CodeLostRecord, "bundle %s has no record here, and %s with its marks", bundle, counted(len(owned), "object"))
	f.Why = "what is deleted is what a record names, never what has a label: " + some(names)
	f.Fix = "apply the bundle once, which makes the record again; then delete it"
	return diag.Findings{f}
}

// some names the first of many.
func some(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
