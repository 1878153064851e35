package report

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/release"
)

// TestStatusOfStoppedHooks: objects that are ready do not hide that the last run of their instance stopped at its hooks.
func TestStatusOfStoppedHooks(t *testing.T) {
	in := fleetplan.InstanceStatus{Instance: "web", State: "ready", Stopped: "its pre-upgrade hooks did not end well (Job shop/migrate)",
		Objects: []fleetplan.ObjectStatus{{Status: health.Status{State: health.Ready}}}}
	r := &fleetplan.StatusReport{V: diag.DocumentVersion, Bundle: "shop", Clusters: []fleetplan.ClusterStatus{{Cluster: "a", Bundle: "shop", Revision: 2, Phase: release.Failed, Instances: []fleetplan.InstanceStatus{in}}}}
	for _, width := range []int{60, 160} {
		var b bytes.Buffer
		if err := Status(&b, r, Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		if !strings.Contains(text, in.Stopped) || !strings.Contains(text, "the last run failed") {
			t.Errorf("%d: %s", width, b.String())
		}
	}
}
