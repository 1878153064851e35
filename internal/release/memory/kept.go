package memory

import (
	"context"
	"fmt"

	"hawser.dev/hawser/internal/release"
)

var _ release.Keeper = (*Store)(nil)

// kept is what was made up for a bundle, encoded.
type kept struct {
	handle release.RecordVersion
	data   []byte
}

// Kept returns what was made up for a bundle.
func (s *Store) Kept(_ context.Context, owner string) (release.Kept, release.RecordVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.kept[owner]
	if !ok {
		return nil, "", nil
	}
	out, err := release.DecodeKept(k.data)
	return out, k.handle, s.wrap(owner, err)
}

// Keep replaces what the handle names.
func (s *Store) Keep(_ context.Context, owner string, k release.Kept, h release.RecordVersion) (release.RecordVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[owner].handle != h {
		return "", s.wrap(owner, release.ErrConflict)
	}
	data, err := release.EncodeKept(k)
	if err != nil {
		return "", s.wrap(owner, err)
	}
	s.writes++
	next := kept{handle: release.RecordVersion(fmt.Sprint(s.writes)), data: data}
	s.kept[owner] = next
	return next.handle, nil
}

// Forget removes it.
func (s *Store) Forget(_ context.Context, owner string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, owner)
	return nil
}
