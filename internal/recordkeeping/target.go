package recordkeeping

import (
	"context"
	"errors"
	"slices"
	"strings"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/release"
)

// Target is a cluster as it answers now. A cluster says itself which one it is, and stores outside of it keep records by that: one
// that calls itself another would have its own filed under that one's name, or be given the other's, and its locks.
type Target struct {
	Name     string
	Identity fleet.Identity
	// Fleet is the one it is of, nil for none.
	Fleet *v1alpha1.FleetSpec
	// Accepted: the user said that it may be another one than is known.
	Accepted bool
}

// contradicts refuses a record that says it is of another cluster; nil says nothing.
func (t Target) contradicts(r *release.Record) error {
	if t.Accepted {
		return nil
	}
	return t.told(r.Contradicts(t.Name, t.Identity, t.Fleet))
}

// told says what to do: what looks after records has no flag for it.
func (t Target) told(fs diag.Findings) error {
	for i := range fs {
		fs[i].Fix = "correct the context of " + t.Name + "; if it is the cluster that is meant, apply with --accept-cluster " + t.Name + " first, with the fleet's file as it was"
	}
	return fs.Err()
}

// refused is why the records of a bundle in the stores, or those of others where it has none there, say that it is another cluster.
// What cannot be read says nothing.
func (t Target) refused(ctx context.Context, owner string, stores ...release.Store) error {
	if t.Accepted {
		return nil
	}
	for _, s := range stores {
		r, _, err := s.Current(ctx, owner)
		if err == nil && r != nil {
			err = t.contradicts(r)
		} else {
			err = t.told(release.Neighbours(ctx, s, t.Name, t.Identity, t.Fleet))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Advised is an error of what looks after records, which has no flag for another cluster than is known: what has it is named.
func Advised(err error) error {
	fe, ok := errors.AsType[*diag.FindingsError](err)
	if !ok {
		return err
	}
	fs, advised := slices.Clone(fe.Findings), false
	for i := range fs {
		if before, after, found := strings.Cut(fs[i].Fix, ": --accept-cluster "); found {
			fs[i].Fix, advised = before+": first apply with --accept-cluster "+after, true
		}
	}
	if !advised {
		return err
	}
	return fs.Err()
}
