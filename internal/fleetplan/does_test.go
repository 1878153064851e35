package fleetplan

import (
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Whether a run does anything on a cluster is one question with one answer, for who asks, says, counts and carries out.
func TestDoes(t *testing.T) {
	nothing := func() *plan.Plan { return &plan.Plan{Unchanged: 3} }
	writes := &plan.Plan{Changes: []plan.Change{{Action: plan.Update}}}
	drifts, unseen := &release.Name{Release: 42}, &release.Record{Corrections: []release.Correction{{Phase: release.Written, Unjudged: true}}}
	for name, c := range map[string]struct {
		plan             ClusterPlan
		waits, notWaited bool // what a run that waits, and one that does not, does
		why, told        string
	}{
		"it writes":           {ClusterPlan{Plan: writes, Left: release.Succeeded}, true, true, "", ""},
		"it hands over":       {ClusterPlan{Plan: &plan.Plan{Changes: []plan.Change{{Action: plan.Release}}}}, true, true, "", ""},
		"it writes, again":    {ClusterPlan{Plan: writes, Left: release.Failed}, true, true, "", ""},
		"a conflict":          {ClusterPlan{Plan: &plan.Plan{Changes: []plan.Change{{Action: plan.Conflict}}}}, false, false, "", ""},
		"succeeded":           {ClusterPlan{Plan: nothing(), Left: release.Succeeded}, false, false, "", ""},
		"nothing was there":   {ClusterPlan{Plan: nothing()}, false, false, "", ""},
		"a lost record":       {ClusterPlan{Plan: &plan.Plan{Rebuilt: true}}, true, true, "", ""},
		"failed":              {ClusterPlan{Plan: nothing(), Left: release.Failed}, true, true, "the last run failed", "nothing is to be written, but the last run failed"},
		"not waited for":      {ClusterPlan{Plan: nothing(), Left: release.Written}, true, false, "the last run did not wait until it was ready", ""},
		"ended in the middle": {ClusterPlan{Plan: nothing(), Left: release.Applying, Resumes: true}, true, true, "", ""},
		"deleting":            {ClusterPlan{Plan: nothing(), Left: release.Deleting, Resumes: true}, true, true, "", ""},
		"no drift":            {ClusterPlan{Plan: nothing(), Left: release.Written, Release: drifts}, false, false, "", ""},
		"no drift, unseen": {ClusterPlan{Plan: nothing(), Last: release.Succeeded, Left: release.Written, Release: drifts, record: unseen}, true, false,
			"the last run did not wait until it was ready", ""},
		"no drift, unseen, of a release that nobody waited for": {ClusterPlan{Plan: nothing(), Last: release.Written, Left: release.Written, Release: drifts, record: unseen}, true, false,
			"the last run did not wait until it was ready", ""},
		"no drift, of a release that is": {ClusterPlan{Plan: nothing(), Last: release.Written, Left: release.Written, Release: drifts, record: &release.Record{Unjudged: true}}, false, false, "", ""},
		"no drift, and undone":           {ClusterPlan{Plan: nothing(), Left: release.Failed, Release: drifts}, true, true, "the last run failed", "nothing is to be written, but the last run failed"},
		"drift":                          {ClusterPlan{Plan: writes, Left: release.Succeeded, Release: drifts}, true, true, "", ""},
		"it does not answer":             {ClusterPlan{Unreachable: "i/o timeout"}, false, false, "", ""},
		"a later wave":                   {ClusterPlan{Later: true}, false, false, "", ""},
	} {
		if got, not := c.plan.Does(true), c.plan.Does(false); got != c.waits || not != c.notWaited {
			t.Errorf("%s: %t, and %t without waiting", name, got, not)
		}
		if p := (&FleetPlan{Clusters: []*ClusterPlan{{Plan: nothing()}, &c.plan}}); p.Does(true) != c.waits || p.Does(false) != c.notWaited || p.Writes() != (c.plan.Plan != nil && !c.plan.Plan.Empty()) {
			t.Errorf("%s: the fleet: %t %t, writes %t", name, p.Does(true), p.Does(false), p.Writes())
		}
		if c.plan.Plan == nil {
			continue
		}
		record := &release.Record{Phase: c.plan.Left}
		if c.plan.Left == "" {
			record = nil
		}
		not := c.plan
		if c.plan.Await(record, true); c.plan.Waits != c.why || len(c.plan.Plan.Findings) > 0 {
			t.Errorf("%s: waits for %q %v", name, c.plan.Waits, c.plan.Plan.Findings)
		}
		told := ""
		if not.Await(record, false); len(not.Plan.Findings) == 1 && not.Plan.Findings[0].Severity == diag.Info {
			told = not.Plan.Findings[0].What
		}
		if not.Waits != "" || told != c.told {
			t.Errorf("%s: without waiting: %q %q", name, not.Waits, told)
		}
	}
}
