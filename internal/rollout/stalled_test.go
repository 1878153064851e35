package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/rollout"
)

func TestHopeless(t *testing.T) {
	for _, c := range []struct {
		name, clusters, rules, down string
		until                       int
		want                        string
	}{
		{"all answer", "s:a p:b", "- {groups: [s]}\n- {groups: [p]}\n", "", 0, ""},
		{"one in a wave that may lose none", "s:a p:b", "- {groups: [s]}\n- {groups: [p]}\n", "b", 0, "2: b: wave 2 allows 0 failures"},
		{"one in a wave that may lose one", "s:a s:b s:c", "- {groups: [s], maxFailures: 1}\n", "b", 0, ""},
		{"two in a wave that may lose one", "s:a s:b s:c", "- {groups: [s], maxFailures: 1}\n", "b c", 0, "1: b, c: wave 1 allows 1 failure"},
		{"the canary of a wave that may lose one", "s:a p:b p:c", "- {groups: [s]}\n- {groups: [p], canary: 1, maxFailures: 1}\n", "b", 0, "2: b: b is a canary of wave 2"},
		{"two canaries, and another", "s:a s:b s:c", "- {groups: [s], canary: 2, maxFailures: 3}\n", "a b c", 0, "1: a, b, c: a, b are canaries of wave 1"},
		{"beside the canary", "p:b p:c", "- {groups: [p], canary: 1, maxFailures: 1}\n", "c", 0, ""},
		{"each wave by itself", "s:a p:b", "- {groups: [s]}\n- {groups: [p]}\n", "a b", 0, "1: a: wave 1 allows 0 failures; 2: b: wave 2 allows 0 failures"},
		{"after the last wave of the run", "s:a p:b", "- {groups: [s]}\n- {groups: [p]}\n", "b", 1, ""},
		{"one after another", "s:a s:b", "", "b", 0, "1: b: wave 1 allows 0 failures"},
	} {
		down := map[string]bool{}
		for _, name := range strings.Fields(c.down) {
			down[name] = true
		}
		sch, fs := rollout.NewSchedule(rules(t, c.rules), clusters(c.clusters), down)
		if len(fs) > 0 {
			t.Fatal(c.name, fs)
		}
		sch.UntilWave = c.until
		var got []string
		for _, h := range rollout.Stalled(sch) {
			got = append(got, fmt.Sprintf("%d: %s: %s", h.Wave, strings.Join(h.Missing, ", "), h.Why))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

// A rollout in which everything else ends well stops where Stalled says, and nowhere when it says nothing.
func TestHopelessIsWhereItStops(t *testing.T) {
	for _, sizes := range [][]int{{1}, {3}, {1, 2}, {2, 2}, {1, 0, 2}} {
		clusters := 0
		for _, n := range sizes {
			clusters += n
		}
		for rules := range 2 * 3 * 2 {
			w := rollout.WaveSpec{Canary: rules % 2, MaxParallel: rules / 2 % 3, MaxFailures: rules / 6}
			for down := range 1 << clusters {
				for _, sch := range []rollout.Schedule{build(sizes, w, down, false), rollout.Reversed(build(sizes, w, down, false)), build([]int{clusters}, rollout.WaveSpec{MaxParallel: 1}, down, true)} {
					want := 0
					if h := rollout.Stalled(sch); len(h) > 0 {
						want = h[0].Wave
					}
					if got := stopsIn(t, sch); got != want {
						t.Fatalf("it stops in wave %d, want %d: %s", got, want, encode(t, sch))
					}
				}
			}
		}
	}
}

// stopsIn is the wave in which a rollout stops whose clusters all end well if they answer, 0 when it does not stop.
func stopsIn(t *testing.T, sch rollout.Schedule) int {
	var st rollout.State
	var outcomes []rollout.Outcome
	for range 100 {
		next, d := rollout.Next(sch, st, outcomes, epoch)
		if st, outcomes = next, nil; d.Done {
			return st.StoppedWave
		}
		for _, name := range in(sch, st, rollout.Running) {
			outcomes = append(outcomes, rollout.Outcome{Cluster: name, OK: true, At: epoch.Add(-time.Second)})
		}
	}
	t.Fatal("it does not end", encode(t, sch))
	return 0
}
