package isolate

import (
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/health"
)

// TestChecksOfOneCluster: rules that ended children for a cluster are refused there alone, and after two of them all are; on other clusters
// each is asked. What a record calls built in is asked here only where it is in CEL.
func TestChecksOfOneCluster(t *testing.T) {
	p := pool(t, func(o *Options) { o.Limits.Deadline = time.Second })
	c := p.Checker(doubleChecker{})
	check := func(cluster, name, source string) error {
		_, _, err := c.Check(health.Check{Name: name, Source: source, Cluster: cluster}, nil)
		return err
	}
	for _, source := range []string{"one", "two"} {
		if err := check("hostile", "given up", source); err == nil || err.Error() != "given up" {
			t.Fatal(err)
		}
	}
	if err := check("hostile", "ok", "module"); err == nil || !strings.Contains(err.Error(), "2 others were given up on this cluster") {
		t.Error(err)
	}
	for _, source := range []string{"module", "one"} {
		if err := check("honest", "ok", source); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := c.Check(health.Check{Name: "loop", Source: "loop", Cluster: "c", Layer: health.BuiltIn}, nil); err == nil || !strings.Contains(err.Error(), "evaluation takes longer than 1s") {
		t.Error(err)
	}
}
