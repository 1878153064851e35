package isolate

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
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
	if _, _, err := c.Check(health.Check{Name: "loop", Source: "loop", Cluster: "c", Layer: health.BuiltIn}, nil); err == nil || !strings.Contains(err.Error(), "evaluation takes longer than 1s") && !strings.Contains(err.Error(), "evaluation takes more than") {
		t.Error(err) // its processor time may be over first, where nothing else runs
	}
}

// TestSlowChecksOfOneCluster: what a rule takes for a cluster's objects is counted in all children together, whether they fit or not; after a
// few objects' time it is refused there alone, and other clusters are not made to wait. Each child knows whose object it judges.
func TestSlowChecksOfOneCluster(t *testing.T) {
	p := pool(t, func(o *Options) { o.CheckTime, o.Most = 400*time.Millisecond, 4 })
	c := p.Checker(doubleChecker{})
	for _, name := range []string{"slow", "slowly wrong"} {
		rule := health.Check{Name: name, Source: name, Cluster: "hostile"}
		var asked, refused atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 30 {
					switch _, _, err := c.Check(rule, nil); {
					case err == nil || err.Error() == "does not fit":
						asked.Add(1)
					case strings.Contains(err.Error(), "it took longer than 1.2s for some objects together"):
						refused.Add(1)
					default:
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if asked.Load() > 20 || refused.Load() == 0 {
			t.Errorf("%s: %d were judged, %d refused", name, asked.Load(), refused.Load())
		}
		rule.Cluster = "honest"
		if _, _, err := c.Check(rule, nil); err != nil && err.Error() != "does not fit" {
			t.Error(err)
		}
	}
	for _, cluster := range []string{"hostile", "honest"} {
		if st, _, err := c.Check(health.Check{Name: "cluster", Source: "cluster", Cluster: cluster}, nil); err != nil || st.Reason != cluster {
			t.Errorf("%v %v", st, err)
		}
	}
}

// slowly is a verdict that takes some time, or has what the child was told, where the rule is called so.
func slowly(rule health.Check, st health.Status) (health.Status, bool, error) {
	switch rule.Name {
	case "slow":
		time.Sleep(100 * time.Millisecond)
	case "slowly wrong":
		time.Sleep(100 * time.Millisecond)
		return health.Status{}, true, errors.New("does not fit")
	case "cluster":
		st.Reason = rule.Cluster
	}
	return st, true, nil
}
