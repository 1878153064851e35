package kube

import (
	"context"
	"fmt"

	"hawser.dev/hawser/internal/release"
)

// partKept holds what was made up for a bundle. It has no owner label: what is collected by that label is written by
// somebody who died, and this is to stay.
const partKept = "kept"

var _ release.Keeper = (*Store)(nil)

func keptName(owner string) string { return headName(owner) + "-kept" }

// Kept reads the bundle's Secret of made-up values.
func (s *Store) Kept(ctx context.Context, owner string) (release.Kept, release.RecordVersion, error) {
	data, at, err := s.apart(ctx, keptName(owner))
	if at == "" || err != nil {
		return nil, "", err
	}
	k, err := release.DecodeKept(data)
	if err != nil {
		return nil, "", s.wrap("read", "secrets", keptName(owner), err)
	}
	return k, at, nil
}

// Keep writes it by compare-and-swap. After an error that leaves open whether it was written, it looks.
func (s *Store) Keep(ctx context.Context, owner string, k release.Kept, h release.RecordVersion) (release.RecordVersion, error) {
	data, err := release.EncodeKept(k)
	if err != nil {
		return "", err
	}
	if len(data) > s.chunk {
		return "", s.wrap("write", "secrets", keptName(owner), fmt.Errorf("the made-up values take %d KiB, at most %d are kept", len(data)>>10, s.chunk>>10))
	}
	return s.putApart(ctx, keptName(owner), partKept, data, h)
}

// Forget deletes it.
func (s *Store) Forget(ctx context.Context, owner string) error {
	return s.dropApart(ctx, keptName(owner))
}
