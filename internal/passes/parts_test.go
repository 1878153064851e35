package passes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/rollout"
)

// said is what a pass did, and what is waited for after it.
func (h *hands) said(w *rollout.Wait) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.did) // what goes on at once
	line := strings.Join(h.did, ", ")
	h.did = nil
	if w != nil {
		line += fmt.Sprintf(" -> %s of wave %d since %s wake %s for %s: %s", w.On, w.Wave, w.Since.Format("15:04"), w.Wake.Format("15:04"), strings.Join(w.Clusters, " "), w.Why)
	}
	return line
}

// A pass ends when all parts that have begun wait, and says until when; the next one goes on with those that are due or were woken, and with no
// other. Only as many are begun as the wave allows, waiting ones among them.
func TestPartsThatWait(t *testing.T) {
	t.Parallel()
	h := &hands{now: epoch, waits: map[string][]time.Duration{"a": {time.Minute, 3 * time.Minute}, "b": {2 * time.Minute, time.Hour}, "c": {time.Minute}}}
	r := under(h, []rollout.WaveSpec{{MaxParallel: 2}}, rollout.Member{Cluster: "a", Wave: 1}, rollout.Member{Cluster: "b", Wave: 1}, rollout.Member{Cluster: "c", Wave: 1})
	var got []string
	pass := func() { got = append(got, h.said(r.Pass(t.Context(), nil))) }
	pass()
	pass() // nothing is due
	h.now = epoch.Add(time.Minute)
	pass()
	h.wakes["b"]()
	select {
	case <-r.Changed():
	case <-time.After(time.Minute):
		t.Fatal("nobody was told that b was woken")
	}
	pass()
	h.now = epoch.Add(4 * time.Minute)
	pass()
	h.wakes["b"]()
	h.wakes["c"]()
	pass()
	want := []string{
		"visit a, visit b, wave 1  -> objects of wave 1 since 12:00 wake 12:01 for a b: a: Deployment/web (and 1 more)",
		" -> objects of wave 1 since 12:00 wake 12:01 for a b: a: Deployment/web (and 1 more)",
		"visit a -> objects of wave 1 since 12:00 wake 12:02 for a b: a: Deployment/web (and 1 more)",
		"visit b -> objects of wave 1 since 12:01 wake 12:04 for a b: a: Deployment/web (and 1 more)",
		"start a, visit c -> objects of wave 1 since 12:01 wake 12:05 for b c: b: Deployment/web (and 1 more)",
		"start b, start c",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(r.Rows) != 3 || r.Out.Stopped != "" {
		t.Errorf("%+v", r.Rows)
	}
}

// A part that is woken while it is being visited is visited once more before the pass ends.
func TestPartWokenDuringItsVisit(t *testing.T) {
	t.Parallel()
	h := &hands{now: epoch, waits: map[string][]time.Duration{"a": {time.Hour}}, hastens: true}
	r := under(h, []rollout.WaveSpec{{}}, rollout.Member{Cluster: "a", Wave: 1})
	if w := r.Pass(t.Context(), nil); w != nil || r.Rows["a"] == nil {
		t.Errorf("%+v", w)
	}
}

// What waits tells how it ended when the run is to end, however that is said: each part is visited once more, and nothing more is begun. What
// still waits is left when the rollout is closed, and is no success.
func TestPartsOfARunThatEnds(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"stop", "stopped and waits", "cut", "cut between passes", "closed"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := &hands{now: epoch, waits: map[string][]time.Duration{"a": {time.Hour}}}
			if how == "stopped and waits" {
				h.waits["a"] = []time.Duration{time.Hour, time.Hour}
			}
			r := under(h, []rollout.WaveSpec{{MaxParallel: 1}}, rollout.Member{Cluster: "a", Wave: 1}, rollout.Member{Cluster: "b", Wave: 1})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop := make(chan struct{})
			if w := r.Pass(ctx, stop); w == nil {
				t.Fatal("it does not wait")
			}
			var w *rollout.Wait
			switch how {
			case "stop", "stopped and waits":
				close(stop)
				w = r.Pass(ctx, stop)
			case "cut", "cut between passes":
				cancel()
				w = r.Pass(ctx, stop)
			}
			if waits := how == "stopped and waits"; (w != nil) != waits {
				t.Errorf("it waits for %+v", w)
			}
			if err := r.End(); err != nil {
				t.Fatal(err)
			}
			row, left := r.Rows["a"], how == "stopped and waits" || how == "closed"
			if row == nil || (row.Result == fleetplan.Interrupted) != left || left && row.Reason != "Deployment/web" || r.Rows["b"] != nil {
				t.Errorf("%+v", r.Rows)
			}
		})
	}
}

// Nobody is asked again for an approval that has come, and the outcome does not tell of it any more, while what it let through is waited for.
func TestApprovedPartsThatWait(t *testing.T) {
	t.Parallel()
	h := &hands{now: epoch, waits: map[string][]time.Duration{"a": {time.Minute, time.Hour}}}
	r := under(h, []rollout.WaveSpec{{Approval: true}}, rollout.Member{Cluster: "a", Wave: 1})
	if w := r.Pass(t.Context(), nil); w == nil || w.On != rollout.ForApproval || !r.Out.Unapproved {
		t.Fatalf("%+v", w)
	}
	h.approved = true
	for range 3 {
		if w := r.Pass(t.Context(), nil); w == nil || w.On != rollout.ForObjects || r.Out.Unapproved {
			t.Errorf("%+v, %+v", w, r.Out)
		}
		h.now = h.now.Add(time.Minute)
	}
	if n := strings.Count(strings.Join(h.did, " "), "heed"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// What waits is in flight when a rollout stops, and is told so; a bell of parts that have ended wakes nobody in a soak.
func TestPartsThatWaitAreInFlight(t *testing.T) {
	t.Parallel()
	h := &hands{now: epoch, waits: map[string][]time.Duration{"a": {time.Minute}}, fails: map[string]bool{"b": true}}
	r := under(h, []rollout.WaveSpec{{}}, rollout.Member{Cluster: "a", Wave: 1}, rollout.Member{Cluster: "b", Wave: 1})
	inFlight := -1
	r.Emit = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventStop {
			inFlight = ev.Done
		}
	}
	for w := r.Pass(t.Context(), nil); w != nil; w = r.Pass(t.Context(), nil) {
		h.now = w.Wake
	}
	if inFlight != 1 {
		t.Errorf("%d in flight", inFlight)
	}
	h = &hands{now: epoch, waits: map[string][]time.Duration{"a": {time.Minute}}}
	r = under(h, []rollout.WaveSpec{{Soak: time.Hour}}, rollout.Member{Cluster: "a", Wave: 1})
	r.Pass(t.Context(), nil)
	h.wakes["a"]()
	if w := r.Pass(t.Context(), nil); w == nil || w.On != rollout.ForSoak {
		t.Fatalf("%+v", w)
	}
	h.wakes["a"]()
	r.Pass(t.Context(), nil)
	select {
	case <-r.Changed():
		t.Error("a soak was cut short")
	default:
	}
}
