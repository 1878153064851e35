package recordkeeping

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hawser.dev/hawser/internal/release"
)

// ErrNothing is returned by Move when there are no records of the bundle where they should come from.
var ErrNothing = errors.New("there are no records of the bundle to move")

// Moved is what Move did.
type Moved struct {
	From, To release.Place
	// Revisions is how many of them were moved.
	Revisions int
	// Release is the current one's name.
	Release *release.Name
}

// Move brings the records of a bundle from one store of a cluster to another, under the locks of both, which a writer that dies leaves behind for ttl, unless they are another cluster's than target. Interrupted at any point, one
// of them has everything, and the next Move goes on: the records are closed, copied in one step, and removed.
func Move(ctx context.Context, from, to release.Store, owner, holder string, ttl time.Duration, target Target) (_ *Moved, err error) {
	src, ok := from.(release.Mover)
	dst, ok2 := to.(release.Mover)
	if !ok || !ok2 {
		return nil, errors.New("the store keeps records that cannot be moved")
	}
	out := &Moved{}
	if out.From, err = src.Place(ctx, false); err != nil {
		return nil, err
	}
	if out.To, err = dst.Place(ctx, false); err != nil {
		return nil, err
	}
	if out.From.Is(out.To) {
		return nil, samePlace(out.To)
	}
	for _, s := range []release.Store{from, to} {
		lock, err := s.Lock(ctx, owner, holder, ttl)
		if err != nil {
			return nil, err
		}
		defer func() {
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl/2)
			defer cancel()
			_ = lock.Unlock(end) // it expires
		}()
		ctx = lock.Context()
	}
	if out.From, err = src.Place(ctx, false); err != nil {
		return nil, err
	}
	if out.To, err = dst.Place(ctx, true); err != nil {
		return nil, err
	}
	if out.From.Is(out.To) {
		return nil, samePlace(out.To)
	}
	old, err := src.Archive(ctx, owner)
	if err != nil {
		return nil, err
	}
	new, err := dst.Archive(ctx, owner)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(target.contradicts(old.Record), target.contradicts(new.Record)); err != nil {
		return nil, err
	}
	if old.Record == nil && new.Record == nil {
		if held, err := moveHold(ctx, src, dst, from, to, owner, out); held || err != nil {
			return out, err
		}
	}
	if err := movable(old, new, out); err != nil {
		if old.Record == nil && new.Record != nil { // what a move that died has left
			err = errors.Join(err, src.Drop(ctx, owner, out.To))
		}
		return nil, err
	}
	out.Revisions, out.Release = len(old.Kept), old.Record.Called()
	if old.Leaving == nil {
		if err := src.Leave(ctx, owner, out.To); err != nil {
			return nil, err
		}
	}
	if new.Record == nil {
		if err := dst.Restore(ctx, owner, old); err != nil {
			return nil, err
		}
	}
	return out, src.Drop(ctx, owner, out.To)
}

// moveHold moves what keeps the first release of a bundle back, which has no record yet; false where there is nothing like that. Killed
// between the two steps both places have it, and the next move goes on.
func moveHold(ctx context.Context, src, dst release.Mover, from, to release.Store, owner string, out *Moved) (bool, error) {
	h, _, err := release.HeldOn(ctx, from, owner)
	if h == nil || err != nil {
		return false, err
	}
	out.Release = &release.Name{Release: h.Release, Rollout: h.Rollout}
	switch there, _, err := release.HeldOn(ctx, to, owner); {
	case err != nil:
		return true, err
	case there != nil && there.Rollout != h.Rollout:
		return true, fmt.Errorf("release %d is kept back in %s, and release %d in %s: abort the one that is wrong", h.Release, out.From, there.Release, out.To)
	}
	if err := dst.Restore(ctx, owner, release.Archive{Hold: h}); err != nil {
		return true, err
	}
	return true, src.Drop(ctx, owner, out.To)
}

// movable refuses a move of nothing, to where records are, or to another place than one that has begun.
func movable(old, new release.Archive, m *Moved) error {
	switch {
	case old.Record == nil && new.Record != nil:
		return fmt.Errorf("%w: they are in %s", ErrNothing, m.To)
	case old.Record == nil:
		return fmt.Errorf("%w: none in %s", ErrNothing, m.From)
	case old.Leaving != nil && !old.Leaving.Is(m.To):
		return fmt.Errorf("a move of the records to %s has begun and has not ended: end that one first", old.Leaving)
	case old.Leaving == nil && new.Record != nil:
		return fmt.Errorf("there are records of the bundle in both places: release %s in %s, release %s in %s; delete those that are wrong, and nobody but you knows which", old.Record.Called(), m.From, new.Record.Called(), m.To)
	}
	return nil
}
