package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/release"
)

const ttl = 3 * time.Second

func testLock(t *testing.T, open func(*testing.T) release.Store) {
	a, b, owner := open(t), open(t), Record(t, 1).Owner
	lock, err := a.Lock(t.Context(), owner, "ann@laptop", ttl)
	if err != nil {
		t.Fatal(err)
	}
	if lock.Recovered() != nil || lock.Context().Err() != nil {
		t.Errorf("a fresh lock: %v %v", lock.Recovered(), lock.Context().Err())
	}
	before := time.Now()
	_, err = b.Lock(t.Context(), owner, "bob@desk", ttl)
	locked, ok := errors.AsType[*release.LockedError](err)
	if !ok || !errors.Is(err, release.ErrLocked) {
		t.Fatalf("error %v, want a LockedError", err)
	}
	if took := time.Since(before); took > ttl/2 {
		t.Errorf("failed after %s, want at once", took)
	}
	if !strings.Contains(locked.Holder, "ann@laptop") || locked.Expires.Before(before) || time.Since(locked.Since) > time.Minute {
		t.Errorf("held by %q since %s until %s", locked.Holder, locked.Since, locked.Expires)
	}
	other, err := b.Lock(t.Context(), owner+"x", "bob@desk", ttl)
	if err != nil {
		t.Fatalf("the lock of another bundle: %v", err)
	}
	for _, l := range []release.Lock{lock, other} {
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if l.Context().Err() == nil {
			t.Error("the context outlives the lock")
		}
		if err := l.Unlock(t.Context()); err != nil {
			t.Errorf("unlocked twice: %v", err)
		}
	}
	again, err := b.Lock(t.Context(), owner, "bob@desk", ttl)
	if err != nil {
		t.Fatal(err)
	}
	if again.Recovered() != nil {
		t.Error("a lock that was given back is no recovered one")
	}
	if err := again.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}

// Of many that want a lock at the same time one gets it.
func testOneLocks(t *testing.T, open func(*testing.T) release.Store) {
	owner := Record(t, 1).Owner
	var got atomic.Int64
	var wg sync.WaitGroup
	locks := make(chan release.Lock, 8)
	for i := range cap(locks) {
		s := open(t)
		wg.Go(func() {
			l, err := s.Lock(t.Context(), owner, fmt.Sprint("writer ", i), ttl)
			switch {
			case err == nil:
				got.Add(1)
				locks <- l
			case !errors.Is(err, release.ErrLocked):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got.Load() != 1 {
		t.Errorf("%d got the lock", got.Load())
	}
	close(locks)
	for l := range locks {
		if err := l.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A lock is held for longer than its time to live. On a machine that stood still for a third of that it is lost, as it must
// be: then with a longer one.
func testLockIsRenewed(t *testing.T, open func(*testing.T) release.Store) {
	owner := Record(t, 1).Owner
	for i, ttl := range []time.Duration{ttl, 3 * ttl, 9 * ttl} {
		if heldLonger(t, open, fmt.Sprint(owner, i), ttl) {
			return
		}
	}
	t.Error("lost every time")
}

// heldLonger holds a lock for two and a half times its time to live; false when it was lost meanwhile.
func heldLonger(t *testing.T, open func(*testing.T) release.Store, owner string, ttl time.Duration) bool {
	lock, err := open(t).Lock(t.Context(), owner, "ann", ttl)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-time.After(2*ttl + ttl/2):
	case <-lock.Context().Done():
	}
	if cause := context.Cause(lock.Context()); cause != nil {
		t.Logf("a lock of %s was lost: %v", ttl, cause)
		return false
	}
	if _, err := open(t).Lock(t.Context(), owner, "bob", ttl); !errors.Is(err, release.ErrLocked) {
		t.Errorf("error %v, want that it is locked", err)
	}
	if err := lock.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	return true
}

// A writer that dies keeps others out until its lock expires; the next one is told whose it was.
func testLockOfTheDead(t *testing.T, open func(*testing.T) release.Store) {
	owner := Record(t, 1).Owner
	ctx, die := context.WithCancel(t.Context())
	dead, err := open(t).Lock(ctx, owner, "ann@laptop", ttl)
	if err != nil {
		t.Fatal(err)
	}
	die()
	if _, err := open(t).Lock(t.Context(), owner, "bob", ttl); !errors.Is(err, release.ErrLocked) {
		t.Fatalf("error %v, want that it is locked", err)
	}
	if dead.Context().Err() == nil {
		t.Error("the context of the dead goes on")
	}
	var next release.Lock
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		if next, err = open(t).Lock(t.Context(), owner, "bob", ttl); err == nil {
			break
		}
		if !errors.Is(err, release.ErrLocked) || time.Since(start) > 5*ttl {
			t.Fatal(err)
		}
	}
	if held := next.Recovered(); held == nil || !strings.Contains(held.Holder, "ann@laptop") {
		t.Errorf("recovered %v", held)
	}
	if err := dead.Unlock(t.Context()); !errors.Is(err, release.ErrLost) {
		t.Errorf("unlocked by the dead: %v", err)
	}
	if next.Context().Err() != nil {
		t.Error("the dead took the lock along")
	}
	if err := next.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}
