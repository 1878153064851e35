package engine

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

// gate refuses a selection that leaves out an earlier wave which has not succeeded with this Head.
func (r *run) gate(ctx context.Context, fp *FleetPlan) diag.Findings {
	if r.req.SkipWaves || r.fleet == nil || r.fleet.Rollout == nil {
		return nil
	}
	selected := map[string]bool{}
	for _, t := range r.targets {
		selected[t.cluster.Name] = true
	}
	full, _ := rollout.NewSchedule(r.fleet.Rollout, r.all, nil)
	left := rollout.LeftOut(full, selected)
	if len(left) == 0 {
		return nil
	}
	heads := r.heads(ctx, fp.Owner, left)
	return rollout.Gate(full, selected, heads, fp.Head)
}

// heads reads the records of clusters that are not selected; one that cannot be read has no head.
func (r *run) heads(ctx context.Context, owner string, names []string) map[string]string {
	sub := &run{Engine: r.Engine, req: r.req, program: r.program, fleet: r.fleet, all: r.all}
	for _, c := range r.all {
		if slices.Contains(names, c.Name) {
			sub.targets = append(sub.targets, &target{cluster: c})
		}
	}
	defer sub.close()
	out := map[string]string{}
	if sub.connect(ctx, false) != nil {
		return out
	}
	for _, t := range sub.targets {
		if t.session == nil {
			continue
		}
		if rec, _, err := t.store.Current(ctx, owner); err == nil && rec != nil && rec.Phase == release.Succeeded {
			out[t.cluster.Name] = rec.Head
		}
	}
	return out
}
