package release

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Renewal keeps a lock in the background: it is renewed every third of its time to live; when it was not for two thirds,
// its Context ends, so that requests sent under it have the last third to end.
type Renewal struct {
	ttl   time.Duration
	renew func(ctx context.Context) (bool, error)

	ctx    context.Context
	cancel context.CancelCauseFunc
	quit   chan struct{}
	ended  chan struct{} // closed when nothing renews any more
	once   sync.Once

	renewed time.Time // only touched by keep, then by who has called Stop
}

// Renew begins to keep a lock that was asked for at taken. renew tries once, until its context ends: true when the lock
// was renewed, an error only when it is somebody else's; other failures are tried again. When ctx ends, renewing does too.
func Renew(ctx context.Context, ttl time.Duration, taken time.Time, renew func(ctx context.Context) (bool, error)) *Renewal {
	r := &Renewal{ttl: ttl, renew: renew, quit: make(chan struct{}), ended: make(chan struct{}), renewed: taken}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	go r.keep()
	return r
}

// Context is that of a Lock.
func (r *Renewal) Context() context.Context { return r.ctx }

// Stop ends the renewing, and returns when nothing of it is under way.
func (r *Renewal) Stop() {
	r.once.Do(func() { close(r.quit) })
	<-r.ended
}

// Held reports, after Stop, whether the lock cannot have expired yet.
func (r *Renewal) Held() bool {
	return since(r.renewed) < r.ttl && !errors.Is(context.Cause(r.ctx), ErrLost)
}

// End ends the Context of a lock that was given back.
func (r *Renewal) End() { r.cancel(context.Canceled) }

// keep renews until Stop, the end of the context, or the loss of the lock. It looks at the time often, as it cannot rely
// on being woken when it should: the process may have been suspended.
func (r *Renewal) keep() {
	defer close(r.ended)
	tick := time.NewTicker(max(r.ttl/60, 10*time.Millisecond))
	defer tick.Stop()
	deadline := r.ttl - r.ttl/3
	var tried time.Time
	for {
		select {
		case <-r.quit:
			return
		case <-r.ctx.Done():
			return
		case <-tick.C:
		}
		age := since(r.renewed)
		switch {
		case age >= deadline:
			r.cancel(fmt.Errorf("%w: not renewed for %s", ErrLost, age.Round(time.Second)))
			return
		case age >= r.ttl/3 && time.Since(tried) >= r.ttl/15:
			tried = time.Now()
			if lost := r.attempt(deadline - age); lost != nil {
				r.cancel(lost)
				return
			}
		}
	}
}

// attempt renews once, within the time that is left.
func (r *Renewal) attempt(left time.Duration) error {
	ctx, cancel := context.WithTimeout(r.ctx, left)
	defer cancel()
	began := time.Now()
	done, lost := r.renew(ctx)
	if done {
		r.renewed = began
	}
	return lost
}

// since is how long ago t was, by the monotonic clock or the wall clock, whichever says longer: the former stands
// still while a machine sleeps, the latter may be set.
func since(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}
