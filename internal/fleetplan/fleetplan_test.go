package fleetplan

import (
	"slices"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rollout"
)

// Unknown clusters stop an apply before it begins, unless their wave may lose them or they are skipped.
func TestReachable(t *testing.T) {
	t.Parallel()
	of := func(down ...string) *FleetPlan {
		fp := &FleetPlan{Schedule: scheduleOf(2)}
		for i, name := range []string{"a", "b"} {
			cp := &ClusterPlan{Cluster: name, Wave: i + 1, Plan: &plan.Plan{}}
			if slices.Contains(down, name) {
				cp.Unreachable, cp.Plan = "connection refused", nil
			}
			fp.Clusters = append(fp.Clusters, cp)
		}
		return fp
	}
	for _, tt := range []struct {
		name string
		fp   *FleetPlan
		skip bool
		want []string
	}{
		{"all answer", of(), false, nil},
		{"one is down", of("b"), false, []string{"cluster b does not answer"}},
		{"skipped", of("b"), true, nil},
	} {
		var got []string
		for _, f := range tt.fp.Reachable(tt.skip) {
			if f.Severity == diag.Error {
				got = append(got, f.What)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// scheduleOf is a schedule of so many waves with one cluster each: a, b, c, ...
func scheduleOf(waves int) rollout.Schedule {
	var s rollout.Schedule
	for i := range waves {
		name := string(rune('a' + i))
		s.Waves = append(s.Waves, rollout.WaveSpec{Name: name})
		s.Members = append(s.Members, rollout.Member{Cluster: name, Wave: i + 1})
	}
	return s
}
