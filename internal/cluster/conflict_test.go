package cluster

import "testing"

func TestConflictManager(t *testing.T) {
	manager, sub := conflictManager(`conflict with "hpa" with subresource "scale" using apps/v1`)
	if manager != "hpa" || sub != "scale" {
		t.Errorf("%q %q", manager, sub)
	}
	if manager, sub := conflictManager(`conflict with "kubectl-edit" using v1 at 2026-01-01T00:00:00Z`); manager != "kubectl-edit" || sub != "" {
		t.Errorf("%q %q", manager, sub)
	}
}
