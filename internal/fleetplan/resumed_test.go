package fleetplan

import (
	"testing"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
)

// recorded is what a record of a run of a saved plan says of a cluster.
func recorded(cp *ClusterPlan, file string, phase release.Phase, owned ...plan.InventoryEntry) {
	cp.Describe(&release.Record{Revision: 4, PlanFile: file, Phase: phase, Inventory: owned}, nil, func(s string) string { return s })
}

// TestResume: where the record says that this file was carried out nothing is done, whatever is there; where it was begun what is left
// may be done; the rest is as planned. Canaries, and the number of deletions that was confirmed, are those of the file.
func TestResume(t *testing.T) {
	same := func(saved, digest string) bool { return saved == digest }
	change := func(a plan.Action, digest string) []plan.Change {
		return []plan.Change{{Action: a, Ref: deployment("api"), Digest: digest}}
	}
	two := 2
	for name, c := range map[string]struct {
		change   func(now *FleetPlan)
		standing staleplan.Standing // of the first cluster
		stale    bool
		writes   int
	}{
		"as planned":              {func(*FleetPlan) {}, staleplan.Untouched, false, 2},
		"done, and changed since": {func(now *FleetPlan) { recorded(now.Clusters[0], "f", release.Succeeded) }, staleplan.Done, false, 1},
		"written, and is waited":  {func(now *FleetPlan) { recorded(now.Clusters[0], "f", release.Written) }, staleplan.Begun, false, 2},
		"died":                    {func(now *FleetPlan) { recorded(now.Clusters[0], "f", release.Applying) }, staleplan.Begun, false, 2},
		"by another file":         {func(now *FleetPlan) { recorded(now.Clusters[0], "g", release.Succeeded) }, staleplan.Superseded, true, 2},
		"another thing is left": {func(now *FleetPlan) {
			recorded(now.Clusters[0], "f", release.Failed)
			now.Clusters[0].Plan.Changes = change(plan.Delete, "x")
		}, staleplan.Begun, true, 2},
		"what was made up was kept": {func(now *FleetPlan) {
			recorded(now.Clusters[0], "f", release.Failed, plan.InventoryEntry{Ref: deployment("api"), Digest: "kept"})
			now.Clusters[0].Plan.Changes = change(plan.Delete, "kept")
		}, staleplan.Begun, false, 2},
	} {
		made := func(cp *ClusterPlan) {
			cp.Revision, cp.Plan = 3, &plan.Plan{Cluster: cp.Cluster, Changes: change(plan.Recreate, "d")}
		}
		old, now := planOf(2, made), planOf(2, made)
		old.Schedule, now.Schedule = canaries(1), canaries(0)
		old.Order()
		now.Order()
		now.Findings = diag.Findings{diag.Errorf(deletionguard.Code, "confirm"), {Code: "x", Cluster: "a", Severity: diag.Error}, {Code: "x", Cluster: "b", Severity: diag.Warning}}
		first := now.Cluster("a")
		if c.change(&FleetPlan{Clusters: []*ClusterPlan{first}}); name == "what was made up was kept" {
			first.Plan.Changes[0].Action = plan.Create
		}
		now.Resume(old, "f", &two, true)
		findings := Verify(old, now, same, false)
		if first.Standing != c.standing || c.stale != findings.HasErrors() && c.standing.Vouched() || now.Counts().Writes() != c.writes {
			t.Errorf("%s: %s, %v, %+v", name, first.Standing, findings, now.Counts())
		}
		if goes := c.standing.Vouched(); goes != rollout.Same(old.Schedule, now.Schedule) || goes != (len(now.Findings.Errors()) < 2) {
			t.Errorf("%s: %+v, %v", name, now.Schedule.Members, now.Findings)
		}
	}
}

// canaries is a schedule of two clusters of which one is the canary.
func canaries(which int) rollout.Schedule {
	s := rollout.Schedule{Waves: []rollout.WaveSpec{{MaxParallel: 1, Canary: 1}}, Members: []rollout.Member{{Cluster: "a", Wave: 1}, {Cluster: "b", Wave: 1}}}
	return rollout.Canaries(s, func(cluster string) bool { return cluster == s.Members[which].Cluster })
}
