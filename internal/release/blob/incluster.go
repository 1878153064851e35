package blob

import (
	"context"
	"errors"
	"slices"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

// Own is what the cluster's own store does for one whose records lie elsewhere.
type Own interface {
	release.Store
	release.Keeper
	release.History
	release.Remnants
	// Point says in the cluster that the records of a bundle are at a place, where it says nothing else; what it says otherwise
	// is an error that wraps release.ErrElsewhere. from is where they were until now, the zero Place for nowhere.
	Point(ctx context.Context, owner, bundle string, at, from release.Place) error
	// Unpoint takes that back.
	Unpoint(ctx context.Context, owner string, at release.Place) error
	// Pointed returns where the cluster says the records are, nil where it says nothing.
	Pointed(ctx context.Context, owner string) (*release.Pointer, error)
}

// inCluster is a store with the cluster it is of. What was made up for a bundle stays in its cluster, and the cluster says where the
// records of its bundles are: a store in which there are none is asked for that, so that who looks in another one is told, and of two
// that begin in two stores one does.
type inCluster struct {
	*store
	release.Keeper
	own Own
}

var (
	_ release.Keeper   = (*inCluster)(nil)
	_ release.Remnants = (*inCluster)(nil)
	_ release.Mover    = (*inCluster)(nil)
)

// Current is that of the store. Where there is none, the cluster must not say that it is elsewhere.
func (s *inCluster) Current(ctx context.Context, owner string) (*release.Record, release.RecordVersion, error) {
	r, h, err := s.store.Current(ctx, owner)
	if r != nil || err != nil {
		return r, h, err
	}
	_, err = s.here(ctx, owner)
	return nil, "", err
}

// here fails where the cluster says that a bundle's records are at another place; pointed tells that it says they are here.
func (s *inCluster) here(ctx context.Context, owner string) (pointed bool, err error) {
	p, err := s.own.Pointed(ctx, owner)
	if err != nil || p == nil {
		return false, err
	}
	here, err := s.Place(ctx, false)
	if err != nil {
		return false, err
	}
	if p.At.ID == "" || p.Moving || !p.At.Is(here) {
		return false, release.Elsewhere(*p, here)
	}
	return true, nil
}

// Put says in the cluster where the records are before there is one.
func (s *inCluster) Put(ctx context.Context, r release.Record, objects []object.Object, h release.RecordVersion) (release.RecordVersion, error) {
	if h == "" {
		if err := s.point(ctx, r.Owner, r.Bundle); err != nil {
			return "", err
		}
	}
	return s.store.Put(ctx, r, objects, h)
}

// PutHold says so before there is one.
func (s *inCluster) PutHold(ctx context.Context, owner string, h release.Hold, at release.RecordVersion) (release.RecordVersion, error) {
	if at == "" {
		if err := s.point(ctx, owner, h.Bundle); err != nil {
			return "", err
		}
	}
	return s.store.PutHold(ctx, owner, h, at)
}

func (s *inCluster) point(ctx context.Context, owner, bundle string) error {
	here, err := s.Place(ctx, true)
	if err != nil {
		return err
	}
	return s.own.Point(ctx, owner, bundle, here, release.Place{})
}

// Delete takes that back last.
func (s *inCluster) Delete(ctx context.Context, owner string, h release.RecordVersion) error {
	if _, _, old, err := s.now(ctx, owner); err == nil && old.Deleted {
		if pointed, err := s.here(ctx, owner); err != nil || !pointed { // nothing of the bundle is here
			return err
		}
	}
	if err := s.store.Delete(ctx, owner, h); err != nil {
		return err
	}
	here, err := s.Place(ctx, false)
	if err != nil {
		return err
	}
	return s.own.Unpoint(ctx, owner, here)
}

// Bundles are those of the store, and those that the cluster keeps itself: they are of other fleets, or were not moved.
func (s *inCluster) Bundles(ctx context.Context, each func(release.Record) error) error {
	have := map[string]bool{}
	err := s.store.Bundles(ctx, func(r release.Record) error {
		have[r.Owner] = true
		return each(r)
	})
	return errors.Join(err, s.own.Bundles(ctx, func(r release.Record) error {
		if have[r.Owner] {
			return nil
		}
		return each(r)
	}))
}

// kept reports whether the store has the records of an owner, and not the cluster.
func (s *inCluster) kept(ctx context.Context, owner string) (bool, error) {
	_, t, h, err := s.now(ctx, owner)
	return err != nil || t.number > 0 && !h.Deleted, err
}

// Objects are those of the store that has the record.
func (s *inCluster) Objects(ctx context.Context, r release.Record) ([]object.Object, error) {
	here, err := s.kept(ctx, r.Owner)
	switch {
	case err != nil:
		return nil, err
	case here:
		return s.store.Objects(ctx, r)
	}
	return s.own.Objects(ctx, r)
}

// Revisions are those of the store that has the record.
func (s *inCluster) Revisions(ctx context.Context, owner string, each func(release.Record) error) error {
	here, err := s.kept(ctx, owner)
	switch {
	case err != nil:
		return err
	case here:
		return s.store.Revisions(ctx, owner, each)
	}
	return s.own.Revisions(ctx, owner, each)
}

// Remnants are the bundles that the cluster says are here, and are not: the bucket has lost them. With "" there are also those that the
// cluster itself has lost.
func (s *inCluster) Remnants(ctx context.Context, owner string, known []string) (left release.Left, err error) {
	if owner != "" {
		left.Lost, err = s.lost(ctx, owner)
		return left, err
	}
	left, err = s.own.Remnants(ctx, "", known)
	if len(left.Away) == 0 {
		return left, err
	}
	failed := []error{err}
	if left.Here, err = s.Place(ctx, false); err != nil {
		return release.Left{Lost: left.Lost}, errors.Join(append(failed, err)...)
	}
	left.Away = slices.DeleteFunc(left.Away, func(p release.Pointer) bool {
		if p.At.ID == "" || !p.At.Is(left.Here) {
			return false
		}
		names, err := s.lost(ctx, p.Owner)
		left.Lost, failed = append(left.Lost, names...), append(failed, err)
		return true
	})
	slices.Sort(left.Lost)
	return left, errors.Join(failed...)
}

// lost is the bundle of an owner, where the cluster says that it is here and it is not. One whose first release is kept back has no record
// yet.
func (s *inCluster) lost(ctx context.Context, owner string) ([]string, error) {
	j, err := s.journal(owner, heads)
	if err != nil {
		return nil, err
	}
	t, err := j.last(ctx)
	if err != nil || t.number > 0 {
		return nil, err
	}
	if h, _, err := s.Held(ctx, owner); err != nil || h != nil {
		return nil, err
	}
	p, err := s.own.Pointed(ctx, owner)
	if err != nil || p == nil || p.At.ID == "" {
		return nil, err
	}
	return []string{p.Bundle}, nil
}

// Drop says in the cluster where the records have gone.
func (s *inCluster) Drop(ctx context.Context, owner string, to release.Place) error {
	_, _, h, err := s.read(ctx, owner)
	if err != nil {
		return err
	}
	here, err := s.Place(ctx, false)
	if err == nil && to.ID != "" {
		err = s.own.Point(ctx, owner, h.Bundle, to, here)
	}
	if err != nil {
		return err
	}
	return s.store.Drop(ctx, owner, to)
}
