package kube

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/localprocess"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/renewal"
)

// The lock of a bundle is the Lease `hawser-OWNER`. Taking it is creating it, giving it back is deleting it, and
// taking over one that has expired is deleting exactly that one (by uid and resourceVersion) and creating another:
// the API server lets one writer do each.
//
// Whether a lease has expired is judged by the API server's clock alone. It wrote creationTimestamp, next to which
// the holder wrote its own acquireTime: so any later renewTime, which the holder measures from there by a monotonic
// clock, is a time of the server's clock too. And a dry run of a creation tells what that clock shows now. Clocks
// that differ do not matter, clocks that run at different rates do.
//
// A holder on this machine whose process is gone is not waited for.
const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/" + object.SystemNamespace + "/leases"

const (
	// serverSlack covers creationTimestamp's resolution of a second on both sides.
	serverSlack = 2 * time.Second
	// tries bounds how often a lock is fought for with others that want it at this moment.
	tries = 3
)

// Where a lock's process runs, so that another process on the same machine can see that it is gone.
const (
	annotationMachine = "hawser.dev/machine"
	annotationProcess = "hawser.dev/process"
)

func annotationsOf(p localprocess.ID) map[string]string {
	if p == (localprocess.ID{}) {
		return nil
	}
	return map[string]string{annotationMachine: p.Machine, annotationProcess: p.Process}
}

func processOf(lease *coordinationv1.Lease) localprocess.ID {
	return localprocess.ID{Machine: lease.Annotations[annotationMachine], Process: lease.Annotations[annotationProcess]}
}

var leaseMeta = metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"}

// Lock takes the lock, or returns an error with a *release.LockedError that names the holder.
func (s *Store) Lock(ctx context.Context, owner, holder string, ttl time.Duration) (release.Lock, error) {
	seconds := int32(max(1, math.Ceil(ttl.Seconds())))
	wanted := &coordinationv1.Lease{TypeMeta: leaseMeta, ObjectMeta: metav1.ObjectMeta{
		Name: headName(owner), Namespace: object.SystemNamespace,
		Labels:      map[string]string{object.LabelOwner: owner, object.LabelManagedBy: "hawser"},
		Annotations: annotationsOf(localprocess.Self()),
	}}
	me := fmt.Sprintf("%s pid %d (%s)", holder, os.Getpid(), nonce())
	wanted.Spec.HolderIdentity, wanted.Spec.LeaseDurationSeconds = &me, &seconds
	var recovered *release.Held
	for try := 1; ; try++ {
		l, err := s.take(ctx, wanted)
		if err == nil {
			l.recovered = recovered
			l.Renewal = renewal.Begin(ctx, l.ttl, l.acquired, l.renew)
			return l, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return nil, s.wrap("create", "leases.coordination.k8s.io", wanted.Name, err)
		}
		held, err := s.takeOver(ctx, wanted.Name)
		if err != nil {
			return nil, s.wrap("lock", "leases.coordination.k8s.io", wanted.Name, err)
		}
		if held != nil {
			recovered = held
		}
		if try == tries {
			return nil, s.wrap("lock", "leases.coordination.k8s.io", wanted.Name, release.ErrLocked)
		}
	}
}

// take creates the lease. One that is there already under our own random name is ours: its answer got lost.
func (s *Store) take(ctx context.Context, wanted *coordinationv1.Lease) (*lock, error) {
	lease, began := wanted.DeepCopy(), time.Now()
	now := metav1.NewMicroTime(began)
	lease.Spec.AcquireTime, lease.Spec.RenewTime = &now, &now
	var made coordinationv1.Lease
	err := s.create(ctx, leasesPath, lease, &made)
	if apierrors.IsAlreadyExists(err) {
		var there coordinationv1.Lease
		if s.c.Get(ctx, leasesPath+"/"+lease.Name, nil, &there) == nil && holderOf(&there) == holderOf(lease) {
			made, err = there, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if !isLease(&made, lease) {
		return nil, fmt.Errorf("%w: the API server answered with another Lease than the one that was made", release.ErrLost)
	}
	made.TypeMeta = leaseMeta
	return &lock{store: s, lease: &made, acquired: began,
		ttl: time.Duration(*wanted.Spec.LeaseDurationSeconds) * time.Second}, nil
}

// isLease reports whether what the API server told is a lease of ours: what is sent next is made of it.
func isLease(told, ours *coordinationv1.Lease) bool {
	return told.Name == ours.Name && told.UID != "" && holderOf(told) == holderOf(ours) && told.Spec.AcquireTime != nil
}

// takeOver deletes the lease of a holder that is gone and says who it was; nil when the lease went away by itself or
// was renewed. A holder that is not gone is a *release.LockedError.
func (s *Store) takeOver(ctx context.Context, name string) (*release.Held, error) {
	var lease coordinationv1.Lease
	if err := s.c.Get(ctx, leasesPath+"/"+name, nil, &lease); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	held, expired, err := s.held(ctx, &lease)
	if err != nil {
		return nil, err
	}
	if !expired && !processOf(&lease).Gone() {
		return nil, &release.LockedError{Held: *held}
	}
	err = s.c.Delete(ctx, leasesPath+"/"+name, &metav1.DeleteOptions{TypeMeta: deleteOptions,
		Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}})
	switch {
	case apierrors.IsConflict(err):
		return nil, nil
	case err != nil && !apierrors.IsNotFound(err): // gone is fine, whoever deleted it
		return nil, err
	}
	return held, nil
}

// ForceUnlock deletes the lease of a holder that was seen.
func (s *Store) ForceUnlock(ctx context.Context, owner string, seen release.Held) error {
	var lease coordinationv1.Lease
	err := s.c.Get(ctx, leasesPath+"/"+headName(owner), nil, &lease)
	if err == nil {
		if holderOf(&lease) != seen.Holder {
			return s.wrap("unlock", "leases.coordination.k8s.io", lease.Name, fmt.Errorf("%w: it is held by %s now", release.ErrConflict, holderOf(&lease)))
		}
		err = s.c.Delete(ctx, leasesPath+"/"+lease.Name, &metav1.DeleteOptions{TypeMeta: deleteOptions, Preconditions: &metav1.Preconditions{UID: &lease.UID}})
	}
	if err != nil && !apierrors.IsNotFound(err) { // gone is fine
		return s.wrap("delete", "leases.coordination.k8s.io", headName(owner), err)
	}
	return nil
}

// Holder says who holds a bundle's lock. Who may not ask the API server for its time is told by the local clock.
func (s *Store) Holder(ctx context.Context, owner string) (*release.Held, error) {
	var lease coordinationv1.Lease
	err := s.c.Get(ctx, leasesPath+"/"+headName(owner), nil, &lease)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, s.wrap("read", "leases.coordination.k8s.io", headName(owner), err)
	}
	held, expired, err := s.held(ctx, &lease)
	if err != nil {
		held = &release.Held{Holder: holderOf(&lease), Since: lease.CreationTimestamp.Time, Expires: lease.CreationTimestamp.Time}
		if lease.Spec.RenewTime != nil && lease.Spec.LeaseDurationSeconds != nil {
			held.Expires = lease.Spec.RenewTime.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second)
		}
		expired = time.Now().After(held.Expires)
	}
	if expired || processOf(&lease).Gone() {
		return nil, nil
	}
	return held, nil
}

// held says who holds a lease, in local time, and whether it has expired.
func (s *Store) held(ctx context.Context, lease *coordinationv1.Lease) (*release.Held, bool, error) {
	probe := &coordinationv1.Lease{TypeMeta: leaseMeta, ObjectMeta: metav1.ObjectMeta{
		GenerateName: "hawser-clock-", Namespace: object.SystemNamespace,
	}}
	query := writeQuery()
	query.Set("dryRun", metav1.DryRunAll)
	var made coordinationv1.Lease
	if err := s.c.Post(ctx, leasesPath, query, probe, &made); err != nil {
		return nil, false, err
	}
	if made.CreationTimestamp.IsZero() || lease.CreationTimestamp.IsZero() {
		return nil, false, errors.New("the API server tells no time of a Lease")
	}
	local, server, since := time.Now(), made.CreationTimestamp.Time, lease.CreationTimestamp.Time
	expires := since.Add(serverSlack)
	if lease.Spec.LeaseDurationSeconds != nil {
		expires = expires.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second)
	}
	if a, r := lease.Spec.AcquireTime, lease.Spec.RenewTime; a != nil && r != nil && r.After(a.Time) {
		expires = expires.Add(r.Sub(a.Time))
	}
	h := &release.Held{Holder: holderOf(lease), Since: local.Add(since.Sub(server)), Expires: local.Add(expires.Sub(server))}
	return h, server.After(expires), nil
}

func holderOf(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return "somebody unnamed"
	}
	return *lease.Spec.HolderIdentity
}
