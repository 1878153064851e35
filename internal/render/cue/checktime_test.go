package cue

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
)

// TestSlowChecksEnd: a check that is slow for each of many objects takes no longer for all of them together than a few are given.
func TestSlowChecksEnd(t *testing.T) {
	r := New(Options{Redact: func(s string) string { return s }, CheckTime: 400 * time.Millisecond})
	one := health.Check{Name: "x", Source: "slow"}
	asked := 0
	evaluate := func() (health.Status, error) {
		asked++
		time.Sleep(100 * time.Millisecond)
		return health.Status{State: health.Ready}, nil
	}
	var err error
	for range 100 {
		if _, err = r.bounded(one, nil, evaluate); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "is not evaluated") || asked > 15 {
		t.Errorf("%v after %d", err, asked)
	}
	for range 20 { // what is not slow goes on
		if _, err := r.bounded(health.Check{Name: "y", Source: "quick"}, nil, func() (health.Status, error) { return health.Status{}, nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckIsBounded: a check that multiplies fails by itself, for its object alone, once for all objects; the watchdog that ends the
// process is not asked, and other checks go on.
func TestCheckIsBounded(t *testing.T) {
	watch := cuelang.Watch(cuelang.WatchLimits{Deadline: 200 * time.Millisecond}, func(f diag.Finding) { t.Errorf("the process ends: %s", f) })
	r := New(Options{Redact: func(s string) string { return s }, Watch: watch, CheckTime: 500 * time.Millisecond})
	obj := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}}
	check := func(source string) (health.Status, error) {
		st, applies, err := r.Check(health.Check{Name: "x", Group: "example.com", Source: source}, obj)
		if !applies {
			t.Fatal("it does not apply")
		}
		return st, err
	}
	slow := "import \"list\"\n#object: _\nn: list.Range(0, 150, 1)\ncurrent: len([for a in n for b in n for c in n if a+b+c == 1 {a}]) > 3\n"
	for _, want := range []string{"was given up", "is not evaluated"} {
		start := time.Now()
		if _, err := check(slow); err == nil || !strings.Contains(err.Error(), want) || time.Since(start) > 20*time.Second {
			t.Errorf("%v after %s, want %q", err, time.Since(start), want)
		}
	}
	if st, err := check("#object: _\ncurrent: #object.metadata.name == \"a\"\n"); err != nil || st.State != health.Ready {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := check(strings.Repeat("// long\n", maxCheck/8+1) + "current: true"); err == nil || !strings.Contains(err.Error(), "KiB") {
		t.Errorf("%v", err)
	}
}

// elsewhere judges in another process.
type elsewhere struct{ asked atomic.Int32 }

func (e *elsewhere) Vet(health.Check) error { return nil }

func (e *elsewhere) Check(health.Check, map[string]any) (health.Status, bool, error) {
	e.asked.Add(1)
	return health.Status{State: health.Ready}, true, nil
}

// TestEndlessChecksOfOneCluster: checks that never end, in the records of a cluster, are a matter of that cluster: those of others are
// judged, in this process until too many go on in it, and then in another one. No more go on than there are slots, however many clusters
// have such records.
func TestEndlessChecksOfOneCluster(t *testing.T) {
	there := &elsewhere{}
	r := New(Options{Redact: func(s string) string { return s }, CheckTime: 200 * time.Millisecond, Beyond: func() health.Checker { return there }})
	end := make(chan struct{})
	var going atomic.Int32
	endless := func() (health.Status, error) {
		going.Add(1)
		defer going.Add(-1)
		<-end
		return health.Status{}, nil
	}
	ready := func() (health.Status, error) { return health.Status{State: health.Ready}, nil }
	honest := func(when string, elsewhere int32) {
		t.Helper()
		before := there.asked.Load()
		for i := range 3 {
			c := health.Check{Name: "up", Source: "module", Cluster: fmt.Sprint("honest", i)}
			if st, err := r.bounded(c, nil, ready); err != nil || st.State != health.Ready {
				t.Errorf("%s: %+v, %v", when, st, err)
			}
		}
		if got := there.asked.Load() - before; got != elsewhere {
			t.Errorf("%s: %d judged elsewhere", when, got)
		}
	}
	hostile := func(cluster, check int) error {
		name := fmt.Sprint("endless", cluster, check)
		_, err := r.bounded(health.Check{Name: name, Source: name, Cluster: fmt.Sprint("hostile", cluster)}, nil, endless)
		return err
	}
	for n := range 4 {
		if err := hostile(0, n); err == nil {
			t.Error("it ended")
		}
	}
	if n := going.Load(); n != 2 {
		t.Errorf("%d checks of one cluster go on", n)
	}
	honest("after one hostile cluster", 0)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() { _ = hostile(1+i, 0) })
	}
	all.Wait()
	if n := going.Load(); n > mostBehind+int32(runtime.GOMAXPROCS(0)) {
		t.Errorf("%d go on", n)
	}
	honest("after fifty", 3)
	if !r.GoesOn() {
		t.Error("nothing goes on")
	}
	close(end)
	for deadline := time.Now().Add(20 * time.Second); r.GoesOn() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if r.GoesOn() || len(r.behind.slots) > 0 {
		t.Error("slots are kept")
	}
}

// TestChecksOfRecordsAreJudgedElsewhere: a check that a record holds is evaluated in another process, where there are any, and one of the
// bundle's own module in this one.
func TestChecksOfRecordsAreJudgedElsewhere(t *testing.T) {
	there := &elsewhere{}
	obj := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}}
	c := health.Check{Name: "up", Group: "example.com", Source: "#object: _\ncurrent: #object.metadata.name == \"a\"\n", Cluster: "c"}
	for _, beyond := range []func() health.Checker{func() health.Checker { return there }, nil} {
		r := New(Options{Beyond: beyond})
		for _, c.Recorded = range []bool{false, true} {
			before := there.asked.Load()
			st, applies, err := r.Check(c, obj)
			if err != nil || !applies || st.State != health.Ready {
				t.Errorf("%+v, %v, %v", st, applies, err)
			}
			if got := there.asked.Load() > before; got != (c.Recorded && beyond != nil) {
				t.Errorf("recorded %v, other processes %v: judged there %v", c.Recorded, beyond != nil, got)
			}
		}
		if _, applies, err := r.Check(c, map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}); applies || err != nil || there.asked.Load() > 1 {
			t.Error("it does not apply, and was asked")
		}
	}
}
