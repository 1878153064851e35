package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"cuelang.org/go/cue/ast"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/openapi"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/render"
)

// unchecked is an object that is going to be written; whole, that nobody else has fields in it yet.
type unchecked struct {
	object object.Object
	whole  bool
	// values are those of the chart's or the module's instance that it comes from, nil for others.
	values ast.Expr
}

// given are the values of an instance of a chart or a module, nil for others.
func (s *set) given(instance string) ast.Expr {
	for _, p := range s.parts {
		if in := p.instance; in.Name == instance && (in.Helm != nil || in.Module != nil) && !in.Values.IsZero() {
			return in.Values.Struct
		}
	}
	return nil
}

// validate checks what a plan writes against the cluster's own schemas. Objects that hold something else than the values
// they will have are left to the step that knows them.
func (r *run) validate(ctx context.Context, w *work, p *plan.Plan) diag.Findings {
	var list []unchecked
	for _, ch := range p.Changes {
		body, ok := w.set.bodies[ch.Ref]
		if !ok || !ch.Action.Writes() || ch.Action == plan.Delete || ch.Action == plan.Release || len(w.set.standsIn(ch.Ref)) > 0 {
			continue
		}
		list = append(list, unchecked{body, ch.Action == plan.Create || ch.Action == plan.Recreate, w.set.given(body.Instance)})
	}
	findings := r.checkObjects(ctx, w.target, w.set, list)
	for _, f := range findings { // the server says of a preview what the schema has said with its line
		p.Findings = slices.DeleteFunc(p.Findings, func(x diag.Finding) bool { return x.Object == f.Object && x.Code == answer.CodeInvalidObject })
	}
	return findings
}

// vetObjects checks what would be declared on a cluster; whether an object is there already is not known, so that what is
// missing in it is a warning.
func (r *run) vetObjects(ctx context.Context, t *target, s *set) diag.Findings {
	var sure, all []unchecked
	for _, d := range s.desired {
		if body, ok := s.bodies[d.Ref]; ok && len(s.standsIn(d.Ref)) == 0 {
			sure, all = append(sure, unchecked{body, false, s.given(body.Instance)}), append(all, unchecked{body, true, s.given(body.Instance)})
		}
	}
	errors := r.checkObjects(ctx, t, s, sure)
	for _, f := range r.checkObjects(ctx, t, s, all) {
		if f.Code == answer.CodeInvalidObject && !slices.Contains(errors, f) {
			f.Severity = diag.Warning
			errors = append(errors, f)
		}
	}
	return errors
}

// checkObjects checks objects against the schemas of a connected cluster, and against those of the definitions that come
// with the set, or with bundles that are done first. Where a cluster publishes none, nothing is checked.
func (r *run) checkObjects(ctx context.Context, t *target, s *set, list []unchecked) diag.Findings {
	findings := r.check(ctx, t, list, s.ahead.With(s.bodies))
	if !findings.HasErrors() || s.asked || len(r.ahead(ctx, t, s).Definitions) == 0 {
		return findings
	}
	return r.check(ctx, t, list, s.ahead.With(s.bodies))
}

func (r *run) check(ctx context.Context, t *target, list []unchecked, bodies map[object.Ref]object.Object) diag.Findings {
	if len(list) == 0 {
		return nil
	}
	own := openapi.Definitions(bodies)
	var versions []schema.GroupVersion
	for _, u := range list {
		k := u.object.GVK()
		if own[k.GroupKind()] == nil && !slices.Contains(versions, k.GroupVersion()) {
			versions = append(versions, k.GroupVersion())
		}
	}
	published, findings := r.schemas(ctx, t, versions)
	definition := openapi.Reader(func(gk schema.GroupKind) map[string]any { return t.session.Definition(ctx, gk) })
	for _, u := range list {
		k := u.object.GVK()
		doc := own[k.GroupKind()]
		if doc == nil {
			doc = published[k.GroupVersion()]
		}
		if doc == nil {
			continue
		}
		private := u.object.Ref().IsSecret() || len(u.object.Sensitive) > 0
		o := openapi.Options{Whole: u.whole, Hide: func(openapi.Path) bool { return private }}
		problems := doc.Check(k, u.object.Body, o)
		if len(problems) > 0 && own[k.GroupKind()] == nil && t.session != nil && u.object.Ref().Custom() {
			problems = openapi.Confirm(problems, definition(k.GroupKind()), k, u.object.Body, o)
		}
		findings = append(findings, r.invalid(u, problems)...)
	}
	return findings
}

// invalid is what a schema says of an object, each problem at its own line.
func (r *run) invalid(u unchecked, problems []openapi.Problem) diag.Findings {
	var findings diag.Findings
	for _, p := range problems {
		f := diag.Errorf(answer.CodeInvalidObject, "%s", r.redact(p.Text))
		f.Path, f.Fix, f.Pos = p.Path.String(), p.Fix, u.object.Pos
		f.Object, f.Instance = u.object.Ref().String(), u.object.Instance
		if r.Locate != nil {
			f.Pos = r.Locate(u.object.Pos, p.Path.Steps())
		}
		if at, pos := render.GivenBy(u.values, u.object.Body, p.Path.Steps()); at != "" {
			f.Pos, f.Why = pos, r.redact(at)+" gives it"
			if u.object.Pos.IsValid() {
				f.Why += ", in an object of " + u.object.Pos.String()
			}
		}
		findings = append(findings, f)
	}
	return findings
}

// foresee asks for what will be needed of what will probably be written, as it differs from the record, while the cluster
// is looked at: the schemas, and our rights where the plan is carried out. What could not be read is asked for again. After
// end, nothing of it is under way; schemas that nobody wanted are given up.
func (r *run) foresee(ctx context.Context, w *work) (end func()) {
	t := w.target
	changing := plan.Unrecorded(w.set.desired, t.inventory())
	versions := plan.Versions(changing, w.set.defined)
	if len(changing) == 0 || t.session == nil {
		return func() {}
	}
	if r.req.Applies {
		t.session.Foresee(ctx, plan.Places(changing))
	}
	ahead, cancel := context.WithCancel(ctx)
	published := r.published(t)
	t.published = published
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = published.Documents(ahead, versions) })
	return func() {
		cancel()
		reading.Wait()
		t.session.Foreseen()
	}
}

// schemas reads the documents of some groups and versions. One that is not published is not there; one that cannot be read
// is a finding, and its objects are left to the server.
func (r *run) schemas(ctx context.Context, t *target, versions []schema.GroupVersion) (map[schema.GroupVersion]*openapi.Document, diag.Findings) {
	if len(versions) == 0 {
		return nil, nil
	}
	published := t.published
	if t.published = nil; published == nil {
		published = r.published(t)
	}
	out, errs := published.Documents(ctx, versions)
	var findings diag.Findings
	for _, err := range errs {
		findings = append(findings, r.noSchemas(t, err)...)
	}
	return out, findings.Sorted()
}

func (r *run) published(t *target) *openapi.Published {
	return &openapi.Published{Library: &r.library, Cluster: t.cluster.Name,
		Index: func(ctx context.Context) (map[string]openapi.Location, error) { return r.schemaIndex(ctx, t) },
		Load:  func(ctx context.Context, at openapi.Location) ([]byte, error) { return r.document(ctx, t, at) }}
}

// schemaIndex says where the documents of a cluster are; those of a facts file have a hash alone.
func (r *run) schemaIndex(ctx context.Context, t *target) (map[string]openapi.Location, error) {
	if t.session == nil {
		out := map[string]openapi.Location{}
		for path, hash := range t.facts.Schemas {
			out[path] = openapi.Location{Hash: hash}
		}
		return out, nil
	}
	data, err := t.session.OpenAPI(ctx, cluster.OpenAPIRoot)
	if err != nil {
		return nil, err
	}
	return openapi.Index(data)
}

// document is one of a cluster's documents: from the facts file, from what is kept, or asked for.
func (r *run) document(ctx context.Context, t *target, at openapi.Location) ([]byte, error) {
	if t.session == nil {
		return r.snapshot.Unpack(at.Hash)
	}
	fetch := func(ctx context.Context) ([]byte, error) { return t.session.OpenAPI(ctx, at.URL) }
	if r.Documents == nil || at.Hash == "" {
		return fetch(ctx)
	}
	return r.Documents(ctx, at.Hash, fetch)
}

// packSchemas puts a cluster's documents into a snapshot, those with the same hash once. A cluster that publishes none is
// saved without.
func (r *run) packSchemas(ctx context.Context, t *target, facts *fleet.Facts, snap *fleet.Snapshot) diag.Findings {
	index, err := r.schemaIndex(ctx, t)
	if err != nil {
		return r.noSchemas(t, err)
	}
	facts.Schemas = map[string]string{}
	for path, at := range index {
		if at.Hash == "" {
			continue
		}
		if snap.Documents[at.Hash] == nil {
			data, err := r.document(ctx, t, at)
			if err == nil {
				err = snap.Pack(at.Hash, data)
			}
			if err != nil {
				return r.noSchemas(t, fmt.Errorf("%s: %w", path, err))
			}
		}
		facts.Schemas[path] = at.Hash
	}
	return nil
}

func (r *run) noSchemas(t *target, err error) diag.Findings {
	f := diag.Finding{Severity: diag.Info, Code: "no-schemas", Cluster: t.cluster.Name,
		What: "objects are not checked against the cluster's schemas, which cannot be read", Why: r.redact(err.Error())}
	return diag.Findings{f}
}
