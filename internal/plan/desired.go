package plan

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/object"
)

// DesiredOf reduces a marked object to what deciding needs.
func DesiredOf(o object.Scoped) Desired {
	a := object.ActionsOf(o.Unstructured().GetAnnotations())
	replicas, _, _ := unstructured.NestedFieldNoCopy(o.Body, "spec", "replicas")
	return Desired{Ref: o.Ref(), Version: o.GVK().Version, Instance: o.Instance, Stage: o.Stage, Digest: o.Digest(), Open: !o.Secret(),
		Pos: o.Pos, Once: a.Once, Keep: a.Keep, Expires: object.Expires(o.Object), NoWait: a.NoWait, Timeout: a.Timeout, ForceRecreate: a.Force,
		Replicas: replicas != nil, Fixed: object.Fixed(o.Object), Namespaced: o.Namespaced, Hook: o.Hook, Late: len(o.Unknown) > 0}
}

// DesiredFrom is the declaration of an object as the inventory recorded it: what is desired when nothing an instance
// depends on has changed since, so that nothing needs to be rendered.
func DesiredFrom(o InventoryEntry) Desired {
	return Desired{Ref: o.Ref, Version: o.Version, Instance: o.Instance, Stage: o.Stage, Digest: o.Digest,
		Once: o.Once, Expires: o.Expires, Keep: o.Keep, NoWait: o.NoWait, Timeout: o.Timeout, Ignore: o.Ignore, OwnNamespace: o.OwnNamespace, Replicas: o.Replicas,
		Fixed: o.Fixed, ForceRecreate: o.Force, Namespaced: o.Ref.Namespace != ""}
}

// SameDeclared reports whether an instance declares the same in two declarations of a bundle. Namespaces that it merely uses
// and hooks that only test do not count: no record has them.
func SameDeclared(instance string, a, b []Desired) bool {
	of := func(list []Desired) map[object.Ref]string {
		out := map[object.Ref]string{}
		for _, d := range list {
			if d.Instance == instance && !d.OwnNamespace && (d.Hook == nil || !d.Hook.OnlyTests()) {
				out[d.Ref] = d.Digest
			}
		}
		return out
	}
	return maps.Equal(of(a), of(b))
}

// EntryFor is the inventory entry a declaration is recorded with before it is written: an intention without uid.
func EntryFor(d Desired, schema string) InventoryEntry {
	return InventoryEntry{Ref: d.Ref, Version: d.Version, Instance: d.Instance, Stage: d.Stage, Digest: d.Digest, Schema: schema,
		Keep: d.Keep, NoWait: d.NoWait, Timeout: d.Timeout, Ignore: d.Ignore, Once: d.Once, Expires: d.Expires, OwnNamespace: d.OwnNamespace, Replicas: d.Replicas,
		Fixed: d.Fixed, Force: d.ForceRecreate}
}

// Moving are the declared objects that the inventory has otherwise, or not at all.
func (in Input) Moving() map[object.Ref]bool {
	as := map[object.Ref]string{}
	for _, o := range in.Inventory {
		as[o.Ref] = o.Digest
	}
	out := map[object.Ref]bool{}
	for _, d := range in.Desired {
		if digest, known := as[d.Ref]; !known || digest != d.Digest {
			out[d.Ref] = true
		}
	}
	return out
}

// Refs are the objects that are declared.
func Refs(desired []Desired) []object.Ref {
	out := make([]object.Ref, len(desired))
	for i, d := range desired {
		out[i] = d.Ref
	}
	return out
}
