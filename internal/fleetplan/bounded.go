package fleetplan

import "slices"

// Bounded is a document with no more than so many findings, and one that says how many are left out; the one given stays as it
// is. What has no findings comes back itself.
func Bounded(v any, most int) any {
	switch x := v.(type) {
	case *FleetReport:
		y := *x
		y.Findings = x.Findings.First(most)
		return &y
	case *VetReport:
		y := *x
		y.Findings = x.Findings.First(most)
		return &y
	case *Outcome:
		y := *x
		y.Findings = x.Findings.First(most)
		return &y
	case *StatusReport:
		y := *x
		y.Findings = x.Findings.First(most)
		return &y
	case *FleetPlan:
		y := *x
		y.Findings, y.Clusters = x.Findings.First(most), slices.Clone(x.Clusters)
		for i, c := range y.Clusters {
			if c.Plan != nil && len(c.Plan.Findings) > most {
				cluster, one := *c, *c.Plan
				one.Findings = one.Findings.First(most)
				cluster.Plan, y.Clusters[i] = &one, &cluster
			}
		}
		return &y
	}
	return v
}
