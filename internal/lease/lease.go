// Package lease holds the lock of a bundle on a cluster over the passes of a run: it is taken once and renewed from then on, whatever becomes of the
// context of the pass in which it was taken.
//
// lease must not know what is done under a lock.
package lease

import (
	"context"
	"time"

	"hawser.dev/hawser/internal/release"
)

// Lease is the lock of one bundle on one cluster. The zero value with its fields set holds none. One goroutine at a time uses it.
type Lease struct {
	Store         release.Store
	Owner, Holder string
	// TTL is how long a crashed holder keeps others out.
	TTL time.Duration
	// OnLost is called when the lock may be lost, from any goroutine; nil is allowed.
	OnLost func()

	lock release.Lock
	end  context.CancelCauseFunc
	stop func() bool
}

// Take takes the lock. The end of ctx ends the taking, and not what is held then. It returns the former holder that was gone, nil for none; the
// error of a lock that somebody else has is a *release.LockedError.
func (l *Lease) Take(ctx context.Context) (*release.Held, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	taking := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	lock, err := l.Store.Lock(life, l.Owner, l.Holder, l.TTL)
	if !taking() && err == nil { // ctx has ended life
		err = context.Cause(ctx)
		c, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.TTL)
		defer cancel()
		_ = lock.Unlock(c) // else it expires
	}
	if err != nil {
		end(err)
		return nil, err
	}
	l.lock, l.end, l.stop = lock, end, func() bool { return true }
	if l.OnLost != nil {
		l.stop = context.AfterFunc(lock.Context(), l.OnLost)
	}
	return lock.Recovered(), nil
}

// Under is a context in which something may be written under the lock: it ends when the lock may be lost, and when ctx does, with the cause.
// cancel lets go of it.
func (l *Lease) Under(ctx context.Context) (_ context.Context, cancel func()) {
	c, end := context.WithCancelCause(l.lock.Context())
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	if ctx.Err() != nil {
		end(context.Cause(ctx))
	}
	return c, func() {
		stop()
		end(nil)
	}
}

// Give gives the lock back, where it is held. The error says that it was not ours any more, or that it expires by itself.
func (l *Lease) Give(ctx context.Context) error {
	if l.lock == nil {
		return nil
	}
	l.stop()
	err := l.lock.Unlock(ctx)
	l.end(nil)
	l.lock = nil
	return err
}
