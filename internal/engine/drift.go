package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// PlanDrift is the plan to put right what others have changed of the bundle that the request names since its last release: desired
// on each cluster is what the record of that declares. Nothing is rendered, no hook runs and nothing is pruned. A cluster of which
// nobody can tell what it should have is one that does not answer, with the reason. Request.Reads: it is only looked at.
func (e *Engine) PlanDrift(ctx context.Context, req Request) (*Prepared, error) {
	req.SkipWaves = true // each goes to its own release
	return e.fromRecords(ctx, req, "drift", plan.Options{Adopt: req.Adopt, Recreate: req.Recreate, LetUnserved: req.LetUnserved, Diff: true, NoHooks: true, NoPrune: true},
		func(r *run, fp *Prepared, _ string) diag.Findings { return r.asReleased(ctx, fp) })
}

// stayed are the declarations of what has not moved to other bundles of the same files: what has is theirs, whatever is adopted.
func (w *work) stayed(ctx context.Context, desired []plan.Desired) []plan.Desired {
	if !w.corrects {
		return desired
	}
	moved := release.MovedTo(ctx, w.target.store, *w.back, w.observed.Live)
	return slices.DeleteFunc(slices.Clone(desired), func(d plan.Desired) bool { return moved[d.Ref] != "" })
}

// asReleased makes what the last release left on each cluster desired there, but for suspended instances, which stay as they are.
func (r *run) asReleased(ctx context.Context, fp *Prepared) diag.Findings {
	why := make([]string, len(r.targets))
	for i, t := range r.targets {
		if w := fp.works[t.cluster.Name]; w != nil {
			w.back, why[i] = t.record.Standard(r.req.Reads)
		}
	}
	found := r.restored(ctx, fp)
	for i, t := range r.targets {
		w := fp.works[t.cluster.Name]
		if w == nil {
			continue
		}
		if w.back != nil {
			w.corrects, w.Release = true, &release.Name{Release: w.back.Release, Rollout: w.back.Rollout}
			for _, name := range w.back.Suspended {
				w.set.suspended[name] = true
			}
			w.set.desired = slices.DeleteFunc(w.set.desired, func(d plan.Desired) bool { return w.set.suspended[d.Instance] })
		}
		if why[i] = cmp.Or(t.unread, why[i], strings.Join(found[i].Errors().Whats(), "; ")); why[i] != "" {
			w.Unreachable, found[i] = why[i], nil
			delete(fp.works, t.cluster.Name)
		}
	}
	return slices.Concat(found...)
}
