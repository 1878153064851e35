package health

import (
	"slices"

	"hawser.dev/hawser/internal/object"
)

// waitableKinds are the kinds in groups of Kubernetes' own that have readiness beyond being written. Persistent volume
// claims are not among them: one that waits for its first consumer stays pending for good reasons, and a pod that
// cannot get its volume says so itself.
var waitableKinds = map[string]bool{
	"apps/Deployment": true, "apps/StatefulSet": true, "apps/DaemonSet": true, "apps/ReplicaSet": true,
	"batch/Job": true, "/Pod": true, "/ReplicationController": true,
	"apiextensions.k8s.io/CustomResourceDefinition": true, "apiregistration.k8s.io/APIService": true,
}

// judgedKinds have a state to show although nothing waits for them by kind alone.
var judgedKinds = map[string]bool{"/Service": true, "/PersistentVolumeClaim": true, "/Namespace": true}

// waitable reports whether objects of the kind have readiness beyond being written (so a watch is worth it):
// workloads, Jobs, CRDs, APIServices and custom resources; not ConfigMaps, claims, Namespaces and the like.
func waitable(r object.Ref) bool {
	return r.Kind != "" && (r.Custom() || waitableKinds[r.Group+"/"+r.Kind])
}

// Waits reports whether an instance's object is waited for: by its kind (WaitableObject), or because a rule is for it.
func (r Rules) Waits(ref object.Ref, body map[string]any) bool {
	return WaitableObject(ref, body) || r.Has(ref)
}

// Has reports whether one of the rules is for the object.
func (r Rules) Has(ref object.Ref) bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.For(ref) })
}

// Judged reports whether an object's state can be told only from its content: kinds with readiness, and those with a state
// to show. Of all others being there is being ready.
func Judged(r object.Ref) bool { return waitable(r) || judgedKinds[r.Group+"/"+r.Kind] }

// WaitableObject reports whether an object has readiness beyond being written: by its kind, and a Service of type LoadBalancer.
func WaitableObject(r object.Ref, body map[string]any) bool {
	if waitable(r) {
		return true
	}
	return r.Group == "" && r.Kind == "Service" && text(body, "spec", "type") == "LoadBalancer"
}

// WaitsAsHook reports whether a hook's object is waited for: it does its work and is done, or is used only once it is
// established. Everything else is done when it is written.
func WaitsAsHook(r object.Ref) bool { return r.Finishes() || r.IsCRD() }
