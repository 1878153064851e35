package place

import (
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
)

// TestUnknownAsksLittle: a bundle that names no cluster is judged without a look at the fleet: it is for every cluster.
func TestUnknownAsksLittle(t *testing.T) {
	spec := v1alpha1.BundleSpec{Instances: make([]v1alpha1.Instance, 3)}
	clusters := make([]fleet.Cluster, 10_000)
	if n := testing.AllocsPerRun(10, func() { Unknown(spec, clusters) }); n > 10 {
		t.Errorf("%.0f allocations", n)
	}
}
