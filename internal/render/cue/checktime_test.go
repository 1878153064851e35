package cue

import (
	"strings"
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
		if _, err = r.bounded(one, evaluate); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "is not evaluated") || asked > 15 {
		t.Errorf("%v after %d", err, asked)
	}
	for range 20 { // what is not slow goes on
		if _, err := r.bounded(health.Check{Name: "y", Source: "quick"}, func() (health.Status, error) { return health.Status{}, nil }); err != nil {
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
