package builtin

import (
	"strings"
	"testing"
)

// TestLossOf: what is lost is known of Kubernetes' own kinds; a custom kind by the same name is another one.
func TestLossOf(t *testing.T) {
	for _, c := range []struct {
		kind   string
		custom bool
		want   string
	}{
		{"Service", false, "its cluster IP"}, {"Service", true, "what the cluster added"},
		{"Job", false, "it runs again"}, {"Job", true, "what the cluster added"},
		{"Deployment", false, "its running pods"}, {"PersistentVolumeClaim", false, "the data of the volume"},
		{"Namespace", false, "everything in the namespace"}, {"CustomResourceDefinition", false, "every object of the kind"},
		{"ConfigMap", false, "what the cluster added"},
	} {
		if got := LostByRecreating(c.kind, c.custom); !strings.Contains(got, c.want) {
			t.Errorf("%s (custom: %t): %q, want %q", c.kind, c.custom, got, c.want)
		}
	}
}
