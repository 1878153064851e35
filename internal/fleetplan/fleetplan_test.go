package fleetplan

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

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

// planOf is a plan of one cluster for each wave; change makes something else of a cluster's part.
func planOf(waves int, change func(*ClusterPlan)) *FleetPlan {
	p := &FleetPlan{V: 1, Verb: "apply", Bundle: "shop", Schedule: scheduleOf(waves)}
	for _, m := range p.Schedule.Members {
		cp := &ClusterPlan{Cluster: m.Cluster, Wave: m.Wave, UID: "uid-" + m.Cluster, Plan: &plan.Plan{Cluster: m.Cluster, Bundle: "shop"}}
		if change != nil {
			change(cp)
		}
		p.Clusters = append(p.Clusters, cp)
	}
	return p
}

// Unknown clusters stop an apply before it begins, unless their wave may lose them or they are skipped.
func TestReachable(t *testing.T) {
	down := func(names ...string) func(*ClusterPlan) {
		return func(cp *ClusterPlan) {
			if slices.Contains(names, cp.Cluster) {
				cp.Unreachable, cp.Plan = "connection refused", nil
			}
		}
	}
	together := func(p *FleetPlan) { p.Clusters[0].Wave = 2 }
	for _, tt := range []struct {
		name   string
		down   []string
		change func(*FleetPlan)
		skip   bool
		want   []string
	}{
		{"all answer", nil, nil, false, nil},
		{"one is down", []string{"b"}, nil, false, []string{"cluster b does not answer"}},
		{"skipped", []string{"b"}, nil, true, nil},
		{"one in each wave", []string{"a", "b"}, nil, false, []string{"cluster a does not answer", "cluster b does not answer"}},
		{"two in one wave", []string{"a", "b"}, together, false, []string{"2 clusters do not answer: a, b"}},
		{"a wave that may lose one", []string{"b"}, func(p *FleetPlan) { p.Schedule.Waves[1].MaxFailures = 1 }, false, nil},
		{"one after another none is lost", []string{"b"}, func(p *FleetPlan) { p.Schedule.Waves[1].MaxFailures, p.Schedule.Sequential = 1, true }, false,
			[]string{"cluster b does not answer"}},
	} {
		p := planOf(2, down(tt.down...))
		if tt.change != nil {
			tt.change(p)
		}
		var got []string
		for _, f := range p.Reachable(tt.skip) {
			if f.Severity == diag.Error && strings.Contains(f.Why, "connection refused; wave ") {
				got = append(got, f.What)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestOrder: clusters stand in the order of the schedule with its waves and canaries, equal plans are grouped, and the
// totals are those of all clusters.
func TestOrder(t *testing.T) {
	p := planOf(3, func(cp *ClusterPlan) {
		cp.Wave = 0
		if cp.Cluster != "b" {
			cp.Plan.Changes = []plan.Change{{Action: plan.Update, Ref: deployment("api")}}
		}
	})
	p.Clusters = append(p.Clusters, &ClusterPlan{Cluster: "down", Unreachable: "no answer"})
	p.Schedule.Waves = append(p.Schedule.Waves, rollout.WaveSpec{Name: "last"})
	p.Schedule.Members = []rollout.Member{{Cluster: "c", Wave: 1, Canary: true}, {Cluster: "down", Wave: 2}, {Cluster: "b", Wave: 2}, {Cluster: "a", Wave: 3}}
	p.Order()
	var got []string
	for _, cp := range p.Clusters {
		got = append(got, cp.Cluster)
	}
	if !slices.Equal(got, []string{"c", "down", "b", "a"}) || p.Cluster("a").Wave != 3 || !p.Cluster("c").Canary || p.Cluster("nowhere") != nil {
		t.Errorf("%q", got)
	}
	if c := p.Counts(); c.Update != 2 {
		t.Errorf("%+v", c)
	}
	if !slices.ContainsFunc(p.Groups, func(g group.Group) bool { return slices.Equal(g.Clusters, []string{"c", "a"}) }) {
		t.Errorf("equal plans are not one group: %+v", p.Groups)
	}
	p.Schedule.Members[0].Canary, p.Schedule.Members[3].Canary = false, true
	p.MarkCanaries()
	if p.Cluster("c").Canary || !p.Cluster("a").Canary {
		t.Error("the canaries are the former ones")
	}
	if p.Schedule.UntilWave = 2; p.After(p.Cluster("b")) || !p.After(p.Cluster("a")) {
		t.Error("what comes after --until-wave 2 is wrong")
	}
}

// TestDescribe: what the record says, and the runtime values that are others now; secret ones are not told.
func TestDescribe(t *testing.T) {
	now := map[string]fleet.Value{"GROUP": {Value: "production", Layer: fleet.LayerEnv}, "SAME": {Value: "x", Layer: fleet.LayerEnv}, "TOKEN": {Value: "b", Layer: fleet.LayerEnv, Secret: true}}
	record := &release.Record{Revision: 7, Phase: release.Applying, Origins: map[string]string{"GROUP": "staging (env)", "SAME": now["SAME"].Told("SAME"), "TOKEN": "was", "GONE": "x"}}
	c := &ClusterPlan{}
	if c.Describe(nil, now, nil); c.Revision != 0 || c.Resumes {
		t.Errorf("without a record: %+v", c)
	}
	c.Describe(record, now, func(s string) string { return s })
	if c.Revision != 7 || !c.Resumes || len(c.RuntimeChanges) != 1 || !strings.Contains(c.RuntimeChanges[0], "production") {
		t.Errorf("%+v", c)
	}
}
