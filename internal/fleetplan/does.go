package fleetplan

import (
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/staleplan"
)

// Writes reports whether the plan writes any object anywhere.
func (p *FleetPlan) Writes() bool {
	return slices.ContainsFunc(p.Clusters, func(c *ClusterPlan) bool { return c.Plan != nil && !c.Plan.Empty() })
}

// Does reports whether a run that waits, or does not, does anything anywhere.
func (p *FleetPlan) Does(wait bool) bool {
	return slices.ContainsFunc(p.Clusters, func(c *ClusterPlan) bool { return c.Does(wait) })
}

// Does reports whether a run that waits, or does not, does anything on the cluster: it takes the lock and opens a record, to write
// objects, to write a lost record again, or to end what the last run left: that ended in the middle, or failed, or did not wait
// and this one does. A correction has nothing to do where all was written, and one before it could be looked at after its soak.
func (c *ClusterPlan) Does(wait bool) bool {
	switch {
	case c.Plan == nil, c.Standing == staleplan.Done:
		return false
	case !c.Plan.Empty() || c.Plan.Rebuilt:
		return true
	case c.Release != nil && c.Left.Complete() && !c.unseen():
		return false
	}
	return c.Left != "" && c.Left != release.Succeeded && (wait || c.Left != release.Written)
}

// unseen reports whether nobody could look at what a correction put right here, when its soak was over.
func (c *ClusterPlan) unseen() bool {
	return c.record != nil && c.record.CorrectionUnjudged()
}

// Await notes what an apply that waits, or does not, has to do on a cluster where it writes nothing: it waits for what its last
// run (nil: none) left unready, or takes that for written.
func (c *ClusterPlan) Await(last *release.Record, wait bool) {
	if !c.Plan.Empty() || c.Resumes || !c.Does(wait) {
		return
	}
	if wait {
		c.Waits = last.Unready()
	} else if why := last.Unready(); why != "" {
		f := diag.Finding{Severity: diag.Info, Code: "last-run-failed", Cluster: c.Cluster, What: "nothing is to be written, but " + why}
		f.Why = "the release is recorded as written, and not as ready: with --wait=false nobody looks"
		c.Plan.Findings = append(c.Plan.Findings, f)
	}
}
