package cue

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/health"
)

// Bounds of a health check, which may come from a record that somebody wrote: its text, and how long it may take. mostBehind is how
// many that were given up may go on behind us before no other is begun in this process, as an evaluation cannot be cancelled.
const (
	maxCheck   = 64 << 10
	mostBehind = 4
)

// behind bounds what is evaluated in this process, of all clusters together: an evaluation has a slot until it ends, whoever waits for
// it, so that no more of them go on than there are slots, however many clusters have records that never end. Which check of which
// cluster is begun at all is health.GivenUp's; that one cluster's checks take the slots of others is prevented by full: from then on checks are
// evaluated in processes that can be ended (Options.Beyond). Those of records are evaluated there always: what takes memory ends the process.
type behind struct {
	slots chan struct{}
	full  chan struct{} // closed when mostBehind were given up and go on
	once  sync.Once
	n     atomic.Int32
}

func newBehind() *behind {
	return &behind{slots: make(chan struct{}, mostBehind+runtime.GOMAXPROCS(0)), full: make(chan struct{})}
}

// enter takes a slot; false where none is to be taken any more.
func (b *behind) enter() bool {
	select {
	case <-b.full:
		return false
	default:
	}
	select {
	case b.slots <- struct{}{}:
		return true
	case <-b.full:
		return false
	}
}

func (b *behind) add() {
	if b.n.Add(1) >= mostBehind {
		b.once.Do(func() { close(b.full) })
	}
}

// bounded evaluates a check within its bounds. What exceeds them fails for the object alone, and nobody waits for it any more.
func (r *Renderer) bounded(c health.Check, obj map[string]any, evaluate func() (health.Status, error)) (health.Status, error) {
	limit := r.checkTime()
	if len(c.Source) > maxCheck {
		return health.Status{}, fmt.Errorf("health check %s has more than %d KiB and is not evaluated", c.Name, maxCheck>>10)
	}
	if err := r.given.Why(c, limit); err != nil {
		return health.Status{}, err
	}
	if recorded := c.Recorded && r.opts.Beyond != nil; recorded || !r.behind.enter() {
		if r.opts.Beyond == nil {
			return health.Status{}, fmt.Errorf("health check %s is not evaluated: %d others go on that took too long", c.Name, r.behind.n.Load())
		}
		st, _, err := r.opts.Beyond().Check(c, obj)
		return st, err
	}
	type result struct {
		st  health.Status
		err error
	}
	done, begun := make(chan result, 1), time.Now()
	broke.Go(func() {
		defer func() { <-r.behind.slots }()
		defer r.opts.Watch.EnterUntimed("health check " + c.Name)()
		st, err := evaluate()
		done <- result{st, err}
	})
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case got := <-done:
		r.given.Done(c, time.Since(begun), limit)
		return got.st, got.err
	case <-late.C:
	}
	r.given.Add(c, fmt.Errorf("health check %s is not evaluated: it took longer than %s", c.Name, limit))
	r.behind.add()
	broke.Go(func() {
		<-done
		r.behind.n.Add(-1)
	})
	return health.Status{}, fmt.Errorf("health check %s takes longer than %s and was given up: look for comprehensions that multiply", c.Name, limit)
}

// GoesOn reports whether the evaluation of a check goes on that was given up.
func (r *Renderer) GoesOn() bool { return r.behind.n.Load() > 0 }

func (r *Renderer) checkTime() time.Duration {
	return cmp.Or(max(r.opts.CheckTime, 0), health.CheckTime)
}
