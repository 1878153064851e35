package passes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/passes"
	"hawser.dev/hawser/internal/rollout"
)

var epoch = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) // a Monday

// hands are Steps with a clock of their own that only a test moves.
type hands struct {
	mu       sync.Mutex
	now      time.Time
	did      []string
	fails    map[string]bool
	approved bool
	hold     chan struct{}
	stop     chan struct{} // closed when the first cluster fails
	// waits is how often a cluster waits, and how long; wakes are how the last visits are woken.
	waits map[string][]time.Duration
	wakes map[string]func()
	// hastens wakes a cluster while it is being visited.
	hastens bool
}

// wait is what a visit of a cluster waits for, if anything.
func (h *hands) wait(ctx context.Context, cluster string, wake func()) *rollout.Part {
	h.mu.Lock()
	defer h.mu.Unlock()
	left := h.waits[cluster]
	if len(left) == 0 || ctx.Err() != nil {
		return nil
	}
	h.did = append(h.did, "visit "+cluster)
	if h.wakes == nil {
		h.wakes = map[string]func(){}
	}
	h.waits[cluster], h.wakes[cluster] = left[1:], wake
	if h.hastens {
		wake()
	}
	return &rollout.Part{Since: h.now, Wake: h.now.Add(left[0]), Why: "Deployment/web"}
}

func (h *hand) Leave(waits rollout.Part) *fleetplan.ClusterOutcome {
	h.note("leave %s", h.cluster)
	return &fleetplan.ClusterOutcome{Cluster: h.cluster, Wave: h.wave, Result: fleetplan.Interrupted, Reason: waits.Why}
}

func (h *hands) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, fmt.Sprintf(format, args...))
}

func (h *hands) Part(cluster string, wave int, wake func()) passes.Part {
	return &hand{h, cluster, wave, wake}
}

// hand is the part of one cluster.
type hand struct {
	*hands
	cluster string
	wave    int
	wake    func()
}

func (h *hand) Visit(ctx context.Context) (*fleetplan.ClusterOutcome, *rollout.Part) {
	cluster, wave := h.cluster, h.wave
	if waits := h.wait(ctx, cluster, h.wake); waits != nil {
		return nil, waits
	}
	h.note("start %s", cluster)
	if h.hold != nil {
		<-h.hold
	}
	if h.fails[cluster] && h.stop != nil {
		close(h.stop)
	}
	row := &fleetplan.ClusterOutcome{Cluster: cluster, Wave: wave, Result: fleetplan.Succeeded}
	if h.fails[cluster] {
		row.Result = fleetplan.Failed
	}
	return row, nil
}

func (h *hands) Check(_ context.Context, before fleetplan.ClusterOutcome, _ int) *fleetplan.ClusterOutcome {
	h.note("check %s", before.Cluster)
	switch {
	case h.fails["soak of "+before.Cluster]:
		before.Result = fleetplan.Failed
	case h.fails["look at "+before.Cluster]:
		before.NotSoaked(nil, diag.Findings{diag.Errorf("x", "forbidden")}, strings.TrimSpace)
	case h.fails["another run on "+before.Cluster]:
		before.Result, before.Reason = fleetplan.Failed, fleetplan.ChangedInSoak
	}
	return &before
}

func (h *hands) Finished(string) time.Time              { return time.Time{} }
func (h *hands) Ask(_ context.Context, w *rollout.Wait) { h.note("ask %d", w.Wave) }
func (h *hands) clock() time.Time                       { return h.now }
func (h *hands) emit(ev fleetplan.Event)                { h.note("%s %d %s", ev.Type, ev.Wave, ev.Message) }
func (h *hands) Heed(_ context.Context, s rollout.Schedule) rollout.Schedule {
	h.note("heed")
	return rollout.Approve(s, func(string) bool { return h.approved })
}

func under(h *hands, waves []rollout.WaveSpec, members ...rollout.Member) *passes.Rollout {
	return &passes.Rollout{Steps: h, Emit: h.emit, Clock: h.clock, Schedule: rollout.Schedule{Waves: waves, Members: members}, Out: &fleetplan.Outcome{Rollout: "R"},
		Rows: map[string]*fleetplan.ClusterOutcome{}}
}

// Passes end at soaks, windows and approvals, say what for and until when, and go on from there.
func TestPasses(t *testing.T) {
	t.Parallel()
	h := &hands{now: epoch}
	r := under(h, []rollout.WaveSpec{{Name: "canary", Soak: time.Minute}, {Name: "late", Window: &rollout.Window{From: "14:00", To: "16:00"}}, {Name: "prod", Approval: true}},
		rollout.Member{Cluster: "a", Wave: 1}, rollout.Member{Cluster: "b", Wave: 2}, rollout.Member{Cluster: "c", Wave: 3})
	var got []string
	step := func(what string) {
		t.Helper()
		h.did = nil
		w := r.Pass(t.Context(), nil)
		line := what + ": " + strings.Join(h.did, ", ")
		if w != nil {
			line += fmt.Sprintf(" -> %s of wave %d since %s wake %s for %s: %s", w.On, w.Wave, w.Since.Format("15:04"), w.Wake.Format("15:04"), strings.Join(w.Clusters, " "), w.Why)
		}
		got = append(got, line)
	}
	step("begin")
	step("too early")
	h.now = epoch.Add(time.Minute)
	step("soaked")
	h.now = epoch.Add(2 * time.Hour)
	step("opens")
	step("nobody approved")
	h.approved = true
	step("approved")
	want := []string{
		"begin: wave 1 canary, start a, soak 1 soaking after the wave -> soak of wave 1 since 12:00 wake 12:01 for a: wave 1 (canary) soaks until 2026-11-02T12:01:00Z",
		"too early: soak 1 soaking after the wave -> soak of wave 1 since 12:00 wake 12:01 for a: wave 1 (canary) soaks until 2026-11-02T12:01:00Z",
		"soaked: check a, ask 2 -> window of wave 2 since 12:01 wake 14:00 for b: the window of wave 2 (late) opens Mon 2026-11-02 14:00 UTC",
		"opens: wave 2 late, start b, ask 3 -> approval of wave 3 since 14:00 wake 00:00 for c: wave 3 (prod) waits for an approval",
		"nobody approved: heed, ask 3 -> approval of wave 3 since 14:00 wake 00:00 for c: wave 3 (prod) waits for an approval",
		"approved: heed, wave 3 prod, start c",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Out.Unapproved || r.Out.Opens != nil || r.Out.Stopped != "" || len(r.Rows) != 3 {
		t.Errorf("%+v, %d rows", r.Out, len(r.Rows))
	}
}

// A rollout that is ended while it waits says what for; one that is not there in its soak stops.
func TestStoppedWhileWaiting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec rollout.WaveSpec
		why  string
		ok   func(*fleetplan.Outcome) bool
	}{
		"window":   {rollout.WaveSpec{Window: &rollout.Window{From: "14:00", To: "16:00"}}, "later", func(o *fleetplan.Outcome) bool { return o.Opens != nil && !o.Unapproved }},
		"approval": {rollout.WaveSpec{Approval: true}, "later", func(o *fleetplan.Outcome) bool { return o.Opens == nil && o.Unapproved }},
	} {
		h := &hands{now: epoch}
		r := under(h, []rollout.WaveSpec{c.spec}, rollout.Member{Cluster: "a", Wave: 1})
		if w := r.Pass(t.Context(), nil); w == nil {
			t.Fatalf("%s: it does not wait", name)
		}
		r.Stop(c.why)
		if w := r.Pass(t.Context(), nil); w != nil || r.Out.Stopped != c.why || r.Out.StoppedWave != 1 || !c.ok(r.Out) || len(r.Rows) != 0 {
			t.Errorf("%s: %+v, %+v", name, w, r.Out)
		}
	}
}

// What is in flight ends when a pass is to stop, and nothing more starts; a pass that is cut short waits for it too.
func TestStopInFlight(t *testing.T) {
	t.Parallel()
	for _, cut := range []bool{false, true} {
		h := &hands{now: epoch, hold: make(chan struct{})}
		r := under(h, []rollout.WaveSpec{{MaxParallel: 1}}, rollout.Member{Cluster: "a", Wave: 1}, rollout.Member{Cluster: "b", Wave: 1})
		ctx, cancel := context.WithCancel(t.Context())
		stop, over := make(chan struct{}), make(chan *rollout.Wait)
		go func() { over <- r.Pass(ctx, stop) }()
		for begun := false; !begun; time.Sleep(time.Millisecond) {
			h.mu.Lock()
			begun = slices.Contains(h.did, "start a")
			h.mu.Unlock()
		}
		if cut {
			cancel()
		} else {
			close(stop)
		}
		select {
		case <-over:
			t.Fatal("it did not wait for what is in flight")
		case h.hold <- struct{}{}:
		}
		if w := <-over; w != nil || r.Rows["a"] == nil || r.Rows["b"] != nil {
			t.Errorf("cut %t: %+v %+v", cut, w, r.Rows)
		}
		cancel()
	}
}
