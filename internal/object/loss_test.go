package object

import (
	"strings"
	"testing"
)

// TestLossOf: what is lost is known of Kubernetes' own kinds; a custom kind by the same name is another one.
func TestLossOf(t *testing.T) {
	for _, c := range []struct{ group, kind, want string }{
		{"", "Service", "its cluster IP"}, {"serving.knative.dev", "Service", "what the cluster added"},
		{"batch", "Job", "it runs again"}, {"batch.volcano.sh", "Job", "what the cluster added"},
		{"apps", "Deployment", "its running pods"}, {"", "PersistentVolumeClaim", "the data of the volume"},
		{"", "Namespace", "everything in the namespace"}, {"apiextensions.k8s.io", "CustomResourceDefinition", "every object of the kind"},
		{"", "ConfigMap", "what the cluster added"},
	} {
		if got := (Ref{Group: c.group, Kind: c.kind}).LostByRecreating(); !strings.Contains(got, c.want) {
			t.Errorf("%s/%s: %q, want %q", c.group, c.kind, got, c.want)
		}
	}
}
