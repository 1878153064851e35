package engine

import (
	"cmp"
	"context"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// stayed are the declarations of what has not moved to other bundles of the same files: what has is theirs, whatever is adopted.
func (w *work) stayed(ctx context.Context, desired []plan.Desired) []plan.Desired {
	if !w.corrects {
		return desired
	}
	moved := release.Given(ctx, w.target.Store, *w.back, w.observed.Live)
	w.Move(moved)
	return slices.DeleteFunc(slices.Clone(desired), func(d plan.Desired) bool { return moved[d.Ref] != "" })
}

// asReleased makes what the last release left on each cluster desired there, but for suspended instances, which stay as they are. A cluster
// of which nobody can tell what it should have is one that does not answer, with the reason.
func (r *run) asReleased(ctx context.Context, fp *Prepared, _ string) diag.Findings {
	why := make([]string, len(r.targets))
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		switch w := fp.works[t.Cluster.Name]; {
		case w != nil && t.Record == nil && t.unread == "":
			why[i], w.Lost = drift.Unrecorded(t.session.Marked(ctx, fp.Owner))
		case w != nil:
			w.back, why[i] = t.Record.Standard(r.req.Reads)
		}
	})
	found := r.restored(ctx, fp)
	for i, t := range r.targets {
		w := fp.works[t.Cluster.Name]
		if w == nil {
			continue
		}
		if w.back != nil {
			w.corrects, w.Release = true, &release.Name{Release: w.back.Release, Rollout: w.back.Rollout}
			for _, name := range w.back.Suspended {
				w.set.Suspended[name] = true
			}
			w.set.Desired = slices.DeleteFunc(w.set.Desired, func(d plan.Desired) bool { return w.set.Suspended[d.Instance] })
		}
		if why[i] = cmp.Or(t.unread, why[i], drift.Unjudged(found[i])); why[i] != "" {
			w.Unreachable, t.unreachable, found[i] = why[i], why[i], nil
			delete(fp.works, t.Cluster.Name)
		}
	}
	return slices.Concat(found...)
}
