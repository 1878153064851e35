package cuelang

import (
	"fmt"
	"maps"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/ceiling"
	"hawser.dev/hawser/internal/diag"
)

// watchInterval is how often a Watchdog looks while something is evaluated.
const watchInterval = 50 * time.Millisecond

// WatchLimits bound evaluations; a zero field sets no limit.
type WatchLimits struct {
	// Deadline is the longest one evaluation may take.
	Deadline time.Duration
	// HeapBytes is the size of live and not yet collected heap objects of the whole process.
	HeapBytes uint64
	// OwnBytes is by how much that may grow while one evaluation is under way.
	OwnBytes uint64
}

// Watchdog watches evaluations. A CUE evaluation cannot be cancelled: all that helps is to tell the user and end the
// process, which is what a caller's callback does. A nil Watchdog watches nothing.
type Watchdog struct {
	limit      WatchLimits
	onExceeded func(diag.Finding)

	mu      sync.Mutex
	next    int
	running map[int]evaluation
	ticking bool
	once    sync.Once
}

type evaluation struct {
	what  string
	since time.Time
	heap  uint64
	timed bool // it has a deadline
}

// Watch makes a Watchdog. onExceeded is called at most once, from a goroutine of the Watchdog, with the evaluation
// that runs longest; it is expected not to return in a command line.
func Watch(limit WatchLimits, onExceeded func(diag.Finding)) *Watchdog {
	return &Watchdog{limit: limit, onExceeded: onExceeded, running: map[int]evaluation{}}
}

// Enter says that what (an instance, a file) is evaluated from now on; leave ends it. Both may be called from any goroutine.
func (w *Watchdog) Enter(what string) (leave func()) { return w.enter(what, true) }

// EnterUntimed is Enter of what has a deadline of its own, after which somebody gives it up: its memory alone is watched.
func (w *Watchdog) EnterUntimed(what string) (leave func()) { return w.enter(what, false) }

func (w *Watchdog) enter(what string, timed bool) (leave func()) {
	if w == nil {
		return func() {}
	}
	lift := func() {}
	if own := w.limit.OwnBytes; own > 0 {
		lift = ceiling.Hold(own * 4) // counted is what is mapped, also what the collector has given back
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.next
	w.next++
	w.running[id] = evaluation{what: what, since: time.Now(), heap: w.heap(), timed: timed}
	if !w.ticking {
		w.ticking = true
		broke.Go(w.tick)
	}
	return func() {
		lift()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running, id)
	}
}

// tick looks until nothing is evaluated any more; the next Enter starts it again.
func (w *Watchdog) tick() {
	t := time.NewTicker(watchInterval)
	defer t.Stop()
	for now := range t.C {
		w.mu.Lock()
		if len(w.running) == 0 {
			w.ticking = false
			w.mu.Unlock()
			return
		}
		f, exceeded := w.look(now)
		w.mu.Unlock()
		if exceeded {
			w.once.Do(func() { w.onExceeded(f) })
		}
	}
}

// look is called with mu held.
func (w *Watchdog) look(at time.Time) (diag.Finding, bool) {
	var oldest, late evaluation
	for _, id := range slices.Sorted(maps.Keys(w.running)) {
		if e := w.running[id]; oldest.since.IsZero() || e.since.Before(oldest.since) {
			oldest = e
		}
		if e := w.running[id]; e.timed && (late.since.IsZero() || e.since.Before(late.since)) {
			late = e
		}
	}
	if d := w.limit.Deadline; d > 0 && late.timed && at.Sub(late.since) > d {
		f := diag.Errorf("evaluation-too-long", "%s: evaluation takes longer than %s", late.what, d)
		f.Fix = "look for comprehensions or disjunctions that multiply"
		return f, true
	}
	now, h := w.heap(), w.limit.HeapBytes
	if own := w.limit.OwnBytes; own > 0 && now > oldest.heap+own && (h == 0 || oldest.heap+own < h) {
		h = oldest.heap + own
	}
	if h > 0 && now > h {
		f := diag.Errorf("evaluation-too-large", "%s: evaluation needs more than %d MiB of memory", w.names(), h>>20)
		f.Fix = "look for comprehensions or disjunctions that multiply"
		return f, true
	}
	return diag.Finding{}, false
}

func (w *Watchdog) names() string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(w.running)) {
		out = append(out, w.running[id].what)
	}
	if len(out) > 3 {
		out = append(out[:3], fmt.Sprintf("%d more", len(out)-3))
	}
	return strings.Join(out, ", ")
}

// heap is the size of the heap, where a limit asks for it.
func (w *Watchdog) heap() uint64 {
	if w.limit.HeapBytes == 0 && w.limit.OwnBytes == 0 {
		return 0
	}
	return heapBytes()
}

func heapBytes() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
