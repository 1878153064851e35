package dag

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"hawser.dev/hawser/internal/broke"
)

// ErrWaits is the answer of a step that has done what can be done now: it is taken again when it is woken, or when nothing is
// waited for any more. ErrPauses is that of one that waits for a time alone, which a stop does not cut short.
var (
	ErrWaits  = errors.New("waits")
	ErrPauses = errors.New("pauses")
)

// Walk does the nodes of a graph, pass by pass: a pass does what can be done now, independent nodes in parallel, and ends when nothing
// is left to do but waiting.
type Walk[K cmp.Ordered] struct {
	*Progress[K]
	// OnWake is called when a node is woken: the next pass may have something to do. nil is allowed.
	OnWake  func()
	changed chan struct{}
	mu      sync.Mutex
	woken   map[K]bool
}

// Walk is a walk that has not begun. The error is a *CycleError.
func (g *Graph[K]) Walk() (*Walk[K], error) {
	p, err := g.Begin()
	return &Walk[K]{Progress: p, changed: make(chan struct{}, 1), woken: map[K]bool{}}, err
}

// Pass does steps, at most limit at once, until those that have not ended wait. When ctx ends nothing is begun any more; then, and when
// stop is closed, those that wait are taken once more, so that they can tell how it ended.
func (w *Walk[K]) Pass(ctx context.Context, stop <-chan struct{}, limit int, step func(ctx context.Context, node K) error) {
	type ending struct {
		node K
		err  error
	}
	ends, done, over := make(chan ending), ctx.Done(), false
	for {
		w.takeWoken()
		if !over && (ctx.Err() != nil || closed(stop)) {
			over, stop = true, nil
			w.WakeAll()
		}
		if ctx.Err() != nil {
			done = nil
		}
		for _, node := range w.Next(limit, ctx.Err() != nil) {
			broke.Go(func() { ends <- ending{node, step(ctx, node)} })
		}
		if w.Running() == 0 {
			return
		}
		select {
		case x := <-ends:
			switch {
			case errors.Is(x.err, ErrPauses):
				w.Wait(x.node)
			case errors.Is(x.err, ErrWaits):
				if w.Wait(x.node); over { // it began before that
					w.Progress.Wake(x.node)
				}
			default:
				w.End(x.node, x.err)
			}
		case <-w.changed:
		case <-done:
		case <-stop:
		}
	}
}

func closed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func (w *Walk[K]) takeWoken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for node := range w.woken {
		w.Progress.Wake(node)
	}
	clear(w.woken)
}

// Wake says that something has happened that a node may wait for, from any goroutine.
func (w *Walk[K]) Wake(node K) {
	w.mu.Lock()
	w.woken[node] = true
	w.mu.Unlock()
	select {
	case w.changed <- struct{}{}:
	default:
	}
	if w.OnWake != nil {
		w.OnWake()
	}
}
