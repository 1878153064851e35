// Package health decides from one object's content whether it is ready, still progressing or failed, and why.
// All functions are pure: times come in as arguments.
//
// health must not know clusters, clocks or how objects are read; what it looks at is handed to it.
package health

import "hawser.dev/hawser/internal/object"

// State of an object.
type State string

const (
	// Ready is Kubernetes' "current": what was asked for runs.
	Ready State = "ready"
	// Progressing may still get ready by waiting.
	Progressing State = "progressing"
	// Failed will not get ready by waiting, or its controller says it failed.
	Failed State = "failed"
	// Missing is not in the cluster.
	Missing State = "missing"
	// Terminating is being deleted.
	Terminating State = "terminating"
)

// Status is the verdict on one object.
type Status struct {
	State State `json:"state"`
	// Reason is short and for people: "2 of 3 pods ready".
	Reason string `json:"reason,omitempty"`
	// Hopeless is set when waiting cannot heal it (image not found, crash loop, unschedulable): the cluster fails
	// HopelessAfter after it was first seen, not at --timeout.
	Hopeless bool `json:"hopeless,omitempty"`
	// Details are further lines: "pod api-6c9f-x2k, container api: ImagePullBackOff: ...".
	Details []string `json:"details,omitempty"`
}

// Check is a module's own rule for a kind (Timoni's #HealthCheck): CUE source text of an expression struct with
// `object` open, evaluated against the live object by a Checker.
type Check struct {
	Name  string `json:"name"`
	Group string `json:"group"`
	Kind  string `json:"kind,omitempty"`
	// Source is CUE text of the closed check value: fields object, current, inProgress?, failed?.
	Source string `json:"source"`
}

// Checker evaluates module checks; implemented by the CUE renderer so that health needs no CUE.
type Checker interface {
	// Check returns the verdict and true when the check applies to the object.
	Check(c Check, obj map[string]any) (Status, bool, error)
}

// Rules are the checks in force for one bundle on one cluster.
type Rules struct {
	Checks  []Check
	Checker Checker
}

// Waitable reports whether objects of the kind have readiness beyond being written (so a watch is worth it):
// workloads, Jobs, CRDs, APIServices and custom resources; not ConfigMaps, claims, Namespaces and the like.
func Waitable(r object.Ref) bool { return waitable(r) }
