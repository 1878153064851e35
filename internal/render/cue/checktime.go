package cue

import (
	"fmt"
	"sync"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/health"
)

// Bounds of a health check, which may come from a record that somebody wrote: its text, and how long it may take. mostGivenUp is how
// many may go on behind us at once, as an evaluation cannot be cancelled.
const (
	maxCheck    = 64 << 10
	checkTime   = 10 * time.Second
	mostGivenUp = 2
)

// givenUp are the checks, by their text, that took too long: none is begun again. spent is what those took that are slow for
// one object: they end when that is the time of three.
type givenUp struct {
	mu      sync.Mutex
	sources map[string]bool
	spent   map[string]time.Duration
}

const slowObjects = 3

func (g *givenUp) refuses(source string, limit time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sources[source] || len(g.sources) >= mostGivenUp || g.spent[source] > slowObjects*limit
}

// took counts an evaluation that was slow: a tenth of its limit is a hundred times what a check takes.
func (g *givenUp) took(source string, d, limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.spent == nil {
		g.spent = map[string]time.Duration{}
	}
	if d > limit/10 {
		g.spent[source] += d
	}
}

func (g *givenUp) add(source string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sources == nil {
		g.sources = map[string]bool{}
	}
	g.sources[source] = true
}

// bounded evaluates a check within its bounds. What exceeds them fails for the object alone, and nobody waits for it any more.
func (r *Renderer) bounded(c health.Check, evaluate func() (health.Status, error)) (health.Status, error) {
	if len(c.Source) > maxCheck {
		return health.Status{}, fmt.Errorf("health check %s has more than %d KiB and is not evaluated", c.Name, maxCheck>>10)
	}
	if r.slow.refuses(c.Source, r.checkTime()) {
		return health.Status{}, fmt.Errorf("health check %s is not evaluated: it, or others, took longer than %s, or it took longer than that for some objects together", c.Name, r.checkTime())
	}
	type result struct {
		st  health.Status
		err error
	}
	done, begun := make(chan result, 1), time.Now()
	broke.Go(func() {
		defer r.opts.Watch.EnterUntimed("health check " + c.Name)()
		st, err := evaluate()
		done <- result{st, err}
	})
	late := time.NewTimer(r.checkTime())
	defer late.Stop()
	select {
	case got := <-done:
		r.slow.took(c.Source, time.Since(begun), r.checkTime())
		return got.st, got.err
	case <-late.C:
		r.slow.add(c.Source)
		return health.Status{}, fmt.Errorf("health check %s takes longer than %s and was given up: look for comprehensions that multiply", c.Name, r.checkTime())
	}
}

// GoesOn reports whether the evaluation of a check goes on that was given up.
func (r *Renderer) GoesOn() bool {
	r.slow.mu.Lock()
	defer r.slow.mu.Unlock()
	return len(r.slow.sources) > 0
}

func (r *Renderer) checkTime() time.Duration {
	if r.opts.CheckTime > 0 {
		return r.opts.CheckTime
	}
	return checkTime
}
