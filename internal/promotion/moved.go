package promotion

import (
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/plan"
)

// Moved compares the files, with pins as in AsRun, with what the release was made of: p is their plan for From. An instance that would be
// rendered from something else, and be changed by it, has moved; what others changed in the clusters since is no matter. That the files
// are of another place than the release's is an Error, too.
func Moved(r *history.Release, p *fleetplan.FleetPlan) diag.Findings {
	var out diag.Findings
	for _, f := range p.Findings.Errors() {
		if f.Code == lineage.CodeSource || f.Code == lineage.CodeFleet || !fleetplan.Refusal(f.Code) {
			out = append(out, f)
		}
	}
	for _, cp := range p.Clusters {
		at := slices.IndexFunc(r.Clusters, func(c history.Standing) bool { return c.Cluster == cp.Cluster && c.In })
		if at < 0 || cp.Plan == nil {
			continue
		}
		rendered := map[string]string{}
		for _, i := range cp.Instances {
			rendered[i.Name] = i.Inputs
		}
		for _, was := range r.Clusters[at].Instances {
			now, there := rendered[was.Instance]
			delete(rendered, was.Instance)
			switch {
			case was.Suspended || now == was.Inputs && there:
			case !there && changes(cp.Plan, was.Instance):
				out = append(out, moved(r, was.Instance, cp.Cluster, "the files do not have it any more"))
			case there && changes(cp.Plan, was.Instance):
				out = append(out, moved(r, was.Instance, cp.Cluster, "its values, local files or settings are others now, and would change it"))
			}
		}
		for name := range rendered {
			if changes(cp.Plan, name) {
				out = append(out, moved(r, name, cp.Cluster, "it is new in the files"))
			}
		}
	}
	return out.Alike().Sorted()
}

// changes reports whether a plan does something to objects of an instance.
func changes(p *plan.Plan, instance string) bool {
	return slices.ContainsFunc(p.Changes, func(c plan.Change) bool { return c.Instance == instance && c.Action.Writes() })
}
