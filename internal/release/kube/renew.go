package kube

import (
	"context"
	"fmt"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/renewal"
)

// lock is a held Lease.
type lock struct {
	*renewal.Renewal
	store     *Store
	ttl       time.Duration
	recovered *release.Held
	once      sync.Once
	err       error

	// Below: only touched by take, then by renew, then by Unlock.
	lease    *coordinationv1.Lease
	acquired time.Time
}

var _ release.Lock = (*lock)(nil)

// Recovered is the former holder that was gone, if there was one.
func (l *lock) Recovered() *release.Held { return l.recovered }

// Unlock stops renewing and deletes the Lease, if it is still ours.
func (l *lock) Unlock(ctx context.Context) error {
	l.once.Do(func() {
		l.Stop()
		l.err = l.release(ctx)
		l.End()
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
	case apierrors.IsNotFound(err) && l.Held():
		return nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return l.store.wrap("unlock", "leases.coordination.k8s.io", name, release.ErrLost)
	case err != nil:
		return l.store.wrap("delete", "leases.coordination.k8s.io", name, err)
	}
	return nil
}

// renew tries once. The error says that the lock is somebody else's.
func (l *lock) renew(ctx context.Context) (bool, error) {
	lease := l.lease.DeepCopy()
	lease.ManagedFields = nil
	now := metav1.NewMicroTime(lease.Spec.AcquireTime.Add(time.Since(l.acquired)))
	lease.Spec.RenewTime = &now
	path := leasesPath + "/" + lease.Name
	var answer coordinationv1.Lease
	err := l.store.c.Put(ctx, path, writeQuery(), lease, &answer)
	if err == nil && isLease(&answer, lease) && answer.UID == lease.UID {
		answer.TypeMeta = leaseMeta
		l.lease = &answer
		return true, nil
	}
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		return false, nil
	}
	var there coordinationv1.Lease
	look := l.store.c.Get(ctx, path, nil, &there)
	switch {
	case look == nil && there.UID == lease.UID && isLease(&there, lease): // only we write it: this or an earlier try, of which the answer got lost
		renewed := there.Spec.RenewTime != nil && there.Spec.RenewTime.Equal(&metav1.MicroTime{Time: now.Truncate(time.Microsecond)})
		there.TypeMeta = leaseMeta
		l.lease = &there
		return renewed, nil
	case look == nil:
		return false, fmt.Errorf("%w to %s", release.ErrLost, holderOf(&there))
	case apierrors.IsNotFound(look):
		return false, fmt.Errorf("%w: its Lease was deleted", release.ErrLost)
	}
	return false, nil
}
