package fleetplan

import (
	"slices"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
)

// CodeGoesOn is the code of the finding that a saved plan goes on with what an earlier run of it began.
const CodeGoesOn = "plan-goes-on"

// Resume lets the plan, computed now in place of a saved one, go on where an earlier run of the same file ended, as the clusters'
// records tell: one where that came to its end is left as it is, whatever has changed there since; canaries stay those of the
// file, and the deletions that were confirmed are. old is the plan of the file, id its id, confirmed the number of deletions that were
// confirmed, in the file or now; waits: the run waits for readiness.
func (p *FleetPlan) Resume(old *FleetPlan, id string, confirmed *int, waits bool) {
	standing, drifted := map[staleplan.Standing][]string{}, false
	for _, cp := range p.Clusters {
		was := old.Cluster(cp.Cluster)
		if was == nil || was.Plan == nil || cp.Plan == nil || was.UID != cp.UID {
			continue
		}
		cp.Standing = staleplan.Stands(id, was.Revision, staleplan.Left{Plan: cp.saved, Revision: cp.Revision,
			Ended: cp.Last == release.Succeeded || cp.Last == release.Written && !waits})
		if standing[cp.Standing] = append(standing[cp.Standing], cp.Cluster); cp.Standing == staleplan.Done {
			drifted = drifted || !cp.Plan.Empty()
			cp.done()
		}
	}
	done, begun := standing[staleplan.Done], standing[staleplan.Begun]
	if len(done)+len(begun) == 0 {
		return
	}
	p.Schedule = rollout.Like(p.Schedule, old.Schedule)
	p.Order()
	p.Findings = slices.DeleteFunc(slices.Clone(p.Findings), func(f diag.Finding) bool {
		return slices.Contains(done, f.Cluster) || f.Code == deletionguard.Code && confirmed != nil && *confirmed == old.deletions()
	})
	p.Findings = append(p.Findings, goesOn(done, begun, drifted))
}

// Shown is a saved plan that is carried out, from the file of the name ID; the zero value is none.
type Shown struct {
	Plan *FleetPlan
	ID   string
}

// Late are the instances of a cluster, of which record is the newest record, that the saved plan showed without values of others, where an
// earlier run of the same file has begun it: what came since is compared with what was shown.
func (s Shown) Late(cluster string, record *release.Record) []string {
	if s.ID == "" || record.Saved() != s.ID {
		return nil
	}
	if was := s.Plan.Cluster(cluster); was != nil {
		return was.Late
	}
	return nil
}

// done leaves nothing to do in a cluster's part.
func (c *ClusterPlan) done() {
	c.Plan = &plan.Plan{Cluster: c.Plan.Cluster, Bundle: c.Plan.Bundle, Owner: c.Plan.Owner, Unchanged: c.Plan.Unchanged}
	c.Resumes, c.Waits, c.Late, c.RuntimeChanges = false, "", nil, nil
}

// deletions is the number of what the plan deletes, to be made anew or not, which confirms that.
func (p *FleetPlan) deletions() int {
	c := p.Counts()
	return c.Delete + c.Recreate
}

// Unmatched is the refusal of deletions that need their number, and of a number that is not theirs: nil is none that was given. Of a plan with
// other errors nobody knows how many there will be.
func (p *FleetPlan) Unmatched(confirmed *int) diag.Findings {
	if len(p.Guard) == 0 && p.Findings.HasErrors() {
		return nil
	}
	return deletionguard.Check(p.Guard, p.deletions(), confirmed)
}

// goesOn says where the plan is done and where it is not; drifted: somebody has changed objects where it is done.
func goesOn(done, begun []string, drifted bool) diag.Finding {
	f := diag.Finding{Severity: diag.Info, Code: CodeGoesOn, What: "this saved plan was carried out before, and is done everywhere it began"}
	if len(begun) > 0 {
		f.What = "this saved plan was begun before, and goes on: " + diag.Few(begun)
	}
	if len(done) > 0 {
		f.Why = "done, and left as they are: " + diag.Few(done)
	}
	if drifted {
		f.Severity, f.Why, f.Fix = diag.Warning, f.Why+"; others have changed objects there since", "hawser drift shows what"
	}
	return f
}
