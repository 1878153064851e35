package plan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/object"
)

// DesiredOf reduces a marked object to what deciding needs.
func DesiredOf(o object.Scoped) Desired {
	a := object.ActionsOf(o.Unstructured().GetAnnotations())
	replicas, _, _ := unstructured.NestedFieldNoCopy(o.Body, "spec", "replicas")
	return Desired{Ref: o.Ref(), Version: o.GVK().Version, Instance: o.Instance, Stage: o.Stage, Digest: o.Digest(),
		Pos: o.Pos, Once: a.Once, Keep: a.Keep, Expires: object.Expires(o.Object), NoWait: a.NoWait, Timeout: a.Timeout, ForceRecreate: a.Force,
		Replicas: replicas != nil, Fixed: object.Fixed(o.Object), Namespaced: o.Namespaced, Hook: o.Hook}
}

// DesiredFrom is the declaration of an object as the inventory recorded it: what is desired when nothing an instance
// depends on has changed since, so that nothing needs to be rendered.
func DesiredFrom(o Owned) Desired {
	return Desired{Ref: o.Ref, Version: o.Version, Instance: o.Instance, Stage: o.Stage, Digest: o.Digest,
		Once: o.Once, Expires: o.Expires, Keep: o.Keep, NoWait: o.NoWait, Timeout: o.Timeout, Ignore: o.Ignore, OwnNamespace: o.OwnNamespace, Replicas: o.Replicas,
		Fixed: o.Fixed, ForceRecreate: o.Force, Namespaced: o.Ref.Namespace != ""}
}

// OwnedAs is the inventory entry a declaration is recorded with before it is written: an intention without uid.
func OwnedAs(d Desired, schema string) Owned {
	return Owned{Ref: d.Ref, Version: d.Version, Instance: d.Instance, Stage: d.Stage, Digest: d.Digest, Schema: schema,
		Keep: d.Keep, NoWait: d.NoWait, Timeout: d.Timeout, Ignore: d.Ignore, Once: d.Once, Expires: d.Expires, OwnNamespace: d.OwnNamespace, Replicas: d.Replicas,
		Fixed: d.Fixed, Force: d.ForceRecreate}
}
