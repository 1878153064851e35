package storetest

import (
	"context"

	"hawser.dev/hawser/internal/release"
)

// Kept are the records of the revisions that a store keeps of an owner.
func Kept(ctx context.Context, h release.History, owner string) (out []release.Record, err error) {
	err = h.Revisions(ctx, owner, func(r release.Record) error {
		out = append(out, r)
		return nil
	})
	return out, err
}
