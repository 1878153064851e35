package engine

import (
	"context"
	"maps"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/desired"
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
		if w := fp.works[r.targets[i].Cluster.Name]; w != nil && w.back != nil {
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
			if w := fp.works[r.targets[i].Cluster.Name]; w != nil && w.back != nil && len(found[i]) == 0 {
				do(i, w)
			}
		})
	}
	backs(func(i int, w *work) {
		var err error
		kept[i], err = w.target.Store.Objects(ctx, *w.back)
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
	w.back.Keep = t.Record.Keep // how many releases are kept is no part of one
	s.Defined, s.Depends = object.DefinedKinds(kept), w.back.Depends
	marked, findings := r.marks.Of(kept, render.Marking{Render: "release " + release.Copy(*w.back, kept), Owner: s.Owner, Bundle: s.Spec.Name, Known: t.Kinds(),
		Defined: s.Defined, Sensitive: r.desired(t).Sensitive})
	for _, o := range marked {
		s.Bodies[o.Ref()] = o.Object
	}
	declared, fs := w.back.Declared(marked)
	s.Desired = declared
	for _, name := range slices.Sorted(maps.Keys(w.back.Inputs)) {
		in := v1alpha1.Instance{Name: name}
		p := &desired.InstanceRender{Placed: in, Instance: in, Key: w.back.Inputs[name], Source: w.back.Sources[name], Digest: w.back.Digests[name], Checks: w.back.Checks[name]}
		s.Renders = append(s.Renders, p)
		w.Instances = append(w.Instances, fleetplan.InstancePlan{Name: name, Source: p.Source, Before: t.Record.Sources[name]})
	}
	return append(findings, fs...)
}

// unkept finds what a plan would write and the release does not keep, and made-up values that are no longer in use.
func (w *work) unkept(ctx context.Context, p *plan.Plan) diag.Findings {
	if w.back == nil {
		return nil
	}
	findings := append(release.NotKept(p, w.set.Desired, w.set.Bodies), release.Believed(p, w.set.Bodies, w.run.Redactor.Value)...)
	if !w.target.Made.Read() && madeguard.TakesBack(p) {
		findings = append(findings, w.readKept(ctx)...)
	}
	if !w.target.Made.Read() {
		return findings
	}
	now, fs := w.run.base(ctx, w)
	return slices.Concat(findings, fs, madeguard.Former(p, w.target.Made.Now(), madeOf(w.back), now, w.set.Bodies))
}

// keepMade puts what was made anew since the release into the objects that it declares; later are the releases since.
func (w *work) keepMade(ctx context.Context, later []madeguard.Later) diag.Findings {
	if maps.Equal(w.back.Made, w.target.Record.Made) {
		return nil
	}
	findings := w.readKept(ctx)
	now, fs := w.run.base(ctx, w)
	if !w.target.Record.Standing().Complete() {
		now = nil // a run that was cut short left the former value in some, and the one that is kept in others
	}
	changed, stays := madeguard.Keep(slices.Collect(maps.Values(w.set.Bodies)), w.target.Made.Now(), madeOf(w.back), now, later)
	for _, o := range changed {
		w.set.Bodies[o.Ref()] = o
		release.Redeclare(w.set.Desired, o)
	}
	return slices.Concat(findings, fs, stays)
}

// readKept reads what is kept on the cluster, by the names that instances had in the release that is gone back to.
func (w *work) readKept(ctx context.Context) diag.Findings {
	return w.run.desired(w.target).Reread(ctx, w.set.Owner, madeOf(w.back))
}

func madeOf(r *release.Record) madeguard.Then { return madeguard.Then{Made: r.Made, Marks: r.Marks} }
