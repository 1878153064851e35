package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// shopEvents are the events of an example of the documentation, up to the failure in wave 2.
func shopEvents() []fleetplan.Event {
	at := noon
	var list []fleetplan.Event
	add := func(after time.Duration, e fleetplan.Event) {
		at = at.Add(after)
		e.V, e.Time, e.Rollout = diag.DocumentVersion, at, "7K2M"
		list = append(list, e)
	}
	api := ref("Deployment", "api")
	pdb := ref("PodDisruptionBudget", "api")
	add(0, fleetplan.Event{Type: fleetplan.EventConnected, Cluster: "staging-eu", Status: "connected", Message: "https://10.9.0.1:6443"})
	add(0, fleetplan.Event{Type: fleetplan.EventConnected, Cluster: "edge-17", Status: "unreachable", Message: "dial tcp 10.9.0.17:6443: i/o timeout"})
	add(time.Second, fleetplan.Event{Type: fleetplan.EventRendered, Done: 6, Total: 48})
	add(0, fleetplan.Event{Type: fleetplan.EventObserved, Cluster: "staging-eu"})
	add(0, fleetplan.Event{Type: fleetplan.EventRollout, Bundle: "shop", Total: 12})
	wave := func(n int, name string) { add(0, fleetplan.Event{Type: fleetplan.EventWave, Wave: n, Message: name}) }
	one := func(n int, name string, d time.Duration) {
		add(0, fleetplan.Event{Type: fleetplan.EventClusterStart, Wave: n, Cluster: name, Total: 2})
		add(0, fleetplan.Event{Type: fleetplan.EventWritten, Wave: n, Cluster: name, Object: &pdb, Action: plan.Create, Done: 1, Total: 2})
		add(0, fleetplan.Event{Type: fleetplan.EventWritten, Wave: n, Cluster: name, Object: &api, Action: plan.Update, Done: 2, Total: 2})
		add(0, fleetplan.Event{Type: fleetplan.EventWaiting, Wave: n, Cluster: name, Object: &api, Message: "2 of 3 pods ready"})
		add(d, fleetplan.Event{Type: fleetplan.EventReady, Wave: n, Cluster: name, Object: &api})
		add(0, fleetplan.Event{Type: fleetplan.EventClusterEnd, Wave: n, Cluster: name, Status: "succeeded", Counts: &plan.Counts{Create: 1, Update: 1, Unchanged: 32}})
	}
	wave(1, "staging")
	one(1, "staging-eu", 19*time.Second)
	one(1, "staging-us", 22*time.Second)
	wave(2, "production")
	one(2, "production-eu-1", 38*time.Second)
	add(0, fleetplan.Event{Type: fleetplan.EventSoak, Wave: 2, Until: at.Add(2 * time.Minute), Message: "soaking after the canary"})
	at = at.Add(2 * time.Minute)
	for _, c := range []string{"production-eu-2", "production-eu-4", "production-us-1"} {
		add(0, fleetplan.Event{Type: fleetplan.EventClusterStart, Wave: 2, Cluster: c, Total: 5})
	}
	add(time.Second, fleetplan.Event{Type: fleetplan.EventWritten, Wave: 2, Cluster: "production-eu-4", Object: &api, Action: plan.Update, Done: 3, Total: 5})
	for _, c := range []string{"production-eu-2", "production-us-1"} {
		add(0, fleetplan.Event{Type: fleetplan.EventWritten, Wave: 2, Cluster: c, Object: &api, Action: plan.Update, Done: 5, Total: 5})
		add(0, fleetplan.Event{Type: fleetplan.EventWaiting, Wave: 2, Cluster: c, Object: &api, Message: "2 of 3 pods ready"})
	}
	add(30*time.Second, fleetplan.Event{Type: fleetplan.EventObjectFailed, Wave: 2, Cluster: "production-us-1", Object: &api,
		Message: "0/3 ImagePullBackOff: registry.example.com/api:2.4.1:\nnot found"})
	add(0, fleetplan.Event{Type: fleetplan.EventClusterEnd, Wave: 2, Cluster: "production-us-1", Status: "failed", Message: "api not ready",
		Counts: &plan.Counts{Create: 1, Update: 4}})
	add(0, fleetplan.Event{Type: fleetplan.EventStop, Wave: 2, Message: "production-us-1 failed", Done: 2})
	add(0, fleetplan.Event{Type: fleetplan.EventNotice, Cluster: "production-eu-2", Message: "took over the expired lock of ada"})
	return append(list, fleetplan.Event{V: diag.DocumentVersion, Time: at, Type: fleetplan.EventSummary, Rollout: "7K2M", Summary: failedOutcome()})
}

// TestWaitingForHooks: of what is waited for the lines and the live view say that it is a hook, or a test.
func TestWaitingForHooks(t *testing.T) {
	smoke := ref("Pod", "smoke")
	e := fleetplan.Event{Type: fleetplan.EventWaiting, Wave: 1, Cluster: "eu", Object: &smoke, Hook: object.Test, Message: "its phase is Running"}
	if got, want := PlainLine(e), "00:00:00 wave=1 cluster=eu waiting Pod/shop/smoke its phase is Running (test hook)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v := view{clusters: map[string]*track{}}
	v.take(fleetplan.Event{Type: fleetplan.EventRollout, Total: 1, Time: time.Unix(1, 0)})
	v.take(e)
	if got := strings.Join(v.lines(time.Unix(2, 0), 20, false), "\n"); !strings.Contains(got, "Pod shop/smoke its phase is Running (test hook)") {
		t.Errorf("the live view says %q", got)
	}
}

func TestPlain(t *testing.T) {
	var b bytes.Buffer
	write := NewPlain(&b)
	for _, e := range shopEvents() {
		write(e)
	}
	golden(t, "progress/plain.txt", b.String())
	for _, l := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if _, err := time.Parse("15:04:05", l[:8]); err != nil {
			t.Errorf("line without time: %q", l)
		}
	}
}

// screen is a terminal as far as the live view uses one.
type screen struct {
	rows     [][]rune
	row, col int
	writes   int
}

func (s *screen) Write(p []byte) (int, error) {
	s.writes++
	text := []rune(string(p))
	for i := 0; i < len(text); i++ {
		for s.row >= len(s.rows) {
			s.rows = append(s.rows, nil)
		}
		switch r := text[i]; r {
		case '\n':
			s.row, s.col = s.row+1, 0
		case '\r':
			s.col = 0
		case 0x1b:
			j := i + 2
			for text[j] < '@' {
				j++
			}
			n, _ := strconv.Atoi(string(text[i+2 : j]))
			switch text[j] {
			case 'A':
				s.row -= n
			case 'K':
				s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
			case 'J':
				s.rows = append(s.rows[:s.row], s.rows[s.row][:min(s.col, len(s.rows[s.row]))])
			}
			i = j
		default:
			for s.col >= len(s.rows[s.row]) {
				s.rows[s.row] = append(s.rows[s.row], ' ')
			}
			s.rows[s.row][s.col] = r
			s.col++
		}
	}
	return len(p), nil
}

func (s *screen) String() string {
	var b strings.Builder
	for _, r := range s.rows {
		b.WriteString(strings.TrimRight(string(r), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// TestLive plays the example on a screen and looks at it at chosen moments.
func TestLive(t *testing.T) {
	for name, st := range map[string]Style{"unicode": {Unicode: true}, "ascii": {}} {
		now := noon
		scr := &screen{}
		l := newLive(scr, st, func() (int, int) { return 100, 30 }, func() time.Time { return now })
		l.Expect(shopPlan())
		var shots strings.Builder
		shoot := func(title string) { fmt.Fprintf(&shots, "=== %s\n%s", title, scr) }
		events := shopEvents()
		for i, e := range events {
			now = e.Time
			l.Event(e)
			l.tick()
			switch {
			case e.Type == fleetplan.EventObserved:
				shoot("planning")
			case e.Type == fleetplan.EventWaiting && e.Cluster == "staging-us":
				now = now.Add(3 * time.Second)
				l.tick()
				shoot("wave 1")
			case e.Type == fleetplan.EventSoak:
				now = now.Add(30 * time.Second)
				l.tick()
				shoot("soaking")
			case i == len(events)-2:
				l.Say("finishing 2 in flight; again to quit now")
				l.tick()
				shoot("stopping, interrupted")
			}
		}
		if n := l.view.running(); n != 2 {
			t.Errorf("%d in flight", n)
		}
		l.Close()
		shoot("closed")
		golden(t, "progress/live."+name+".txt", shots.String())
	}
}

// TestLiveResize: after the terminal became narrower, the block is still overwritten wholly.
func TestLiveResize(t *testing.T) {
	now, cols := noon, 100
	scr := &bytes.Buffer{}
	l := newLive(scr, Style{}, func() (int, int) { return cols, 30 }, func() time.Time { return now })
	for _, e := range shopEvents()[:9] {
		l.Event(e)
	}
	l.tick()
	long := l.canvas.lines
	scr.Reset()
	cols, now = 30, now.Add(time.Second)
	l.tick()
	rows := 0
	for _, ln := range long {
		rows += 1 + (width(ln)-1)/30
	}
	if want := fmt.Sprintf("\x1b[%dA\r", rows); !strings.HasPrefix(scr.String(), want) {
		t.Errorf("%q does not begin with %q", scr.String(), want)
	}
	for _, ln := range l.canvas.lines {
		if width(ln) > 29 {
			t.Errorf("%d columns: %q", width(ln), ln)
		}
	}
}

// TestLiveQuiet: a frame that shows nothing new is not written, and one frame is one write.
func TestLiveQuiet(t *testing.T) {
	now := noon
	scr := &screen{}
	l := newLive(scr, Style{}, func() (int, int) { return 80, 24 }, func() time.Time { return now })
	l.Event(shopEvents()[0])
	l.tick()
	l.dirty = true
	l.tick()
	l.tick()
	if scr.writes != 1 {
		t.Errorf("%d writes", scr.writes)
	}
	l.Event(fleetplan.Event{Type: fleetplan.EventNotice, Time: noon, Message: "a line above"})
	l.tick()
	if got := scr.String(); !strings.HasPrefix(got, "12:00:00 notice a line above\nPlanning: 1 connected") {
		t.Errorf("screen is %q", got)
	}
}

// TestLiveMany: a small terminal is never overfilled, however many clusters are active.
func TestLiveMany(t *testing.T) {
	v := view{clusters: map[string]*track{}}
	v.take(fleetplan.Event{Type: fleetplan.EventRollout, Time: noon, Total: 500})
	for i := range 500 {
		o := object.Ref{Kind: "ConfigMap", Name: "x"}
		v.take(fleetplan.Event{Type: fleetplan.EventWritten, Time: noon, Cluster: fmt.Sprint("c", i), Object: &o, Done: 1, Total: 2})
	}
	for _, rows := range []int{5, 10, 24, 0} {
		lines := v.lines(noon, rows, false)
		if rows > 0 && len(lines) > rows-1 || len(lines) > 20 {
			t.Errorf("%d lines in %d rows", len(lines), rows)
		}
		if !strings.Contains(strings.Join(lines, "\n"), "500 running") {
			t.Errorf("%d rows: the counts are missing:\n%s", rows, strings.Join(lines, "\n"))
		}
	}
}

// TestLiveConcurrent: events from many goroutines at once are all counted, and what is painted last says so. The race
// detector watches it too.
func TestLiveConcurrent(t *testing.T) {
	const clusters = 40
	scr := &screen{}
	l := NewLive(scr, Style{}, func() (int, int) { return 80, 24 })
	l.Event(fleetplan.Event{Type: fleetplan.EventRollout, Time: noon, Total: clusters})
	l.Event(fleetplan.Event{Type: fleetplan.EventWave, Time: noon, Wave: 1, Message: "all"})
	var sent sync.WaitGroup
	for i := range clusters {
		sent.Go(func() {
			name := fmt.Sprint("c", i)
			l.Event(fleetplan.Event{Type: fleetplan.EventClusterStart, Time: noon, Wave: 1, Cluster: name, Total: 1})
			l.Event(fleetplan.Event{Type: fleetplan.EventNotice, Message: "a line of " + name})
			l.Event(fleetplan.Event{Type: fleetplan.EventClusterEnd, Time: noon, Wave: 1, Cluster: name, Status: "succeeded", Counts: &plan.Counts{Create: 1}})
		})
	}
	sent.Wait()
	if n := l.view.running(); n != 0 {
		t.Errorf("%d clusters are in flight after all have ended", n)
	}
	l.Close()
	l.Close()
	got := scr.String()
	for i := range clusters {
		if line := fmt.Sprintf("a line of c%d\n", i); !strings.Contains(got, line) {
			t.Errorf("%q is missing", line)
		}
	}
	if want := fmt.Sprintf("%d/%d", clusters, clusters); !strings.Contains(got, want) {
		t.Errorf("%s is not on the screen:\n%s", want, got)
	}
}
