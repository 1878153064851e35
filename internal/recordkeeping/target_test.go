package recordkeeping

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/release"
)

// theirs is a store that may be locked and read. What would change it panics, but for Leave, which ends a move that was begun.
type theirs struct {
	kept
	others []release.Record
	held   *release.Held
	left   bool
}

type noLock struct{ release.Lock }

func (noLock) Context() context.Context     { return context.Background() }
func (noLock) Unlock(context.Context) error { return nil }

func (s *theirs) Lock(context.Context, string, string, time.Duration) (release.Lock, error) {
	return noLock{}, nil
}

func (s *theirs) Archive(context.Context, string) (release.Archive, error) {
	return release.Archive{Record: s.rec}, nil
}

func (s *theirs) Leave(context.Context, string, release.Place) error {
	s.left = true
	return release.ErrConflict
}

func (s *theirs) Holder(context.Context, string) (*release.Held, error) { return s.held, nil }

func (s *theirs) Sample(_ context.Context, each func(release.Record) bool) error {
	for _, r := range s.others {
		if !each(r) {
			return nil
		}
	}
	return nil
}

// TestClusterThatCallsItselfAnother: a cluster that has the UID of another one of the fleet neither has records filed under it, nor
// is given the other's, nor has the other's lock taken away: the records themselves say whose they are, those of the bundle, or those of
// others where it has none. It is refused when it is looked at, and again under the locks.
func TestClusterThatCallsItselfAnother(t *testing.T) {
	f := &v1alpha1.FleetSpec{Name: "f", Clusters: []v1alpha1.ClusterSpec{{Name: "eu"}, {Name: "us"}}}
	record := func(cluster, uid string) *release.Record {
		return &release.Record{Bundle: "shop", Fleet: "f", Cluster: cluster, ClusterUID: uid}
	}
	eu := []release.Record{*record("eu", "1")}
	for name, c := range map[string]struct {
		from, to *release.Record
		others   []release.Record // of the store that is moved to
		uid      string
		accepted bool
		refused  string // "" for nothing
		late     bool   // also under the locks
	}{
		"its own":                         {from: record("us", "2"), uid: "2"},
		"its own, claiming another UID":   {from: record("us", "2"), uid: "1", refused: "another cluster", late: true},
		"the other's, out of a store":     {from: record("eu", "1"), uid: "1", refused: "look swapped", late: true},
		"the other's, in the store":       {from: record("us", "1"), to: record("eu", "1"), uid: "1", refused: "look swapped", late: true},
		"the store has others of eu":      {from: record("us", "1"), others: eu, uid: "1", refused: "look swapped"},
		"accepted":                        {from: record("eu", "1"), others: eu, uid: "1", accepted: true},
		"of another fleet, under one UID": {from: &release.Record{Fleet: "g", Cluster: "eu", ClusterUID: "1"}, uid: "1"},
	} {
		target := Target{Name: "us", Identity: fleet.Identity{UID: c.uid}, Fleet: f, Accepted: c.accepted}
		from := &theirs{kept: kept{rec: c.from, placed: placed{at: release.Place{}}}}
		to := &theirs{kept: kept{rec: c.to, placed: placed{at: release.Place{ID: "x"}}}, others: c.others}
		row := Row{Cluster: "us"}.Look(t.Context(), Moving, "o", to, func() release.Store { return from }, target)
		if c.refused == "" != (row.Problem == "") || !strings.Contains(row.Problem, c.refused) || c.refused != "" && !strings.Contains(row.Problem, "--accept-cluster us") {
			t.Errorf("%s: %q", name, row.Problem)
		}
		if row.Do(t.Context(), Moving, "o", "ann", time.Minute); (c.refused == "") != from.left {
			t.Errorf("%s: begun: %t", name, from.left)
		}
		from.left = false
		if _, err := Move(t.Context(), from, to, "o", "ann", time.Minute, target); c.late && (err == nil || !strings.Contains(err.Error(), c.refused) || from.left) {
			t.Errorf("%s, under the locks: %v", name, err)
		}
	}
	for name, s := range map[string]*theirs{"its lock": {kept: kept{rec: record("us", "1")}}, "eu's lock": {kept: kept{rec: record("eu", "1")}}, "a lock beside records of eu": {others: eu}} {
		s.held = &release.Held{Holder: "bob"}
		row := Row{Cluster: "us"}.Look(t.Context(), Unlock, "o", s, func() release.Store { return s }, Target{Name: "us", Identity: fleet.Identity{UID: "1"}, Fleet: f})
		if strings.Contains(row.Problem, "look swapped") == (name == "its lock") || row.Nothing || (row.Holder != "") != (row.Problem == "") {
			t.Errorf("%s: %+v", name, row)
		}
	}
}

// TestAdvised: a refusal of identity names the command that has the flag, and stays what it is otherwise.
func TestAdvised(t *testing.T) {
	f := diag.Errorf("wrong-cluster", "it is another one")
	f.Fix = "correct the context; if it is another cluster on purpose: --accept-cluster eu"
	other := errors.New("other")
	got := Advised(diag.Findings{f, diag.Errorf("x", "y")}.Err())
	fe, ok := errors.AsType[*diag.FindingsError](got)
	if !ok || len(fe.Findings) != 2 || fe.Findings[0].Code != f.Code || fe.Findings[0].Fix != "correct the context; if it is another cluster on purpose: first apply with --accept-cluster eu" {
		t.Errorf("%v", got)
	}
	if Advised(other) != other || Advised(nil) != nil {
		t.Error("another error is another one now")
	}
}
