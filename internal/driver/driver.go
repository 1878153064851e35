// Package driver carries plans out as a command does: pass after pass in one process, which waits for objects and for the end of a soak, and
// leaves what may take days, windows and approvals, to the run after it.
//
// driver must not know what a pass does.
package driver

import (
	"context"
	"time"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/passes"
	"hawser.dev/hawser/internal/rollout"
)

// Engine is the engine with a driver: it carries a plan out in one call.
type Engine struct{ *engine.Engine }

// Apply carries a plan out, to its end or to what this run does not wait for. The outcome is there also beside an error, unless
// nothing was begun; see engine.Rollout.End.
func (e Engine) Apply(ctx context.Context, p *engine.Prepared, req engine.Request) (*fleetplan.Outcome, error) {
	r, err := e.Begin(ctx, p, req)
	if err != nil {
		return nil, err
	}
	Drive(ctx, r, e.now, req.Stop)
	return r.End()
}

func (e Engine) now() time.Time {
	if e.Now != nil {
		return e.Now()
	}
	return time.Now()
}

// Passes is a rollout, pass by pass: an engine.Rollout.
type Passes interface {
	// Pass goes on as far as can be gone now; nil: it has ended.
	Pass(ctx context.Context) *rollout.Wait
	// Changed is told when the next pass may have something to do before it is due.
	Changed() <-chan struct{}
	// Stop ends it: the next pass starts nothing more.
	Stop(why string)
}

// Drive makes passes until the rollout has ended, waiting for its objects and out its soaks. When stop is closed, or when it waits for
// anything else, it is stopped; when ctx ends, what has begun tells how it ended in one more pass, and nothing more is done.
func Drive(ctx context.Context, r Passes, now func() time.Time, stop <-chan struct{}) {
	for w := r.Pass(ctx); w != nil; w = r.Pass(ctx) {
		if w.On != rollout.ForSoak && w.On != rollout.ForObjects {
			r.Stop(w.Why)
			continue
		}
		timer := time.NewTimer(max(0, w.Wake.Sub(now())))
		select {
		case <-timer.C:
		case <-r.Changed():
		case <-stop:
			stop = nil
			r.Stop(passes.Interrupted)
		case <-ctx.Done():
			if w.On == rollout.ForSoak {
				timer.Stop()
				return
			}
		}
		timer.Stop()
	}
}
