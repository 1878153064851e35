package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/testseed"
)

// Movers gives the stores of a move as a new process would see them. The process dies at the n-th request of both together, 0 for never;
// reached tells whether it came that far.
type Movers func(t testing.TB, n int) (from, to release.Store, reached func() bool)

// RunMove shows that everything of a bundle comes from one store to another, that the former does not give it any more, and that a move
// that dies at any request can be ended. unlock gives back the locks of a process that died.
func RunMove(t *testing.T, open Movers, unlock func(t testing.TB, owner string)) {
	t.Run("Whole", func(t *testing.T) { testMove(t, open) })
	t.Run("HoldAlone", func(t *testing.T) { testMoveHold(t, open) })
	t.Run("Busy", func(t *testing.T) { testMoveBusy(t, open) })
	t.Run("Dies", func(t *testing.T) {
		step, begin := testseed.Deaths(t, 5)
		for n, reached := 1+begin, true; reached; n += step {
			from, _, _ := open(t, 0)
			r := fill(t, from)
			src, dst, came := open(t, n)
			_, err := recordkeeping.Move(t.Context(), src, dst, r.Owner, "dead", time.Minute, recordkeeping.Target{})
			if reached = came(); reached {
				unlock(t, r.Owner)
			} else if err != nil {
				t.Fatal(err)
			}
			from, to, _ := open(t, 0)
			if _, err := recordkeeping.Move(t.Context(), from, to, r.Owner, "ann", time.Minute, recordkeeping.Target{}); err != nil && !errors.Is(err, recordkeeping.ErrNothing) {
				t.Fatalf("dead at request %d: %v", n, err)
			}
			from, to, _ = open(t, 0)
			complete(t, to, r)
			left(t, from, r)
			_, h := current(t, to, r.Owner)
			if err := to.Delete(t.Context(), r.Owner, h); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func testMove(t *testing.T, open Movers) {
	fresh := func() (from, to release.Store) {
		from, to, _ = open(t, 0)
		return from, to
	}
	move := func(from, to release.Store, owner string) (*recordkeeping.Moved, error) {
		return recordkeeping.Move(t.Context(), from, to, owner, "ann", time.Minute, recordkeeping.Target{})
	}
	from, to := fresh()
	r := fill(t, from)
	if _, err := move(to, from, r.Owner); !errors.Is(err, recordkeeping.ErrNothing) {
		t.Errorf("moved from where nothing is: %v", err)
	}
	from, to = fresh()
	m, err := move(from, to, r.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if m.Revisions != 3 || m.Release.Rollout != r.Rollout {
		t.Errorf("moved %+v", m)
	}
	from, to = fresh()
	complete(t, to, r)
	left(t, from, r)
	if _, err := move(from, to, r.Owner); !errors.Is(err, recordkeeping.ErrNothing) {
		t.Errorf("moved again: %v", err)
	}
	next := r // and it goes on there
	next.Revision++
	_, h := current(t, to, r.Owner)
	h = put(t, to, next, Objects(1, "next"), h)
	if _, err := move(to, from, r.Owner); err != nil {
		t.Fatal(err)
	}
	from, to = fresh()
	if now, _ := current(t, from, r.Owner); now.Revision != next.Revision {
		t.Errorf("back is revision %d", now.Revision)
	}
	if _, err := to.Put(t.Context(), next, nil, h); err == nil {
		t.Error("a writer of before writes on where the records were")
	}
}

// testMoveHold: what keeps the first release back comes along, though nothing is recorded yet, and does so again after a kill between.
func testMoveHold(t *testing.T, open Movers) {
	r := Record(t, 1)
	hold := release.Hold{Bundle: r.Bundle, Release: 1, Rollout: "HELD", SourceDigest: "sha256:x", Wave: "wave 1"}
	from, _, _ := open(t, 0)
	if _, err := from.(release.Holder).PutHold(t.Context(), r.Owner, hold, ""); err != nil {
		t.Fatal(err)
	}
	held := func(s release.Store) string {
		h, _, err := s.(release.Holder).Held(t.Context(), r.Owner)
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			return ""
		}
		return h.Rollout
	}
	from, to, _ := open(t, 0)
	m, err := recordkeeping.Move(t.Context(), from, to, r.Owner, "ann", time.Minute, recordkeeping.Target{})
	if err != nil || m.Release.Rollout != "HELD" || m.Revisions != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	from, to, _ = open(t, 0)
	if held(from) != "" || held(to) != "HELD" {
		t.Errorf("from has %q, to %q", held(from), held(to))
	}
	if _, err := recordkeeping.Move(t.Context(), from, to, r.Owner, "ann", time.Minute, recordkeeping.Target{}); !errors.Is(err, recordkeeping.ErrNothing) {
		t.Errorf("moved again: %v", err)
	}
	if err := to.Delete(t.Context(), r.Owner, ""); err != nil {
		t.Fatal(err)
	}
	from, to, _ = open(t, 0)
	if held(from)+held(to) != "" {
		t.Error("it cannot be deleted any more")
	}
}

func testMoveBusy(t *testing.T, open Movers) {
	from, to, _ := open(t, 0)
	r := fill(t, from)
	for name, s := range map[string]release.Store{"from": from, "to": to} {
		lock, err := s.Lock(t.Context(), r.Owner, "bob", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := recordkeeping.Move(t.Context(), from, to, r.Owner, "ann", time.Minute, recordkeeping.Target{}); !errors.Is(err, release.ErrLocked) {
			t.Errorf("%s is locked: %v", name, err)
		}
		if err := lock.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	complete(t, from, r)
}

// fill gives a bundle three kept revisions and a hold.
func fill(t *testing.T, s release.Store) release.Record {
	t.Helper()
	r := Record(t, 1)
	h := put(t, s, r, Objects(2, "one"), "")
	for n, text := range []string{"two", "three"} {
		r.Revision, r.Phase = n+2, release.Failed
		h = put(t, s, r, Objects(n+3, text), h)
	}
	r.Phase = release.Succeeded // as was learned later
	put(t, s, r, nil, h)
	if err := release.PutHoldOn(t.Context(), s, r.Owner, func(*release.Hold) (*release.Hold, error) {
		return &release.Hold{Bundle: r.Bundle, Release: 9, Rollout: "HELD"}, nil
	}); err != nil {
		t.Fatal(err)
	}
	return r
}

// complete fails unless a store has what fill wrote.
func complete(t *testing.T, s release.Store, r release.Record) {
	t.Helper()
	now, _ := current(t, s, r.Owner)
	want := r
	want.SetDigest = now.SetDigest
	if diff := cmp.Diff(want, now); diff != "" {
		t.Fatal(diff)
	}
	list := revisions(t, s, r.Owner)
	if len(list) != 3 || list[0].Phase != release.Succeeded || list[1].Phase != release.Failed || list[2].Phase != release.Succeeded {
		t.Fatalf("%d revisions", len(list))
	}
	for i, text := range []string{"three", "two", "one"} {
		objects, err := s.Objects(t.Context(), list[i])
		if err != nil || len(objects) != 4-i || release.SetDigest(objects) != release.SetDigest(Objects(4-i, text)) {
			t.Errorf("revision %d: %d objects, %v", list[i].Revision, len(objects), err)
		}
	}
	if h, _, err := s.(release.Holder).Held(t.Context(), r.Owner); err != nil || h == nil || h.Rollout != "HELD" {
		t.Errorf("hold %v, %v", h, err)
	}
}

// left fails if a store still gives a bundle.
func left(t *testing.T, s release.Store, r release.Record) {
	t.Helper()
	if now, _, err := s.Current(t.Context(), r.Owner); now != nil || err != nil && !errors.Is(err, release.ErrElsewhere) {
		t.Errorf("there is still %v, %v", now, err)
	}
	if h, _, err := s.(release.Holder).Held(t.Context(), r.Owner); h != nil || err != nil {
		t.Errorf("it still holds %v, %v", h, err)
	}
}
