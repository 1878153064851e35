package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/deletionguard"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/leftover"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/maskguard"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/recordkeeping"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rights"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/staleplan"
)

// Plan makes the one plan of the request's operation for the whole fleet: it connects to every selected cluster, finds out what is desired
// there, observes and computes. What is desired is rendered from the documents; or it is nothing, of the bundle that the request or its files
// name; or what a kept release declares, where nothing is rendered (of each cluster's own last one no hook runs and nothing is pruned). It
// writes nothing anywhere. Problems that block an apply are Errors among the plan's findings; the error is for what prevents a plan altogether.
func (e *Engine) Plan(ctx context.Context, req Request) (*Prepared, error) {
	if req.Operation.Renders() {
		return e.render(ctx, req)
	}
	if req.Operation.Current { // who only looks needs neither waves nor a window
		req.SkipWaves, req.SkipWindows = req.SkipWaves || req.Reads, req.SkipWindows || req.Reads
	}
	r, name, err := e.installed(ctx, req)
	if err != nil {
		return nil, err
	}
	return r.fromRecords(ctx, name)
}

// render is a plan of what the documents declare.
func (e *Engine) render(ctx context.Context, req Request) (*Prepared, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	if names := r.program.Bundles(); req.Bundle == "" && len(names) > 1 { // nobody is asked before one is chosen
		if names, _ = r.bundles(); len(names) > 1 {
			return nil, diag.Findings{place.Which("", names)}.Err()
		}
	}
	if err := r.locked(ctx); err != nil {
		return nil, err
	}
	r.records = true
	if err := r.connect(ctx, true); err != nil {
		r.close()
		return nil, err
	}
	r.formerName(ctx)
	fp := &Prepared{FleetPlan: &fleetplan.FleetPlan{V: diag.DocumentVersion, Verb: req.Operation.Verb(), Fleet: r.fleetName(), Created: e.now()}, run: r}
	e.desire(ctx, r, fp)
	return r.completed(ctx, fp, req.Operation.Options(req.PlanOptions))
}

// completed computes a plan whose desired sets are known, unless something stands against it.
func (r *run) completed(ctx context.Context, fp *Prepared, o plan.Options) (*Prepared, error) {
	err := fp.Findings.Err()
	if err == nil {
		r.computeAll(ctx, fp, o)
		err = ctx.Err() // what was cut short is no plan
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return fp, nil
}

// desire evaluates and renders for every connected cluster.
func (e *Engine) desire(ctx context.Context, r *run, fp *Prepared) {
	start := e.now()
	before := r.memo.Renders()
	fp.Clusters = make([]*fleetplan.ClusterPlan, len(r.targets))
	found, works := make([]diag.Findings, len(r.targets)), make([]*work, len(r.targets))
	each(len(r.targets), cores()*2, func(i int) {
		t, cp := r.targets[i], fp.begin(r.targets[i], i)
		if found[i] = t.findings; t.session != nil { // also of one that does not answer it is said how it would be reached
			works[i], found[i] = r.desireOne(ctx, t, cp)
		}
	})
	for i, w := range works {
		fp.Findings = append(fp.Findings, found[i].OnCluster(r.targets[i].Cluster.Name)...)
		if w != nil {
			fp.Bundle, fp.Owner = w.set.Spec.Name, w.set.Owner
			fp.Require(w.set.Spec.Requires)
			r.stats.Instances += len(w.set.Renders)
		}
	}
	fp.planned(works)
	if fp.Bundle == "" && !fp.Findings.HasErrors() {
		names, _ := r.bundles() // what is wrong in the files is among the findings
		fp.Bundle = strings.Join(names, ",")
		fp.Owner = r.owner(fp.Bundle)
	}
	r.stats.Renders = r.memo.Renders() - before
	r.stats.RenderMS = e.now().Sub(start).Milliseconds()
	r.emit(fleetplan.Event{Type: fleetplan.EventRendered, Bundle: fp.Bundle, Done: r.stats.Renders, Total: r.stats.Instances})
}

func (r *run) desireOne(ctx context.Context, t *target, cp *fleetplan.ClusterPlan) (*work, diag.Findings) {
	spec, findings := r.specFor(t.Facts)
	if findings.HasErrors() {
		return nil, findings
	}
	owner := r.owner(spec.Name)
	r.readRecord(ctx, t, owner)
	t.find(r.whose(t)...)
	findings = append(findings, t.findings...)
	if findings.HasErrors() {
		return nil, r.rightsMissing(ctx, t, spec, findings)
	}
	findings = append(findings, r.required(ctx, t, spec)...)
	s, fs := r.desired(t).Prepare(ctx, spec)
	findings = append(append(findings, fs...), r.desired(t).Rotated(ctx, s, r.req.Among)...)
	if findings.HasErrors() {
		return nil, findings
	}
	findings = append(findings, r.desired(t).Render(ctx, s)...)
	cp.NotPlaced = s.NotPlaced
	for _, p := range s.Renders {
		ip := fleetplan.InstancePlan{Name: p.Instance.Name, Source: p.Source, Inputs: p.Key, Pos: diag.Pos(p.Instance.Pos)}
		if t.Record != nil {
			ip.Before = t.Record.Sources[ip.Name]
		}
		cp.Instances = append(cp.Instances, ip)
	}
	cp.Describe(t.Record, t.Facts.Values, r.redact)
	return &work{ClusterPlan: cp, run: r, target: t, set: s}, findings
}

// rightsMissing puts all rights that the bundle needs on a cluster and that are missing in the place of the first one, which
// its record could not be read without. Whatever else is wrong stays as it is.
func (r *run) rightsMissing(ctx context.Context, t *target, spec v1alpha1.BundleSpec, findings diag.Findings) diag.Findings {
	if slices.ContainsFunc(findings.Errors(), func(f diag.Finding) bool { return f.Code != rights.Code }) {
		return findings
	}
	s, fs := r.desired(t).Prepare(ctx, spec)
	if !fs.HasErrors() {
		fs = r.desired(t).Render(ctx, s)
	}
	if all := t.session.ReviewWhole(ctx, r.owner(spec.Name), plan.Refs(s.Desired), s.Bodies); len(all) > 0 && !fs.HasErrors() {
		return append(append(findings.Warnings(), all...), rights.Unrecorded(t.Cluster.Name, spec.Name, t.unread))
	}
	return findings
}

// Bundles are the names of the bundles in the request's files, each after those it requires. It contacts nobody.
func (e *Engine) Bundles(ctx context.Context, req Request) ([]string, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	names, findings := r.bundles()
	if len(names) == 0 {
		return nil, findings.Err()
	}
	return names, nil
}

// bundles are the names of the bundles in the files, each after those it requires, for the clusters selected, and what
// the files say wrong.
func (r *run) bundles() ([]string, diag.Findings) {
	var all []v1alpha1.BundleSpec
	var findings diag.Findings
	for _, t := range r.targets {
		specs, fs := r.input.Evaluate(r.factsOf(t.Cluster))
		all, findings = append(all, specs...), append(findings, fs.OnCluster(t.Cluster.Name)...)
	}
	return place.Order(all), findings
}

// required finds bundles this one requires that are neither done in the same run nor installed on the cluster.
func (r *run) required(ctx context.Context, t *target, spec v1alpha1.BundleSpec) diag.Findings {
	var findings diag.Findings
	for _, need := range spec.Requires {
		among := slices.Contains(r.req.Among, need.Bundle)
		if among && r.req.Wait {
			continue
		}
		record, _, err := t.Store.Current(ctx, r.owner(need.Bundle))
		switch w := r.req.Before[need.Bundle].work(t.Cluster.Name); {
		case w != nil && !w.settled():
			findings = append(findings, release.Unawaited(spec.Name, need.Bundle, diag.Pos(need.BundlePos)))
		case among && (record == nil || record.Phase != release.Written): // what it does in this run decides
		case err != nil:
			findings = append(findings, diag.From(err, "record")...)
		case record == nil && r.placesNothing(t, spec.Name, need.Bundle):
		case record == nil || record.Phase != release.Succeeded:
			findings = append(findings, release.Missing(spec.Name, need.Bundle, diag.Pos(need.BundlePos), record))
		}
	}
	return findings
}

// placesNothing reports whether the same files hold another bundle, which places nothing on the cluster.
func (r *run) placesNothing(t *target, name, other string) bool {
	specs, _ := r.others(t, name) // what is wrong with them is not this bundle's matter
	return slices.ContainsFunc(specs, func(s v1alpha1.BundleSpec) bool { return s.Name == other && place.Nowhere(s, t.Cluster, t.Facts) })
}

// computeAll observes every cluster, computes its plan, and groups the equal ones.
func (r *run) computeAll(ctx context.Context, fp *Prepared, o plan.Options) {
	start := r.now()
	r.proven = r.req.TakeOver || r.input.Lock.Lineages[fp.Bundle] != "" ||
		slices.ContainsFunc(r.targets, func(t *target) bool { return t.Record != nil && !t.relation.Refused() })
	each(len(fp.Clusters), 0, func(i int) {
		if w := fp.works[fp.Clusters[i].Cluster]; w != nil {
			r.computeOne(ctx, w, o)
			r.emit(fleetplan.Event{Type: fleetplan.EventObserved, Bundle: fp.Bundle, Cluster: w.Cluster})
		}
	})
	r.observed = r.now()
	r.stats.ObserveMS = r.observed.Sub(start).Milliseconds()
	r.finish(ctx, fp)
}

// finish adds order, groups, findings and totals to a computed fleet plan.
func (r *run) finish(ctx context.Context, fp *Prepared) {
	sch, findings := r.schedule()
	sch.GoesBack = sch.GoesBack && fp.op().Renders()
	var used []source.Use
	if fp.op().Renders() {
		used = r.used(ctx)
		fp.Findings = append(fp.Findings, source.Check(r.input.Lock.Sources, used, r.req.Locked)...)
	}
	if fp.RollbackTo == nil {
		fp.SourceDigest = r.head(used)
	}
	fp.Schedule = rollout.Canaries(sch, fp.changes)
	fp.Findings = slices.Concat(fp.Findings, findings, rollout.Closed(fp.ready(r.req), r.now(), diag.Warning), fp.said(ctx), fp.HalfBack())
	if !fp.op().Ends() {
		fp.Findings = append(fp.Findings, r.gate(ctx, fp.FleetPlan)...)
	}
	for _, cp := range fp.Clusters {
		if cp.Plan != nil {
			plan.Redact(cp.Plan, r.Redactor)
		}
	}
	fp.Order()
	for _, cp := range fp.Clusters {
		if cp.Plan != nil {
			fp.Findings = append(fp.Findings, cp.Plan.Findings...)
			r.stats.Objects += len(cp.Plan.Changes) + cp.Plan.Unchanged
		}
	}
	fp.Stats = r.stats
	fp.Findings = slices.Concat(fp.Findings, r.guards(fp), r.left(), release.Leaping(append(r.selected(), r.unselected...)))
	fp.Redact(r.Redactor)
}

// ready is the plan's schedule as a run of the request goes through it.
func (p *Prepared) ready(req Request) rollout.Schedule {
	return rollout.Ready(p.Schedule, rollout.Past{Unreachable: req.SkipUnreachable, Windows: req.SkipWindows, Approvals: req.SkipApprovals || !p.op().Renders()},
		func(cluster string) bool { w := p.works[cluster]; return w != nil && w.settled() })
}

// changes reports whether this revision changes a cluster, or has done so in an earlier run. One that cannot be asked may
// change.
func (p *Prepared) changes(name string) bool {
	w := p.works[name]
	if w == nil {
		return true
	}
	rec := w.target.Record
	return !w.settled() || rec != nil && rec.SourceDigest == p.SourceDigest
}

func (r *run) computeOne(ctx context.Context, w *work, o plan.Options) {
	defer r.foresee(ctx, w)()
	p, findings := r.compute(ctx, w, o)
	if late := r.refs(w.target, w.set).Reopened(ctx, p); len(late) > 0 && !findings.HasErrors() {
		reopened := r.desired(w.target).Reopen(ctx, w.set, late)
		if findings = reopened; !reopened.HasErrors() {
			p, findings = r.compute(ctx, w, o)
			findings = append(reopened, findings...)
		}
	}
	before := sync.OnceValue(func() map[object.Ref]object.Object {
		base, fs := r.base(ctx, w)
		findings = append(findings, fs...)
		return base
	})
	if c := p.Count(); c.Delete+c.Release > 0 {
		before() // nothing else tells what is secret in what nobody declares any more
	}
	findings = slices.Concat(findings, r.refs(w.target, w.set).Given(ctx, w.input.Moving(), r.before(ctx, w.target), w.set.Spec.Name, (&fleetplan.ClusterPlan{Plan: p}).Fate), r.remade(w, p), w.unkept(ctx, p), deletionguard.Within(p, w.target.session.Plural), r.desired(w.target).Hear(ctx, r.req.Message, w.set, p, w.back))
	findings = append(findings, r.validate(ctx, w, p)...)
	if t := w.target; w.Resumes {
		if who := release.WhoIsAt(ctx, t.Store, *t.Record); who != "" {
			w.Resumes = false
			findings = append(findings, release.AtWork(who))
		}
	}
	p.Say(plan.Telling{Changed: r.req.ShowFields && !o.Diff, Replacing: r.req.ShowFields || o.Diff, Made: r.req.ShowContent}, r.refs(w.target, w.set).Shown(p.ShowMade(w.set.Bodies, w.set.Shown, w.set.MadeNames(), r.redact)), before, r.redact)
	maskguard.Show(p, r.Redactor)
	r.refs(w.target, w.set).Mark(p)
	hidden := maskguard.Hidden(p, w.set.Bodies, before, r.Redactor)
	p.Findings = append(p.Findings, slices.Concat(findings, leftover.Bundles(p, w.beside), leftover.Still(p, w.input.Live, r.redact), hidden).OnCluster(w.Cluster)...)
	w.Plan, w.Late = p, slices.Sorted(maps.Keys(r.refs(w.target, w.set).Late()))
	if !o.Deleting {
		p.Brake = deletionguard.OnCluster(w.guarded())
		w.Await(w.target.Record, r.req.Wait)
	}
}

// compute observes, asks the API server where that is needed, and decides.
func (r *run) compute(ctx context.Context, w *work, o plan.Options) (*plan.Plan, diag.Findings) {
	in, findings := r.observe(ctx, w, o)
	findings = append(findings, r.lookBeside(ctx, w, &in)...)
	if !findings.HasErrors() {
		findings = append(findings, r.preview(ctx, w, &in)...)
	}
	p := plan.Compute(in)
	if holders := plan.Holders(p); len(holders) > 0 {
		in.Contents = w.target.session.Contents(ctx, w.set.Owner, holders)
		for _, before := range r.req.Before {
			before.Empties(w.Cluster, in.Contents)
		}
		p = plan.Compute(in)
	}
	w.input = in
	foreign, err := w.target.session.Foreign(ctx, w.set.Owner, staleplan.Goes(p), w.set.Bodies)
	if staleplan.Keep(p, foreign); err != nil {
		findings = append(findings, diag.From(err, "observe")...)
	}
	// an object of an instance that was not rendered has to be written after all: render now, bodies are needed
	if missing := w.set.Unrendered(p.Changes); len(missing) > 0 && !findings.HasErrors() {
		findings = append(findings, r.desired(w.target).RenderRecorded(ctx, w.set, missing)...)
	}
	return p, slices.Concat(findings, w.recall(ctx, p), w.target.session.Giving(ctx, p, w.set.Bodies, r.req.Reads && r.req.ShowDiff))
}

// observe reads the cluster and makes the input of Compute.
func (r *run) observe(ctx context.Context, w *work, o plan.Options) (plan.Input, diag.Findings) {
	t, s := w.target, w.set
	in := w.known(o)
	lasting := slices.DeleteFunc(slices.Clone(in.Desired), func(d plan.Desired) bool { return d.Hook != nil })
	obs, findings := t.session.Observe(ctx, cluster.ObserveRequest{Owner: s.Owner, Desired: lasting, Inventory: slices.Concat(in.Inventory, in.Lent),
		Defined: object.DefinedKinds(slices.Collect(maps.Values(s.Ahead.With(s.Bodies)))), Cached: r.req.Applies && w.input.Live == nil}) // under the lock it is looked at again
	w.observed = obs
	in.Live, in.Schema, in.NamespaceExists = obs.Live, obs.Schema, obs.NamespaceExists
	in.Desired = w.stayed(ctx, in.Desired)
	if in.Ahead = s.Ahead; in.Asks() {
		in.Ahead = r.ahead(ctx, t, s)
	}
	if w.inventory == nil && in.Looks() {
		findings = append(findings, in.Rebuild(t.session.Marked(ctx, s.Owner, in.Namespaces()...), recordkeeping.Took(ctx, t.Store, s.Owner, t.Record))...)
		if in.Rebuilt && t.Record == nil && !r.proven {
			findings = append(findings, lineage.Unproven(s.Spec.Name, len(in.Inventory), r.input.From))
		}
	}
	if w.inventory == nil {
		w.unseen = in.Unseen
	} else {
		in.Rebuilt = w.input.Rebuilt // a later step of the same run
	}
	return in, append(findings, r.lookAtHooks(ctx, w, &in)...)
}

// preview asks the API server about the changes that need its answer.
func (r *run) preview(ctx context.Context, w *work, in *plan.Input) diag.Findings {
	var findings diag.Findings
	var base map[object.Ref]object.Object
	plan.Previewed(in, func(needs, all []plan.Change) map[object.Ref]plan.Preview {
		if findings.HasErrors() {
			return nil
		}
		fs := r.desired(w.target).RenderRecorded(ctx, w.set, w.set.Unrendered(needs))
		if findings = append(findings, fs...); fs.HasErrors() {
			return nil
		}
		// what was declared before tells which fields others took from us: wanted where a declaration changed
		changed := slices.ContainsFunc(needs, func(ch plan.Change) bool { return ch.Code == plan.CodeChanged })
		if base == nil && (in.Options.Diff || changed) {
			base, fs = r.base(ctx, w)
			findings = append(findings, fs...)
		}
		previews := w.target.session.Preview(ctx, w.previews(needs, base), all, w.set.Bodies)
		if r.req.Reads && !r.req.ServerCheck {
			findings = append(findings, rights.Unconfirmed(previews)...)
		}
		refs := r.refs(w.target, w.set)
		for ref, p := range previews { // what stands in for a value may be refused where the value will not be
			if p.Finding != nil {
				p = r.ahead(ctx, w.target, w.set).Answer(ref, p)
				previews[ref] = p
			}
			if late := refs.StandsIn(ref); p.Finding != nil && len(late) > 0 {
				previews[ref] = plan.Preview{Deferred: "values are known after " + strings.Join(late, ", "), Foreign: p.Foreign}
			}
		}
		return previews
	})
	return findings
}

// base are the objects as they were declared when they were written last.
func (r *run) base(ctx context.Context, w *work) (map[object.Ref]object.Object, diag.Findings) {
	out := map[object.Ref]object.Object{}
	if w.target.Record == nil {
		return out, nil
	}
	var findings diag.Findings
	objs, err := w.target.Store.Objects(ctx, *w.target.Record)
	for _, o := range objs {
		out[o.Ref()] = o
	}
	if err = errors.Join(err, release.Earlier(ctx, w.target.Store, w.set.Owner, w.target.Record.Unapplied(out), out)); err != nil {
		findings = append(findings, diag.Finding{Severity: diag.Info, Code: "no-recorded-set",
			What: "the recorded objects cannot be read: live ones are compared, and what was secret in them is not known", Why: r.redact(err.Error())})
	}
	r.remember(ctx, append(slices.Collect(maps.Values(out)), objs...))
	return maskguard.Base(out, r.req.Operation.Desired == fleetplan.Rendered), findings
}

// previews are the questions about changes.
func (w *work) previews(needs []plan.Change, base map[object.Ref]object.Object) []cluster.PreviewRequest {
	out := make([]cluster.PreviewRequest, 0, len(needs))
	for _, ch := range needs {
		req := cluster.PreviewRequest{Change: ch, Body: w.set.Bodies[ch.Ref], Live: w.back != nil && len(w.set.Bodies[ch.Ref].Sensitive) > 0}
		if req.Body.Body == nil {
			continue // a release did not keep it: unkept says so
		}
		if b, ok := base[ch.Ref]; ok {
			req.Base = b.Body
			// what was secret when it was applied is so still, though its value is no longer known
			req.Body.Sensitive = slices.Concat(req.Body.Sensitive, b.Sensitive)
		}
		out = append(out, req)
	}
	return out
}
