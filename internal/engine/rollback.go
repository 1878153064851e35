package engine

import (
	"context"
	"maps"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/madeguard"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/render"
)

// goBack chooses the release, and makes what each cluster had in it desired there.
func (r *run) goBack(ctx context.Context, fp *Prepared, name string) diag.Findings {
	findings := r.unrecorded(ctx, name, fp.Owner, plan.Options{RollingBack: true})
	if fp.Findings.HasErrors() || findings.HasErrors() {
		return findings
	}
	back, err := history.Undo(r.whole(ctx, name), name, r.req.To, r.req.Operation.Undoes)
	if err != nil {
		return append(findings, diag.From(err, "history")...)
	}
	fp.RollbackTo, fp.SourceDigest = back.Name(), back.To.SourceDigest
	for _, w := range fp.works {
		w.back = back.Records[w.Cluster]
	}
	found := r.restored(ctx, fp)
	each(len(r.targets), cores()*2, func(i int) {
		if w := fp.works[r.targets[i].cluster.Name]; w != nil && w.back != nil {
			found[i] = append(found[i], w.keepMade(ctx, back.Later[w.Cluster]).OnCluster(w.Cluster)...)
		}
	})
	return slices.Concat(findings, back.Findings, slices.Concat(found...))
}

// restored makes what the records to go back to declare desired, and finds by target what stands against that. What gives rights
// anywhere is known before anything is hidden because a record says so.
func (r *run) restored(ctx context.Context, fp *Prepared) []diag.Findings {
	kept, found := make([][]object.Object, len(r.targets)), make([]diag.Findings, len(r.targets))
	backs := func(do func(i int, w *work)) {
		each(len(r.targets), cores()*2, func(i int) {
			if w := fp.works[r.targets[i].cluster.Name]; w != nil && w.back != nil && len(found[i]) == 0 {
				do(i, w)
			}
		})
	}
	backs(func(i int, w *work) {
		var err error
		kept[i], err = w.target.store.Objects(ctx, *w.back)
		found[i] = release.Unkept(w.back, err).OnCluster(w.Cluster)
	})
	r.remember(ctx, kept...)
	backs(func(i int, w *work) { found[i] = w.restore(kept[i]).OnCluster(w.Cluster) })
	return found
}

// restore makes what the record to go back to declares desired.
func (w *work) restore(kept []object.Object) diag.Findings {
	t, s, r := w.target, w.set, w.run
	for i := range kept {
		kept[i].Pos = diag.Pos{} // the files are others now
	}
	w.back.Keep = t.record.Keep // how many releases are kept is no part of one
	s.defined, s.depends = object.DefinedKinds(kept), w.back.Depends
	marked, findings := r.marks.Of(kept, render.Marking{Render: "release " + release.Copy(*w.back, kept), Owner: s.owner, Bundle: s.spec.Name, Known: t.known(),
		Defined: s.defined, Sensitive: r.sensitive})
	for _, o := range marked {
		s.bodies[o.Ref()] = o.Object
	}
	desired, fs := w.back.Declared(marked)
	s.desired = desired
	for _, name := range slices.Sorted(maps.Keys(w.back.Inputs)) {
		in := v1alpha1.Instance{Name: name}
		p := &part{placed: in, instance: in, key: w.back.Inputs[name], source: w.back.Sources[name], digest: w.back.Digests[name], checks: w.back.Checks[name]}
		s.parts = append(s.parts, p)
		w.Instances = append(w.Instances, fleetplan.InstancePlan{Name: name, Source: p.source, Before: t.record.Sources[name]})
	}
	return append(findings, fs...)
}

// unkept finds what a plan would write and the release does not keep, and made-up values that are no longer in use.
func (w *work) unkept(ctx context.Context, p *plan.Plan) diag.Findings {
	if w.back == nil {
		return nil
	}
	findings := append(release.NotKept(p, w.set.desired, w.set.bodies), release.Believed(p, w.set.bodies)...)
	if m := &w.target.made; m.stored == nil && madeguard.TakesBack(p) {
		findings = append(findings, w.readKept(ctx)...)
	}
	if w.target.made.stored == nil {
		return findings
	}
	now, fs := w.run.base(ctx, w)
	return slices.Concat(findings, fs, madeguard.Former(p, w.target.made.now, madeOf(w.back), now, w.set.bodies))
}

// keepMade puts what was made anew since the release into the objects that it declares; later are the releases since.
func (w *work) keepMade(ctx context.Context, later []madeguard.Later) diag.Findings {
	if maps.Equal(w.back.Made, w.target.record.Made) {
		return nil
	}
	findings := w.readKept(ctx)
	now, fs := w.run.base(ctx, w)
	if !w.target.record.Standing().Complete() {
		now = nil // a run that was cut short left the former value in some, and the one that is kept in others
	}
	changed, stays := madeguard.Keep(slices.Collect(maps.Values(w.set.bodies)), w.target.made.now, madeOf(w.back), now, later)
	for _, o := range changed {
		w.set.bodies[o.Ref()] = o
		release.Redeclare(w.set.desired, o)
	}
	return slices.Concat(findings, fs, stays)
}

// readKept reads what is kept on the cluster, by the names that instances had in the release that is gone back to.
func (w *work) readKept(ctx context.Context) diag.Findings {
	keeper, ok := w.target.store.(release.Keeper)
	if !ok {
		return nil
	}
	m, err := &w.target.made, error(nil)
	if m.stored, m.handle, err = keeper.Kept(ctx, w.set.owner); err != nil {
		return diag.From(err, "kept")
	}
	if m.stored == nil {
		m.stored = release.Kept{}
	}
	m.now = madeguard.Renamed(m.stored, madeOf(w.back))
	m.settled.Kept = m.now
	for name, a := range m.now {
		w.run.hide(name, a)
	}
	return nil
}

func madeOf(r *release.Record) madeguard.Then { return madeguard.Then{Made: r.Made, Marks: r.Marks} }
