package engine

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/validation"
)

// schemas are what is known of the schemas of a cluster.
func (r *run) schemas(t *target) *validation.Schemas {
	if t.schemas == nil {
		t.schemas = &validation.Schemas{Cluster: t.Cluster.Name, Facts: t.Facts.Schemas, Unpack: func(hash string) ([]byte, error) { return r.input.Facts.Unpack(hash) },
			Keep: r.Documents, Library: &r.library, Redact: r.redact, Locate: r.Locate}
		if t.session != nil {
			t.schemas.Server = t.session
		}
	}
	return t.schemas
}

// validate checks what a plan writes against the cluster's own schemas. Objects that hold something else than the values
// they will have are left to the step that knows them.
func (r *run) validate(ctx context.Context, w *work, p *plan.Plan) diag.Findings {
	var list []validation.Object
	refs := r.refs(w.target, w.set)
	for _, ch := range p.Changes {
		body, ok := w.set.Bodies[ch.Ref]
		if !ok || !ch.Action.Writes() || ch.Action == plan.Delete || ch.Action == plan.Release || len(refs.StandsIn(ch.Ref)) > 0 {
			continue
		}
		list = append(list, validation.Object{Object: body, Whole: ch.Action == plan.Create || ch.Action == plan.Recreate, Values: w.set.Given(body.Instance)})
	}
	findings := r.checkObjects(ctx, w.target, w.set, list)
	for _, f := range findings { // the server says of a preview what the schema has said with its line
		p.Findings = slices.DeleteFunc(p.Findings, func(x diag.Finding) bool { return x.Object == f.Object && x.Code == answer.CodeInvalidObject })
	}
	return findings
}

// vetObjects checks what would be declared on a cluster; whether an object is there already is not known, so that what is
// missing in it is a warning.
func (r *run) vetObjects(ctx context.Context, t *target, s *desired.State) diag.Findings {
	var sure, all []validation.Object
	refs := r.refs(t, s)
	for _, d := range s.Desired {
		if body, ok := s.Bodies[d.Ref]; ok && len(refs.StandsIn(d.Ref)) == 0 {
			given := s.Given(body.Instance)
			sure, all = append(sure, validation.Object{Object: body, Values: given}), append(all, validation.Object{Object: body, Whole: true, Values: given})
		}
	}
	return r.desired(t).Doubtful(s, validation.Uncertain(r.checkObjects(ctx, t, s, sure), r.checkObjects(ctx, t, s, all)), "objects of instance %s are not valid", "whether they are is not checked")
}

// checkObjects checks objects against the schemas of a connected cluster, and against those of the definitions that come
// with the set, or with bundles that are done first. Where a cluster publishes none, nothing is checked.
func (r *run) checkObjects(ctx context.Context, t *target, s *desired.State, list []validation.Object) diag.Findings {
	findings := r.schemas(t).Check(ctx, list, s.Ahead.With(s.Bodies))
	if !findings.HasErrors() || s.Asked || len(r.ahead(ctx, t, s).Definitions) == 0 {
		return findings
	}
	return r.schemas(t).Check(ctx, list, s.Ahead.With(s.Bodies))
}

// foresee asks for what will be needed of what will probably be written, as it differs from the record, while the cluster
// is looked at: the schemas, and our rights and what keeps releases back where the plan is carried out; of a new bundle on a cluster
// that nothing else tells from others, what other records say of it. What could not be read is asked for again. After
// end, nothing of it is under way; schemas that nobody wanted are given up.
func (r *run) foresee(ctx context.Context, w *work) (end func()) {
	t := w.target
	changing := plan.Unrecorded(w.set.Desired, t.inventory())
	versions := plan.Versions(changing, w.set.Defined)
	if len(changing) == 0 || t.session == nil {
		return func() {}
	}
	var looks broke.Group
	if r.req.Applies {
		t.session.Foresee(ctx, plan.Places(changing))
	}
	looks.Go(func() { w.held = heldBack(ctx, w) })
	var elsewhere diag.Findings
	if t.Record == nil && !r.input.Knows(t.Cluster, r.accepts(w.Cluster)) {
		looks.Go(func() { elsewhere = release.Neighbours(ctx, t.Store, w.Cluster, t.Facts.Identity(), r.fleet) })
	}
	read := r.schemas(t).Foresee(ctx, versions)
	return func() {
		read()
		t.session.Foreseen()
		looks.Wait()
		w.Plan.Findings = append(w.Plan.Findings, elsewhere.OnCluster(w.Cluster)...)
	}
}
