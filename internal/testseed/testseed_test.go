package testseed

import (
	"fmt"
	"testing"
)

// failing is a test that goes on after it failed, and keeps what is said.
type failing struct {
	testing.TB
	failed, ended bool
	said          string
	after         []func()
}

func (f *failing) Helper()                       {}
func (f *failing) Failed() bool                  { return f.failed }
func (f *failing) Cleanup(do func())             { f.after = append(f.after, do) }
func (f *failing) Logf(text string, args ...any) { f.said += fmt.Sprintf(text, args...) }
func (f *failing) Fatalf(text string, args ...any) {
	f.ended = true
	f.Logf(text, args...)
}

// TestFrom: the seed is the one that somebody chose; a test that fails says it, one that passes says nothing, and what is no seed ends the test.
func TestFrom(t *testing.T) {
	for _, c := range []struct {
		set    string
		failed bool
		seed   uint64
		said   string
		ended  bool
	}{
		{"", false, 0, "", false}, {"", true, 0, "again: HAWSER_TEST_SEED=0", false}, {"41", false, 41, "", false}, {"41", true, 41, "again: HAWSER_TEST_SEED=41", false},
		{"x", false, 0, `HAWSER_TEST_SEED: strconv.ParseUint: parsing "x": invalid syntax`, true},
	} {
		t.Setenv(Variable, c.set)
		f := &failing{TB: t, failed: c.failed}
		got := From(f)
		for _, do := range f.after {
			do()
		}
		if got != c.seed || f.said != c.said || f.ended != c.ended {
			t.Errorf("%q, failed %t: %d, %q, ended %t", c.set, c.failed, got, f.said, f.ended)
		}
	}
}

// TestDeaths: some points of death, all, or every Nth.
func TestDeaths(t *testing.T) {
	for _, c := range []struct {
		asked       string
		step, first int
		ended       bool
	}{{"", 7, 0, false}, {"all", 1, 0, false}, {"6+5", 6, 5, false}, {"6+6", 0, 0, true}, {"0+0", 0, 0, true}, {"x", 0, 0, true}} {
		t.Setenv(DeathsVariable, c.asked)
		f := &failing{TB: t}
		if step, first := Deaths(f, 7); f.ended != c.ended || !c.ended && (step != c.step || first != c.first) {
			t.Errorf("%q: %d+%d, ended %t", c.asked, step, first, f.ended)
		}
	}
}
