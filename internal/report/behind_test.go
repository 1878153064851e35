package report

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
)

// TestStatusSaysWhoIsBehind: at every width a cluster is said to be behind another one, with the versions that it has, and with -v the commit.
func TestStatusSaysWhoIsBehind(t *testing.T) {
	in := []fleetplan.InstanceStatus{{Instance: "api", Source: "helm api 2.3.0", State: "ready"}}
	r := &fleetplan.StatusReport{Bundle: "shop", Clusters: []fleetplan.ClusterStatus{{Cluster: "us", Bundle: "shop", Revision: 4, Release: 44, SourceDigest: "d", Instances: in},
		{Cluster: "eu", Bundle: "shop", Revision: 3, Release: 42, SourceDigest: "b", Commit: "0123456789abcdef", Instances: in}}}
	r.MarkSkipped()
	for _, st := range []Style{wideStyle, narrowStyle} {
		st.Verbose = 1
		got := text(t, func(b *bytes.Buffer) error { return Status(b, r, st) })
		for _, want := range []string{"2 releases behind us", "helm api 2.3.0", "from commit 01234567"} {
			if strings.Count(got, "behind") != 1 || !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
	}
}
