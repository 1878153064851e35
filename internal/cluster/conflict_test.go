package cluster

import "testing"

func TestConflictPaths(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{".spec.replicas", "spec.replicas"},
		{`.spec.template.spec.containers[name="api"].image`, "spec.template.spec.containers[api].image"},
		{`.spec.ports[port=80,protocol="TCP"].name`, "spec.ports[80].name"},
		{`.spec.ports[port=53,protocol="UDP"].name`, "spec.ports[53/UDP].name"},
		{".metadata.labels.a", "metadata.labels.a"},
	} {
		if got := conflictPath(c.in); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
	manager, sub := conflictManager(`conflict with "hpa" with subresource "scale" using apps/v1`)
	if manager != "hpa" || sub != "scale" {
		t.Errorf("%q %q", manager, sub)
	}
	if manager, sub := conflictManager(`conflict with "kubectl-edit" using v1 at 2026-01-01T00:00:00Z`); manager != "kubectl-edit" || sub != "" {
		t.Errorf("%q %q", manager, sub)
	}
}
