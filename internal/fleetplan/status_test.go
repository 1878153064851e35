package fleetplan

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rollout"
)

func TestStatusVerdict(t *testing.T) {
	ready := ClusterStatus{Cluster: "a", Bundle: "web", Phase: "succeeded", Run: rollout.Run{Ended: true}, Instances: []InstanceStatus{{State: "ready"}}}
	failed := ClusterStatus{Cluster: "b", Bundle: "web", Phase: "succeeded", Run: rollout.Run{Ended: true}, Instances: []InstanceStatus{{State: "failed"}}}
	none, hidden := ClusterStatus{Cluster: "c"}, ClusterStatus{Cluster: "d", Unknown: "the right to get secrets is missing"}
	down := ClusterStatus{Cluster: "e", Unreachable: "no answer"}
	written := ready
	written.Phase = "written"
	for _, c := range []struct {
		name, bundle string
		rows         []ClusterStatus
		want         error
		finding      string
	}{
		{"ready", "web", []ClusterStatus{ready, written}, nil, ""},
		{"not ready", "web", []ClusterStatus{ready, failed}, ErrNotReady, ""},
		{"not ready, and not installed on one", "web", []ClusterStatus{ready, none, failed}, ErrNotReady, ""},
		{"not installed on one", "web", []ClusterStatus{ready, none, written}, nil, "bundle web is not installed on c"},
		{"not installed", "web", []ClusterStatus{none}, nil, "not installed on any"},
		{"nothing asked for by name", "", []ClusterStatus{ready, none}, nil, ""},
		{"unknown is not \"not installed\"", "web", []ClusterStatus{ready, hidden}, ErrPartial, ""},
		{"unreachable", "web", []ClusterStatus{down, none}, ErrPartial, ""},
	} {
		r := &StatusReport{Bundle: c.bundle, Clusters: c.rows}
		err := r.Verdict()
		if c.finding != "" {
			if len(r.Findings) != 1 || r.Findings[0].Severity != diag.Error || !strings.Contains(r.Findings[0].What, c.finding) || err == nil {
				t.Errorf("%s: %v, %v", c.name, err, r.Findings)
			}
			continue
		}
		if !errors.Is(err, c.want) || len(r.Findings) != 0 {
			t.Errorf("%s: %v, %v", c.name, err, r.Findings)
		}
	}
}

// TestMarkSkipped: each bundle's last rollout by itself says which clusters it never came to.
func TestMarkSkipped(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 9, 1, 12, minute, 0, 0, time.UTC) }
	row := func(cluster, bundle, id string, minute int, ended bool) ClusterStatus {
		return ClusterStatus{Cluster: cluster, Bundle: bundle,
			Run: rollout.Run{Cluster: cluster, Rollout: id, Revision: id, Began: at(minute), Ended: ended}}
	}
	s := &StatusReport{Clusters: []ClusterStatus{row("a", "shop", "2", 2, false), row("b", "shop", "1", 1, true), row("b", "blog", "1", 1, true), {Cluster: "c"}}}
	s.MarkSkipped()
	var got []string
	for _, c := range s.Clusters {
		if c.NotStarted {
			got = append(got, c.Cluster+"/"+c.Bundle)
		}
	}
	if !slices.Equal(got, []string{"b/shop"}) {
		t.Errorf("%q", got)
	}
}

// TestSortLocked: by name, those that nothing uses any more last.
func TestSortLocked(t *testing.T) {
	r := &LockReport{Sources: []LockedSource{{Source: "a", Dropped: true}, {Source: "c"}, {Source: "b"}, {Source: "0", Dropped: true}}}
	r.Sort()
	var got []string
	for _, s := range r.Sources {
		got = append(got, s.Source)
	}
	if !slices.Equal(got, []string{"b", "c", "0", "a"}) {
		t.Errorf("%q", got)
	}
}
