package fleetplan

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/deletionguard"
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
	p := &FleetPlan{V: diag.DocumentVersion, Verb: "apply", Bundle: "shop", Schedule: scheduleOf(waves)}
	for i, m := range p.Schedule.Members {
		cp := &ClusterPlan{Cluster: m.Cluster, Wave: m.Wave, UID: "uid-" + m.Cluster, Plan: &plan.Plan{Cluster: m.Cluster, Bundle: "shop"}}
		if change != nil {
			change(cp)
		}
		p.Clusters = append(p.Clusters, cp)
		p.Schedule.Members[i].Unreachable, p.Schedule.Members[i].Wave = cp.Unreachable != "", cp.Wave
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
	together := func(p *FleetPlan) { p.Schedule.Members[0].Wave = 2 }
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
		{"the canary of a wave that may lose one", []string{"b"}, func(p *FleetPlan) {
			p.Schedule.Waves[1].MaxFailures, p.Schedule.Waves[1].Canary, p.Schedule.Members[1].Canary = 1, 1, true
		}, false, []string{"cluster b does not answer"}},
		{"one after another none is lost", []string{"b"}, func(p *FleetPlan) {
			p.Schedule.Sequential, p.Schedule.Waves, p.Schedule.Members[1].Wave = true, p.Schedule.Waves[:1], 1
		}, false,
			[]string{"cluster b does not answer"}},
	} {
		p := planOf(2, down(tt.down...))
		if tt.change != nil {
			tt.change(p)
		}
		var got []string
		for _, f := range p.Reachable(tt.skip) {
			if f.Severity == diag.Error && strings.HasPrefix(f.Why, "connection refused; ") {
				got = append(got, f.What)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A cluster that answers, and of which nobody knows what it should have, is not said to be silent.
func TestReachableUnknown(t *testing.T) {
	for _, tt := range []struct{ answer, code, what string }{
		{"ab", CodeUnknownRelease, "nobody knows what a, b should have"},
		{"b", "unreachable", "2 clusters do not answer: a, b, or nobody knows what it should have (b)"},
		{"", "unreachable", "2 clusters do not answer: a, b"},
	} {
		p := planOf(2, func(cp *ClusterPlan) {
			cp.Wave, cp.Plan, cp.Version, cp.Unreachable = 1, nil, "", "the record is lost"
			if strings.Contains(tt.answer, cp.Cluster) {
				cp.Version = "1.34.0"
			}
		})
		if fs := p.Reachable(false); len(fs) != 1 || fs[0].Code != tt.code || fs[0].What != tt.what || !strings.Contains(fs[0].Why, "the record is lost") {
			t.Errorf("%q: %+v", tt.answer, fs)
		}
	}
	if cp := (&ClusterPlan{Version: "1.34.0", Lost: true}); cp.State() != "record lost" {
		t.Errorf("%s", cp.State())
	}
}

// Why clusters do not answer is told once where addresses alone differ, and for each other reason with its clusters.
func TestReachableReasons(t *testing.T) {
	why := map[string]string{"a": "connection refused (https://10.0.0.1:6443)", "b": "connection refused (https://10.0.0.2:6443)", "c": "i/o timeout"}
	for _, tt := range []struct{ clusters, want string }{
		{"a", "connection refused (https://10.0.0.1:6443); wave 1 allows 0 failures"},
		{"ab", "connection refused (https://10.0.0.1:6443), and 1 more likewise; wave 1 allows 0 failures"},
		{"abc", "a, b: connection refused (https://10.0.0.1:6443), and 1 more likewise\nc: i/o timeout\nwave 1 allows 0 failures"},
	} {
		p := planOf(len(tt.clusters), func(cp *ClusterPlan) { cp.Wave, cp.Unreachable = 1, why[cp.Cluster] })
		if fs := p.Reachable(false); len(fs) != 1 || fs[0].Why != tt.want {
			t.Errorf("%s: %+v", tt.clusters, fs)
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
	// one that a store knows as a secret is recorded, and compared, as it is shown
	secret := map[string]fleet.Value{"COPY": {Value: "c4nary-x9", Layer: fleet.LayerEnv}}
	mask := func(s string) string { return strings.ReplaceAll(s, "c4nary-x9", "***") }
	c = &ClusterPlan{}
	if c.Describe(&release.Record{Origins: map[string]string{"COPY": mask(secret["COPY"].Told("COPY"))}}, secret, mask); len(c.RuntimeChanges) > 0 {
		t.Errorf("what did not change is told: %s", c.RuntimeChanges)
	}
}

// A plan that only the number of its deletions holds up is told from one that something else blocks too.
func TestUnconfirmed(t *testing.T) {
	guard := deletionguard.Check([]string{"on cluster a: deletes Namespace shop"}, 3, nil)[0]
	gate := diag.Errorf(rollout.CodeGate, "the selection leaves out wave 1")
	note, wrong := diag.Warnf("insecure", "not verified"), diag.Errorf("locked", "locked by ada")
	for name, c := range map[string]struct {
		findings diag.Findings
		conflict bool
		want     int
	}{
		"nothing": {}, "a warning": {findings: diag.Findings{note}}, "another error": {findings: diag.Findings{wrong}},
		"the number alone": {findings: diag.Findings{guard, note}, want: 1}, "a wave before alone": {findings: diag.Findings{note, gate}, want: 1},
		"the number and a wave before": {findings: diag.Findings{guard, gate}, want: 2}, "both": {findings: diag.Findings{guard, wrong}},
		"a conflict": {findings: diag.Findings{guard}, conflict: true},
	} {
		p := planOf(1, nil)
		p.Findings = c.findings
		if c.conflict {
			p.Clusters[0].Plan.Changes = []plan.Change{{Action: plan.Conflict}}
		}
		got, others := p.Unconfirmed()
		if len(got) != c.want || c.want > 0 && len(got)+len(others) != len(c.findings) {
			t.Errorf("%s: %v, %v", name, got, others)
		}
	}
}

// TestHeadOf: a cluster has the files that its record learned, and the revision of a rollback where that has nothing to do there.
func TestHeadOf(t *testing.T) {
	applied := release.Record{Rollout: "R2", Release: 2, SourceDigest: "two"}
	learned := applied
	learned.Learned = "three"
	back := &FleetPlan{SourceDigest: "one", RollbackTo: &release.Name{Release: 1, Rollout: "R1"}}
	for name, c := range map[string]struct {
		plan *FleetPlan
		rec  release.Record
		want string
	}{
		"as released":       {&FleetPlan{SourceDigest: "three"}, applied, "two"},
		"learned":           {&FleetPlan{SourceDigest: "three"}, learned, "three"},
		"to be gone back":   {back, applied, "two"},
		"in it":             {back, release.Record{Rollout: "R1", Release: 1, SourceDigest: "one", Learned: "two"}, "one"},
		"of before numbers": {back, release.Record{Rollout: "OLD", Revision: 12, SourceDigest: "zero"}, "one"},
		"gone back to it":   {back, release.Record{Rollout: "R3", Release: 3, SourceDigest: "other", RollbackTo: back.RollbackTo}, "one"},
	} {
		if got := c.plan.HeadOf(c.rec); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
