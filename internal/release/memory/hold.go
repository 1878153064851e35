package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/release"
)

var _ release.Holder = (*Store)(nil)

// Held returns what keeps a release of a bundle back.
func (s *Store) Held(_ context.Context, owner string) (*release.Hold, release.RecordVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.holds[owner]
	if !ok {
		return nil, "", nil
	}
	out, err := release.DecodeHold(k.data, owner)
	return out, k.handle, s.wrap(owner, err)
}

// Holds gives all of them.
func (s *Store) Holds(ctx context.Context, each func(owner string, h release.Hold)) error {
	s.mu.Lock()
	owners := slices.Sorted(maps.Keys(s.holds))
	s.mu.Unlock()
	for _, owner := range owners {
		if h, _, err := s.Held(ctx, owner); err == nil && h != nil {
			each(owner, *h)
		}
	}
	return nil
}

// PutHold replaces what the handle names.
func (s *Store) PutHold(_ context.Context, owner string, h release.Hold, at release.RecordVersion) (release.RecordVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds[owner].handle != at {
		return "", s.wrap(owner, release.ErrConflict)
	}
	data, err := release.EncodeHold(h, owner)
	if err != nil {
		return "", s.wrap(owner, err)
	}
	s.writes++
	next := kept{handle: release.RecordVersion(fmt.Sprint(s.writes)), data: data}
	s.holds[owner] = next
	return next.handle, nil
}
