package engine

import (
	"context"
	"maps"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/madeguard"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/valuerefs"
)

// specFor evaluates the program for one cluster and picks the run's bundle.
func (r *run) specFor(f fleet.Facts) (v1alpha1.BundleSpec, diag.Findings) {
	specs, findings := r.input.Evaluate(f)
	if findings.HasErrors() {
		return v1alpha1.BundleSpec{}, fleet.Lacking{Facts: f, Fleet: r.fleet, Env: r.req.Env, Read: r.req.RuntimeFromEnv, Near: r.input.NearFleet}.Explain(findings)
	}
	s, fs := place.Choose(specs, r.req.Bundle)
	if findings = append(findings, fs...); fs.HasErrors() {
		return s, findings
	}
	s, fs = bind.Spec(s, r.files.Value)
	return s, slices.Concat(findings, fs, place.Unknown(s, r.all))
}

// on is what finds out the desired state on a cluster.
func (r *run) desired(t *target) desired.Resolver {
	others := func(bundle string) []v1alpha1.BundleSpec { specs, _ := r.others(t, bundle); return specs }
	return desired.Resolver{Target: &t.Target, Sources: r.sources, Renderers: r.Renderers, Memo: &r.memo, Marks: &r.marks, Reader: r.reader, Redactor: r.Redactor,
		Checker: r.Checker, Fleet: r.fleet, Owner: r.owner, Uses: r.uses, Plain: r.program.Plain(), Tests: r.req.Tests, Lenient: r.lenient, StandIns: r.req.Placeholders, Rotate: r.req.Rotate, Others: others, Now: r.now,
		Follows: len(r.req.Before) > 0, Late: r.req.shown.Late(t.Cluster.Name, t.Record),
		Ahead:  func(ctx context.Context, s *desired.State) plan.Ahead { return r.ahead(ctx, t, s) },
		Before: func(ctx context.Context) []valuerefs.Before { return r.before(ctx, t) }, Names: r.names, Former: r.req.former[t.Cluster.Name],
		Beside: func(ctx context.Context, s *desired.State, own chance.Own) ([]chance.Beside, error) {
			if !r.req.HasBundles() {
				return nil, nil
			}
			return release.Beside(ctx, t.Store, r.req.Scope, own, s.Spec, others(s.Spec.Name), r.isBeside)
		}}
}

// refs are the values that the instances of a state take of each other.
func (r *run) refs(t *target, s *desired.State) valuerefs.References {
	return r.desired(t).References(s)
}

// before are the bundles that come before the run's on the cluster, by name; where nothing is planned, as the files say it.
func (r *run) before(ctx context.Context, t *target) (out []valuerefs.Before) {
	if r.lenient && !r.names {
		return valuerefs.Unplanned(r.req.Among, r.req.Bundle, func(name string) bool { return r.besideOf(name).installed(ctx, t) })
	}
	for _, name := range slices.Sorted(maps.Keys(r.req.Before)) {
		if w := r.req.Before[name].work(t.Cluster.Name); w != nil {
			out = append(out, valuerefs.Before{Bundle: name, Settled: func() bool { return r.req.done || w.settled() }, Fate: w.Fate, References: func() valuerefs.References { return r.refs(t, w.set) }})
		}
	}
	return out
}

// remade refuses what would be made anew, or be taken of others, of what objects that are there were made with. Only those of the instances count
// when there are any.
func (r *run) remade(w *work, now *plan.Plan, instances ...string) diag.Findings {
	var out diag.Findings
	if w.back == nil {
		out = r.desired(w.target).Remade(w.set, now, w.input, instances...)
	}
	if w.input.Options.Deleting && w.target.Record != nil {
		out = append(out, madeguard.LeftBehind(now, w.input.Beside, w.target.Record.Made)...)
	}
	return out
}

// unmoved checks under the lock that values taken from other instances are what the plan was made with.
func (r *run) unmoved(ctx context.Context, w *work) diag.Findings {
	moved, findings := r.desired(w.target).Moved(ctx, w.set)
	for _, name := range moved {
		f := w.Stale("a value that %s takes from another instance has changed since", name)
		f.Instance = name
		findings = append(findings, f)
	}
	return findings
}

// forget removes what was made up for a bundle that is deleted. What other bundles of the same files declare goes to those
// first.
func (w *work) forget(ctx context.Context) error {
	if w.target.Record == nil {
		return nil
	}
	others, _ := w.run.others(w.target, w.set.Spec.Name)
	return release.Bequeath(ctx, w.target.Store, w.run.req.Scope, *w.target.Record, others, w.run.isBeside)
}
