package engine

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

// gate refuses a selection that leaves out an earlier wave which has not succeeded with this Head, or, of a correction, whose own did not end well.
func (r *run) gate(ctx context.Context, fp *fleetplan.FleetPlan) diag.Findings {
	if r.req.SkipWaves || r.fleet == nil || r.fleet.Rollout == nil {
		return nil
	}
	selected := map[string]bool{}
	for _, t := range r.targets {
		selected[t.Cluster.Name] = true
	}
	full, _ := rollout.NewSchedule(r.fleet.Rollout, r.all, nil)
	left := rollout.LeftOut(full, selected)
	if len(left) == 0 {
		return nil
	}
	if heads := r.heads(ctx, fp, left); !r.req.Operation.Current {
		return rollout.Gate(full, selected, heads, fp.SourceDigest, r.now())
	}
	return drift.Gate(full, left, r.unselected)
}

// heads reads the records of clusters that are not selected, and keeps them in unselected; one that cannot be read has no head.
// Where a rollback has nothing to do a cluster has its head, or nothing.
func (r *run) heads(ctx context.Context, fp *fleetplan.FleetPlan, names []string) map[string]rollout.Head {
	sub := r.aside(ctx, func(cluster string) bool { return slices.Contains(names, cluster) })
	defer sub.close()
	out := map[string]rollout.Head{}
	for _, t := range sub.targets {
		if t.session == nil || t.findings.HasErrors() {
			continue
		}
		rec, _, err := t.Store.Current(ctx, fp.Owner)
		if fp.RollbackTo == nil { // else they have been read
			r.unselected = append(r.unselected, rec.On(t.Cluster.Name))
		}
		switch {
		case err != nil:
		case rec != nil && rec.Standing() == release.Succeeded:
			out[t.Cluster.Name] = rollout.Head{Revision: fp.HeadOf(*rec), Finished: rec.Finished, Soaked: rec.Soaked}
		case rec == nil:
			if _, nowhere := r.wanted(ctx, t); nowhere || fp.RollbackTo != nil {
				out[t.Cluster.Name] = rollout.Head{Revision: rollout.Nowhere}
			}
		}
	}
	return out
}

// aside is a run to clusters of the fleet that this one does not go to. It only looks: what stands against one is a matter of that one
// alone.
func (r *run) aside(ctx context.Context, wanted func(cluster string) bool) *run {
	sub := r.again(r.req, wanted)
	sub.reading, sub.aloof = true, true
	_ = sub.connect(ctx, false)
	return sub
}

// again is a run for another request to some clusters of the fleet, which is not connected yet.
func (r *run) again(req Request, wanted func(cluster string) bool) *run {
	sub := &run{Engine: r.Engine, Redactor: r.Redactor, req: req, program: r.program, fleet: r.fleet, all: r.all, input: r.input, sources: r.sources, reader: r.reader, open: r.open}
	for _, c := range r.all {
		if wanted(c.Name) {
			sub.targets = append(sub.targets, targetOf(c))
		}
	}
	return sub
}

// wanted are the namespaces of the bundle's instances on a connected cluster as the files have them, and whether they place
// nothing of it there. What cannot be found out is no.
func (r *run) wanted(ctx context.Context, t *target) (namespaces []string, nowhere bool) {
	if !r.req.HasBundles() {
		return nil, false
	}
	look := t.anew()
	if r.fleet != nil {
		r.query(ctx, look)
	}
	spec, findings := r.specFor(look.Facts)
	for _, in := range spec.Instances {
		namespaces = append(namespaces, in.Namespace)
	}
	return namespaces, !slices.Concat(findings, look.findings).HasErrors() && place.Nowhere(spec, t.Cluster, look.Facts)
}
