package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/release"
)

// lock is a held Lease. It is renewed every third of its time to live; when it was not for two thirds, its Context
// ends, so that requests sent under it have the last third to end.
type lock struct {
	store     *store
	ttl       time.Duration
	recovered *release.Held

	ctx    context.Context
	cancel context.CancelCauseFunc
	quit   chan struct{}
	ended  chan struct{} // closed when nothing renews any more
	once   sync.Once
	err    error

	// Below: only touched by take, then by keep, then by Unlock.
	lease             *coordinationv1.Lease
	acquired, renewed time.Time
}

var _ release.Lock = (*lock)(nil)

// Context ends when the lock is lost, or may be.
func (l *lock) Context() context.Context { return l.ctx }

// Recovered is the former holder that was gone, if there was one.
func (l *lock) Recovered() *release.Held { return l.recovered }

// begin starts renewing. When ctx ends, that ends too.
func (l *lock) begin(ctx context.Context) {
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	l.quit, l.ended = make(chan struct{}), make(chan struct{})
	go l.keep()
}

// Unlock stops renewing and deletes the Lease, if it is still ours.
func (l *lock) Unlock(ctx context.Context) error {
	l.once.Do(func() {
		close(l.quit)
		<-l.ended
		l.err = l.release(ctx)
		l.cancel(context.Canceled)
	})
	return l.err
}

// release deletes the Lease with our uid, and no other. One that is not there was deleted by an attempt of which the
// answer got lost, unless the lock was lost before.
func (l *lock) release(ctx context.Context) error {
	name := l.lease.Name
	err := l.store.c.Delete(ctx, leasesPath+"/"+name, &metav1.DeleteOptions{TypeMeta: deleteOptions,
		Preconditions: &metav1.Preconditions{UID: &l.lease.UID}})
	switch {
	case apierrors.IsNotFound(err) && since(l.renewed) < l.ttl && !errors.Is(context.Cause(l.ctx), release.ErrLost):
		return nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return l.store.wrap("unlock", "leases.coordination.k8s.io", name, release.ErrLost)
	case err != nil:
		return l.store.wrap("delete", "leases.coordination.k8s.io", name, err)
	}
	return nil
}

// keep renews until Unlock, the end of the context, or the loss of the lock. It looks at the time often, as it
// cannot rely on being woken when it should: the process may have been suspended.
func (l *lock) keep() {
	defer close(l.ended)
	tick := time.NewTicker(max(l.ttl/60, 10*time.Millisecond))
	defer tick.Stop()
	deadline := l.ttl - l.ttl/3
	var tried time.Time
	for {
		select {
		case <-l.quit:
			return
		case <-l.ctx.Done():
			return
		case <-tick.C:
		}
		age := since(l.renewed)
		switch {
		case age >= deadline:
			l.cancel(fmt.Errorf("%w: not renewed for %s", release.ErrLost, age.Round(time.Second)))
			return
		case age >= l.ttl/3 && time.Since(tried) >= l.ttl/15:
			tried = time.Now()
			if lost := l.renew(deadline - age); lost != nil {
				l.cancel(lost)
				return
			}
		}
	}
}

// since is how long ago t was, by the monotonic clock or the wall clock, whichever says longer: the former stands
// still while a machine sleeps, the latter may be set.
func since(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

// renew tries once, within the time that is left. It returns an error only when the lock is somebody else's; other
// failures are tried again.
func (l *lock) renew(left time.Duration) error {
	ctx, cancel := context.WithTimeout(l.ctx, left)
	defer cancel()
	began := time.Now()
	lease := l.lease.DeepCopy()
	lease.ManagedFields = nil
	now := metav1.NewMicroTime(lease.Spec.AcquireTime.Add(began.Sub(l.acquired)))
	lease.Spec.RenewTime = &now
	path := leasesPath + "/" + lease.Name
	var answer coordinationv1.Lease
	err := l.store.c.Put(ctx, path, writeQuery(), lease, &answer)
	if err == nil && isLease(&answer, lease) && answer.UID == lease.UID {
		answer.TypeMeta = leaseMeta
		l.lease, l.renewed = &answer, began
		return nil
	}
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return nil
	}
	var there coordinationv1.Lease
	look := l.store.c.Get(ctx, path, nil, &there)
	switch {
	case look == nil && there.UID == lease.UID && isLease(&there, lease): // only we write it: this or an earlier try, of which the answer got lost
		if there.Spec.RenewTime != nil && there.Spec.RenewTime.Equal(&metav1.MicroTime{Time: now.Truncate(time.Microsecond)}) {
			l.renewed = began
		}
		there.TypeMeta = leaseMeta
		l.lease = &there
		return nil
	case look == nil:
		return fmt.Errorf("%w to %s", release.ErrLost, holderOf(&there))
	case apierrors.IsNotFound(look):
		return fmt.Errorf("%w: its Lease was deleted", release.ErrLost)
	}
	return nil
}
