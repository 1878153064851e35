// Package renewal keeps a lock that expires: it is renewed in the background, and nothing is sent under it any more when that did not
// succeed in time.
//
// The package must not know where locks are kept, nor what is done under them.
package renewal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/permit"
)

// ErrLost is the cause of a lock's Context that ended because the lock was lost, or might be.
var ErrLost = errors.New("the lock was lost")

// Renewal keeps a lock in the background: it is renewed every third of its time to live; when it was not for two thirds,
// its Context ends, so that requests sent under it have the last third to end. The Context's permit looks at the time
// itself, whether or not the background has come to it.
type Renewal struct {
	ttl   time.Duration
	renew func(ctx context.Context) (bool, error)

	ctx    context.Context
	cancel context.CancelCauseFunc
	quit   chan struct{}
	ended  chan struct{} // closed when nothing renews any more
	once   sync.Once

	renewed atomic.Pointer[time.Time]
}

// Begin begins to keep a lock that was asked for at taken. renew tries once, until its context ends: true when the lock
// was renewed, an error only when it is somebody else's; other failures are tried again. When ctx ends, renewing does too.
func Begin(ctx context.Context, ttl time.Duration, taken time.Time, renew func(ctx context.Context) (bool, error)) *Renewal {
	r := &Renewal{ttl: ttl, renew: renew, quit: make(chan struct{}), ended: make(chan struct{})}
	r.renewed.Store(&taken)
	ctx, r.cancel = context.WithCancelCause(ctx)
	r.ctx = permit.With(ctx, r.permit)
	broke.Go(r.keep)
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
	return r.age() < r.ttl && !errors.Is(context.Cause(r.ctx), ErrLost)
}

func (r *Renewal) age() time.Duration { return since(*r.renewed.Load()) }

// deadline is the age from which on nothing is sent under the lock.
func (r *Renewal) deadline() time.Duration { return r.ttl - r.ttl/3 }

// permit says how long a write may take that is sent now: until the lock expires, where it has not become too old for one.
func (r *Renewal) permit() (time.Duration, error) {
	age := r.age()
	if age >= r.deadline() {
		r.outlived(age)
	}
	if cause := context.Cause(r.ctx); errors.Is(cause, ErrLost) {
		return 0, cause
	}
	return r.ttl - age, nil
}

// outlived ends the Context of a lock that was not renewed in time.
func (r *Renewal) outlived(age time.Duration) {
	r.cancel(fmt.Errorf("%w: not renewed for %s", ErrLost, age.Round(time.Second)))
}

// End ends the Context of a lock that was given back.
func (r *Renewal) End() { r.cancel(context.Canceled) }

// keep renews until Stop, the end of the context, or the loss of the lock. It looks at the time often, as it cannot rely
// on being woken when it should: the process may have been suspended.
func (r *Renewal) keep() {
	defer close(r.ended)
	tick := time.NewTicker(max(r.ttl/60, 10*time.Millisecond))
	defer tick.Stop()
	var tried time.Time
	for {
		select {
		case <-r.quit:
			return
		case <-r.ctx.Done():
			return
		case <-tick.C:
		}
		age := r.age()
		switch {
		case age >= r.deadline():
			r.outlived(age)
			return
		case age >= r.ttl/3 && time.Since(tried) >= r.ttl/15:
			tried = time.Now()
			if lost := r.attempt(r.deadline() - age); lost != nil {
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
		r.renewed.Store(&began)
	}
	return lost
}

// since is how long ago t was, by the monotonic clock or the wall clock, whichever says longer: the former stands
// still while a machine sleeps, the latter may be set.
func since(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}
