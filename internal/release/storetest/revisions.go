package storetest

import (
	"context"
	"testing"

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

// A release that was being corrected when the next one came is given as it had ended.
func testCorrectionDied(t *testing.T, open func(*testing.T) release.Store) {
	s, first := open(t), Record(t, 1)
	h := put(t, s, first, Objects(1, "one"), "")
	correcting := first
	correcting.Phase, correcting.SetDigest, correcting.Corrections = release.Applying, release.SetDigest(Objects(1, "one")), []release.Correction{{Rollout: "C"}}
	put(t, s, Record(t, 2), Objects(1, "two"), put(t, s, correcting, nil, h))
	if list := revisions(t, open(t), first.Owner); len(list) != 2 || list[1].Revision != 1 || list[1].Phase != first.Phase {
		t.Errorf("%+v", list)
	}
}
