package rollout

import (
	"slices"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// A wave is approved when every cluster of it that answers and has something to do is; what goes past approvals needs none.
func TestApprove(t *testing.T) {
	sch := Schedule{Waves: []WaveSpec{{Name: "a"}, {Name: "b", Approval: true}},
		Members: []Member{{Cluster: "a", Wave: 1}, {Cluster: "b", Wave: 2}, {Cluster: "c", Wave: 2}, {Cluster: "d", Wave: 2, Unreachable: true}}}
	settled := func(name string) bool { return name == "c" }
	for _, c := range []struct {
		name     string
		past     Past
		approved []string
		want     bool
	}{
		{"nobody", Past{}, nil, false},
		{"another cluster", Past{}, []string{"a", "c", "d"}, false},
		{"the one that changes", Past{}, []string{"b"}, true},
		{"gone past", Past{Approvals: true}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Approve(Ready(sch, c.past, settled), func(cluster string) bool { return slices.Contains(c.approved, cluster) })
			if got.Waves[1].Approved != c.want || sch.Waves[1].Approved {
				t.Errorf("approved %t, want %t", got.Waves[1].Approved, c.want)
			}
		})
	}
	if asked := Ready(sch, Past{}, settled).Asked(2); !slices.Equal(asked, []string{"b"}) {
		t.Errorf("asked are %v", asked)
	}
}

// A rollout that comes to a wave that nobody has approved ends there with its reason; a closed window matters only when somebody has.
func TestUnapproved(t *testing.T) {
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	sch := Schedule{Waves: []WaveSpec{{Name: "staging"}, {Name: "production", Approval: true, Window: &Window{From: "13:00", To: "14:00"}}},
		Members: []Member{{Cluster: "a", Wave: 1}, {Cluster: "b", Wave: 2}}}
	st, _ := Next(sch, State{}, nil, now)
	st, d := Next(sch, st, []Outcome{{Cluster: "a", OK: true}}, now)
	if !d.Unapproved || d.Closed || d.Wave != 2 || d.Done {
		t.Fatalf("%+v", d)
	}
	if st, d = Next(sch, Stop(st, sch.Keeps(d)), nil, now); !d.Done || d.Stop != "wave 2 (production) waits for an approval" || st.Phases["b"] != NotStarted {
		t.Errorf("%+v %+v", d, st)
	}
	if fs := Closed(Ready(sch, Past{}, func(c string) bool { return c == "a" }), now, diag.Error); len(fs) > 0 {
		t.Errorf("refused for its window before it is asked for an approval: %v", fs)
	}
}

// There is but one kind of approval.
func TestWrongApproval(t *testing.T) {
	spec := &v1alpha1.Rollout{Waves: []v1alpha1.Wave{{Groups: []string{"a"}, Approval: "auto"}, {Groups: []string{"b"}, Approval: v1alpha1.ApprovalManual}}}
	sch, findings := NewSchedule(spec, []fleet.Cluster{{ClusterSpec: v1alpha1.ClusterSpec{Name: "a", Group: "a"}}}, nil)
	if len(findings) != 1 || findings[0].Code != "wrong-approval" || findings[0].Fix == "" {
		t.Errorf("%v", findings)
	}
	if !sch.Waves[1].Approval || sch.Waves[1].Rules("all at once", time.Time{}) != "all at once; by approval" || sch.Waves[1].Rules("", time.Time{}) != "by approval" {
		t.Errorf("%+v", sch.Waves[1])
	}
}

// A cluster that is skipped as it does not answer holds no wave up with its window.
func TestReadyWithoutUnreachable(t *testing.T) {
	noon := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	sch := Schedule{Waves: []WaveSpec{{Window: &Window{From: "13:00", To: "14:00"}}, {}},
		Members: []Member{{Cluster: "a", Wave: 1}, {Cluster: "b", Wave: 1, Unreachable: true}, {Cluster: "c", Wave: 2}}}
	settled := func(name string) bool { return name == "a" }
	if fs := Closed(Ready(sch, Past{Unreachable: true}, settled), noon, diag.Error); len(fs) > 0 {
		t.Errorf("refused for a cluster that is left out: %v", fs)
	}
	if fs := Closed(Ready(sch, Past{}, settled), noon, diag.Error); len(fs) != 1 {
		t.Errorf("with it: %v", fs)
	}
}
