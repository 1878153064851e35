package blob

import (
	"context"

	"hawser.dev/hawser/internal/release"
)

// What keeps a release back is the last entry of a journal of its own, which is empty where nothing does.

// Held returns it.
func (s *store) Held(ctx context.Context, owner string) (*release.Hold, release.RecordVersion, error) {
	j, err := s.journal(owner, holds)
	if err != nil {
		return nil, "", err
	}
	t, err := j.last(ctx)
	if err != nil || len(t.Body) == 0 {
		return nil, "", err
	}
	h, err := release.DecodeHold(t.Body, owner)
	if err != nil {
		return nil, "", s.wrap("read", j.key(t.number), err)
	}
	return h, t.handle(), nil
}

// Holds gives all of them.
func (s *store) Holds(ctx context.Context, each func(owner string, h release.Hold)) error {
	owners, err := s.owners(ctx, holds)
	for _, owner := range owners {
		if h, _, err := s.Held(ctx, owner); err == nil && h != nil {
			each(owner, *h)
		}
	}
	return err
}

// PutHold replaces it.
func (s *store) PutHold(ctx context.Context, owner string, h release.Hold, at release.RecordVersion) (release.RecordVersion, error) {
	j, err := s.journal(owner, holds)
	if err != nil {
		return "", err
	}
	t, err := j.last(ctx)
	if err != nil {
		return "", err
	}
	if none := len(t.Body) == 0; none && at != "" || !none && at != t.handle() {
		return "", s.wrap("write", j.key(t.number+1), release.ErrConflict)
	}
	data, err := release.EncodeHold(h, owner)
	if err != nil {
		return "", err
	}
	written, err := j.add(ctx, t, data)
	return written.handle(), err
}

// unhold writes an empty entry.
func (s *store) unhold(ctx context.Context, owner string) error {
	j, err := s.journal(owner, holds)
	if err != nil {
		return err
	}
	t, err := j.last(ctx)
	if err != nil || len(t.Body) == 0 {
		return err
	}
	_, err = j.add(ctx, t, nil)
	return err
}
