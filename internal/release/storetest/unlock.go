package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/release"
)

// A lock is broken by who saw its holder, and not once somebody else has it; its former holder stops.
func testForceUnlock(t *testing.T, open func(*testing.T) release.Store) {
	owner := Record(t, 1).Owner
	breaker, ok := open(t).(release.Unlocker)
	watched, ok2 := open(t).(release.Watched)
	if !ok || !ok2 {
		t.Skip("the store's locks cannot be broken")
	}
	lock, err := open(t).Lock(t.Context(), owner, "ann@laptop", ttl)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := watched.Holder(t.Context(), owner)
	if err != nil || seen == nil || !strings.Contains(seen.Holder, "ann@laptop") {
		t.Fatalf("%+v, %v", seen, err)
	}
	if err := breaker.ForceUnlock(t.Context(), owner, release.Held{Holder: "bob@desk"}); !errors.Is(err, release.ErrConflict) {
		t.Errorf("broken for bob: %v", err)
	}
	if err := breaker.ForceUnlock(t.Context(), owner, *seen); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lock.Context().Done():
	case <-time.After(2 * ttl):
		t.Error("its holder goes on")
	}
	next, err := open(t).Lock(t.Context(), owner, "bob@desk", ttl)
	if err != nil {
		t.Fatal(err)
	}
	if err := breaker.ForceUnlock(t.Context(), owner, *seen); !errors.Is(err, release.ErrConflict) {
		t.Errorf("broken for whom was seen before: %v", err)
	}
	if err := lock.Unlock(t.Context()); !errors.Is(err, release.ErrLost) {
		t.Errorf("given back by whom it was taken from: %v", err)
	}
	if err := next.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if err := breaker.ForceUnlock(t.Context(), owner, *seen); err != nil && !errors.Is(err, release.ErrConflict) {
		t.Errorf("nobody holds it: %v", err)
	}
}
