package engine

import (
	"maps"
	"slices"

	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/place"
)

// guards are the checks over the deletions of the fleet plan as a whole.
func (r *run) guards(p *Prepared) diag.Findings {
	if p.op().Ends() {
		p.Guard = append(p.Guard, p.Unsure()...)
		return p.Unmatched(r.req.ConfirmDelete)
	}
	var clusters []deletionguard.Cluster
	for _, cp := range p.Clusters {
		if w := p.works[cp.Cluster]; w != nil {
			clusters = append(clusters, w.guarded())
		}
	}
	var elsewhere map[string]bool
	if len(deletionguard.Leaving(clusters)) > 0 {
		elsewhere = r.elsewhere()
	}
	p.Guard = deletionguard.OnFleet(clusters, elsewhere)
	return p.Unmatched(r.req.ConfirmDelete)
}

// guarded is what the guard of deletions looks at. Where a rollback goes back to nothing every instance counts.
func (w *work) guarded() deletionguard.Cluster {
	c := deletionguard.Cluster{Name: w.Cluster, Plan: w.Plan, Inventory: w.input.Inventory, Declared: w.set.Desired, NotPlaced: w.NotPlaced}
	for _, p := range w.set.Renders {
		c.Placed = append(c.Placed, p.Instance.Name)
	}
	if r := w.target.Record; !w.run.req.HasBundles() && w.back == nil && r != nil {
		c.Placed = slices.Collect(maps.Keys(r.Inputs))
	}
	return c
}

// elsewhere are the instances with a place on a cluster that is not selected or did not answer, as far as the files say.
func (r *run) elsewhere() map[string]bool {
	out := map[string]bool{}
	for _, c := range r.all {
		if slices.ContainsFunc(r.targets, func(t *target) bool { return t.Cluster.Name == c.Name && t.session != nil }) {
			continue
		}
		facts := r.offlineFacts(c)
		if spec, findings := r.specFor(facts); !findings.HasErrors() {
			selected, _ := place.Select(spec, c, facts)
			for _, p := range selected {
				if p.Why == "" {
					out[p.Instance.Name] = true
				}
			}
		}
	}
	return out
}
