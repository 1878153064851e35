package report

import (
	"io"
	"sync"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/fleetplan"
)

// repaintEvery bounds the live view to ten repaints a second.
const repaintEvery = 100 * time.Millisecond

// Live is the view of a run on a terminal: a block of lines that is repainted in place, with log lines above it. Its
// methods may be called from several goroutines.
type Live struct {
	mu     sync.Mutex
	said   io.Writer // that masks what is said
	canvas canvas
	view   view
	now    func() time.Time
	size   func() (cols, rows int)
	dirty  bool
	last   time.Time
	stop   chan struct{}
	ended  broke.Group
	once   sync.Once
}

// NewLive begins a live view; size gives the terminal's columns and rows whenever it is repainted, so that a resized
// terminal is followed. Close ends it.
func NewLive(w io.Writer, st Style, size func() (cols, rows int)) *Live {
	l := newLive(w, st, size, time.Now)
	l.ended.Go(func() {
		t := time.NewTicker(repaintEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				l.tick()
			case <-l.stop:
				return
			}
		}
	})
	return l
}

func newLive(w io.Writer, st Style, size func() (int, int), now func() time.Time) *Live {
	to, _ := masked(w, struct{}{})
	return &Live{said: w, canvas: canvas{w: to}, view: view{st: st, clusters: map[string]*track{}}, now: now, size: size, stop: make(chan struct{})}
}

// Expect tells how many clusters every wave has and which are canaries; without it the view counts what it sees.
func (l *Live) Expect(p *fleetplan.FleetPlan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view.schedule, l.dirty = p.Schedule, true
}

// Event takes in one event; it is shown with the next repaint.
func (l *Live) Event(e fleetplan.Event) {
	_, e = masked(l.said, e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Type == fleetplan.EventNotice {
		l.log(PlainLine(e))
		return
	}
	l.view.take(e)
	l.dirty = true
}

// log prints a line above the block, where it stays.
func (l *Live) log(line string) {
	l.canvas.clear(l.cols())
	l.canvas.print(line)
	l.dirty = true
}

// Say shows a message at the end of the block until the view ends: "finishing 3 in flight; again to quit now".
func (l *Live) Say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.view.said, l.dirty = text, true
}

// Close paints what stays (waves and failures) and ends the view.
func (l *Live) Close() {
	l.once.Do(func() {
		close(l.stop)
		l.ended.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		cols, rows := l.size()
		l.view.cols = cols
		l.canvas.paint(l.view.lines(l.now(), rows, true), cols)
		l.canvas.lines = nil
	})
}

func (l *Live) cols() int {
	cols, _ := l.size()
	return cols
}

// tick repaints when something happened, and every second for the clock.
func (l *Live) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if !l.dirty && now.Sub(l.last) < time.Second {
		return
	}
	cols, rows := l.size()
	l.view.cols = cols
	l.canvas.paint(l.view.lines(now, rows, false), cols)
	l.dirty, l.last = false, now
}
