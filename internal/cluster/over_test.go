package cluster

import (
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
)

// TestWaitingIsOver: a Job that failed stays failed, and waiting ends at once; a custom kind by that name, like everything else,
// may get over it within its grace.
func TestWaitingIsOver(t *testing.T) {
	client, err := kubeapi.Open(kubeapi.Config{Access: fleet.Access{Override: fleet.Override{Server: "https://127.0.0.1:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason, group, kind string
		hook                object.HookPhase
		state               health.State
		want                bool
	}{
		{"a Job", "batch", "Job", "", health.Failed, true},
		{"a Job that is not there yet", "batch", "Job", "", health.Missing, false},
		{"a custom Job", "batch.example.com", "Job", "", health.Failed, false},
		{"a Deployment", "apps", "Deployment", "", health.Failed, false},
		{"the Pod of a hook", "", "Pod", object.Test, health.Failed, true},
		{"a Pod", "", "Pod", "", health.Failed, false},
	} {
		w := &watching{executor: &executor{s: &Session{Client: client}}, ref: object.Ref{Group: c.group, Kind: c.kind}, hook: c.hook, hopeless: time.Minute}
		if got := w.over(health.Status{State: c.state}); got != c.want {
			t.Errorf("%s that is %s: %t, want %t", c.reason, c.state, got, c.want)
		}
	}
}

// TestNamedAsTheyMust: what is named after what it is cannot be tried under another name; a custom kind called APIService can.
func TestNamedAsTheyMust(t *testing.T) {
	for _, c := range []struct {
		group, kind string
		want        bool
	}{
		{"apiextensions.k8s.io", "CustomResourceDefinition", true}, {"apiregistration.k8s.io", "APIService", true},
		{"gateway.example.com", "APIService", false}, {"", "Service", false},
	} {
		if got := crdNamed(object.Ref{Group: c.group, Kind: c.kind}); got != c.want {
			t.Errorf("%s/%s: %t", c.group, c.kind, got)
		}
	}
}
