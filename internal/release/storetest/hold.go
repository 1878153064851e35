package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/waitlist"
)

// testHold: what keeps a release back is kept whole, by compare-and-swap, apart from records, until the bundle is deleted.
func testHold(t *testing.T, open func(*testing.T) release.Store) {
	if _, ok := open(t).(release.Holder); !ok {
		t.Skip("the store keeps no releases back")
	}
	holder := func() release.Holder { return open(t).(release.Holder) }
	r := Record(t, 1)
	if h, at, err := holder().Held(t.Context(), r.Owner); h != nil || at != "" || err != nil {
		t.Fatalf("held before anything was: %v %q %v", h, at, err)
	}
	first := release.Hold{V: release.V, Bundle: r.Bundle, Owner: r.Owner, Release: 2, Rollout: "7K2M", SourceDigest: "sha256:x", Wave: "wave 2 (prod)", Since: r.Started}
	at, err := holder().PutHold(t.Context(), r.Owner, first, "")
	if err != nil {
		t.Fatal(err)
	}
	rh := put(t, open(t), r, Objects(2, "x"), "")
	open1 := Record(t, 2)
	open1.Phase = release.Applying
	rh = put(t, open(t), open1, nil, rh)
	rh = put(t, open(t), open1, nil, rh) // what a record's writer collects is not this
	other := first
	other.Rollout = "OTHER"
	if _, err := holder().PutHold(t.Context(), r.Owner, other, ""); !errors.Is(err, release.ErrConflict) {
		t.Errorf("a second first one: %v", err)
	}
	second := first
	second.Approved = &release.Word{By: "ann", At: r.Started.Add(time.Minute), Message: "päss"}
	if _, err := holder().PutHold(t.Context(), r.Owner, second, at); err != nil {
		t.Fatal(err)
	}
	if _, err := holder().PutHold(t.Context(), r.Owner, other, at); !errors.Is(err, release.ErrConflict) {
		t.Errorf("an old handle: %v", err)
	}
	got, _, err := holder().Held(t.Context(), r.Owner)
	if diff := cmp.Diff(&second, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	var listed []release.Hold
	if err := open(t).(waitlist.Lister).Holds(t.Context(), func(owner string, h release.Hold) {
		if owner == r.Owner {
			listed = append(listed, h)
		}
	}); err != nil || len(listed) != 1 {
		t.Errorf("listed: %+v, %v", listed, err)
	} else if diff := cmp.Diff(second, listed[0]); diff != "" {
		t.Error(diff)
	}
	if err := open(t).Delete(t.Context(), r.Owner, rh); err != nil {
		t.Fatal(err)
	}
	if h, _, err := holder().Held(t.Context(), r.Owner); h != nil || err != nil {
		t.Errorf("still there: %v %v", h, err)
	}
}
