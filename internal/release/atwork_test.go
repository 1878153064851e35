package release

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// watchedStore is a store whose lock somebody holds, or whose locks may not be looked at.
type watchedStore struct {
	Store
	held *Held
	err  error
}

func (s watchedStore) Holder(context.Context, string) (*Held, error) { return s.held, s.err }

// Who holds a lock is named, with the time until which, once; what cannot be seen is left to whoever takes the lock.
func TestBusy(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	held := Held{Holder: "ann pid 7", Since: at, Expires: at.Add(time.Minute)}
	told := fmt.Errorf("cluster eu: lock leases hawser-x: %w", &LockedError{Held: held})
	for name, c := range map[string]struct {
		store Store
		want  string
	}{
		"held":               {watchedStore{held: &held}, "locked by ann pid 7, another run that is at work on this bundle"},
		"nobody":             {watchedStore{}, ""},
		"it may not be seen": {watchedStore{err: errors.New("forbidden")}, ""},
		"it cannot be seen":  {struct{ Store }{}, ""},
	} {
		got := ""
		fs := Busy(t.Context(), c.store, "owner")
		if len(fs) > 0 {
			got = fs[0].What
		}
		if got != c.want {
			t.Errorf("%s: %v", name, fs)
		}
		if len(fs) > 0 && (fs[0].Code != "locked" || !strings.Contains(fs[0].Why, "until 2026-01-02T03:05:05Z") || fs[0] != Locked(told)[0]) {
			t.Errorf("%s: %+v, and under the lock %+v", name, fs[0], Locked(told)[0])
		}
	}
	if fs := Locked(ErrLocked); len(fs) != 1 || fs[0].Why != "" {
		t.Errorf("a lock that others fight for: %v", fs)
	}
	if fs := Locked(errors.New("forbidden")); fs != nil {
		t.Errorf("another error: %v", fs)
	}
}

// Who wrote a record after a plan was made is named, with what that run did.
func TestSince(t *testing.T) {
	for want, r := range map[string]*Record{
		"ada@laptop has changed the record since":               {Author: "ada@laptop", Phase: Succeeded},
		"another run has changed the record since":              {Phase: Applying},
		"bob@desk has gone back to release 41 (7K2M3XYZ) since": {Author: "bob@desk", RollbackTo: &Name{Release: 41, Rollout: "7K2M3XYZ"}},
		"ada@laptop has begun to delete the bundle since":       {Author: "ada@laptop", Phase: Deleting},
		"another run has deleted or ejected the bundle since":   nil,
		"another run has begun to eject the bundle since":       {Phase: Deleting, Ejecting: true},
	} {
		if got := r.Since(&Record{Revision: 7}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	first, both := []Correction{{Rollout: "C", Author: "ann"}}, []Correction{{Rollout: "C", Author: "ann"}, {Rollout: "D", Author: "bob@desk"}}
	for want, c := range map[string][2]*Record{
		"ann has corrected the release since":      {{Revision: 7}, {Revision: 7, Author: "ci", Corrections: first}},
		"bob@desk has corrected the release since": {{Revision: 7, Corrections: first}, {Revision: 7, Author: "ci", Corrections: both}},
		"ci has changed the record since":          {{Revision: 7, Corrections: first}, {Revision: 7, Author: "ci", Corrections: first}},
		"ada has changed the record since":         {{Revision: 7}, {Revision: 8, Author: "ada", Corrections: first}},
	} {
		if got := c[1].Since(c[0]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
