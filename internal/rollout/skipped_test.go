package rollout_test

import (
	"slices"
	"testing"
	"time"

	"hawser.dev/hawser/internal/rollout"
)

func TestSkipped(t *testing.T) {
	run := func(cluster, id, revision string, minute int, ended bool) rollout.Run {
		return rollout.Run{Cluster: cluster, Rollout: id, Revision: revision, Began: epoch.Add(time.Duration(minute) * time.Minute), Ended: ended}
	}
	working := run("b", "new", "2", 11, false)
	working.InProgress = true
	for _, c := range []struct {
		name string
		runs []rollout.Run
		want []string
	}{
		{"nothing is known", nil, nil},
		{"it stopped on b", []rollout.Run{run("a", "new", "2", 10, true), run("b", "new", "2", 11, false), run("c", "old", "1", 2, true), run("d", "old", "1", 3, true)}, []string{"c", "d"}},
		{"it ended well on all that were selected", []rollout.Run{run("a", "new", "2", 10, true), run("c", "old", "1", 2, true)}, nil},
		{"it is at work", []rollout.Run{run("a", "new", "2", 10, true), working, run("c", "old", "1", 2, true)}, nil},
		{"c has that revision from another run", []rollout.Run{run("b", "new", "2", 11, false), run("c", "other", "2", 5, true)}, nil},
		{"an older failure on b is no stop of the newest one", []rollout.Run{run("a", "new", "2", 10, true), run("b", "old", "1", 1, false)}, nil},
	} {
		if got := rollout.Skipped(c.runs); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
