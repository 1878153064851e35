package engine

import (
	"context"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/builtin"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/valuerefs"
)

// parallelParts bounds how many instances of one cluster are rendered at once.
const parallelParts = 16

// set is the desired state of one bundle on one cluster, and how it came about.
type set struct {
	spec      v1alpha1.BundleSpec
	owner     string
	parts     []*part
	notPlaced map[string]string
	suspended map[string]bool
	behind    map[string]bool // those of which nothing is begun any more, while the plan is carried out
	depends   map[string][]string
	// namespaces are those of all the bundle's instances; takes are what the placed ones take of others' objects.
	namespaces map[string]string
	takes      map[string][]bind.From
	// desired in instance order; bodies of everything rendered so far, marked.
	desired []plan.Desired
	bodies  map[object.Ref]object.Object
	// defined are the kinds that the rendered objects bring along, or bundles that are done first.
	defined map[schema.GroupKind]object.DefinedKind
	// ahead is what comes with those bundles, once it was asked.
	ahead plan.Ahead
	asked bool
	// stood are digests of objects as they are with placeholders for what was made up in this run.
	stood map[object.Ref]string
	// shown are the objects with what was made up, as a plan shows them.
	shown map[object.Ref]object.Object
}

// part is one placed instance.
type part struct {
	// placed is the instance with its values as they are written; instance has them put in.
	placed, instance v1alpha1.Instance
	// open are the values that others will give and that are not known yet: stand-ins are there instead.
	open     []bind.From
	use      source.Use
	request  render.Request
	renderer render.Renderer
	// key is the inputs digest. When it equals the record's, recorded is true and nothing is rendered.
	key      string
	policy   string // what the key has of the policies
	recorded bool
	source   string
	checks   []health.Check
	digest   string // of the content
	// makes: its source makes something up that is not known before its values are.
	makes bool
	// standIn is the part with placeholders, when something was made up for it in this run.
	standIn *stand
}

// specFor evaluates the program for one cluster and picks the run's bundle.
func (r *run) specFor(f fleet.Facts) (v1alpha1.BundleSpec, diag.Findings) {
	specs, findings := r.input.Evaluate(f)
	if findings.HasErrors() {
		findings = fleet.Unfollowed(findings)
		if f.Implicit && r.fleet == nil {
			findings = fleet.WithoutFleet(findings, f, r.input.NearFleet())
		}
		return v1alpha1.BundleSpec{}, findings
	}
	s, fs := place.Choose(specs, r.req.Bundle)
	if findings = append(findings, fs...); fs.HasErrors() {
		return s, findings
	}
	s, fs = bind.Spec(s, r.files.Value)
	return s, slices.Concat(findings, fs, place.Unknown(s, r.all))
}

// prepare selects and resolves the instances of one cluster, up to the inputs digests.
func (r *run) prepare(ctx context.Context, t *target, spec v1alpha1.BundleSpec) (*set, diag.Findings) {
	s := r.newSet(spec)
	if len(r.req.Before) > 0 {
		r.ahead(ctx, t, s)
	}
	selected, findings := place.Select(spec, t.cluster, t.facts)
	var placed []v1alpha1.Instance
	for _, p := range selected {
		s.namespaces[p.Instance.Name] = p.Instance.Namespace
		switch {
		case p.Why != "":
			s.notPlaced[p.Instance.Name] = p.Why
			continue
		case p.Suspended:
			s.suspended[p.Instance.Name] = true
		}
		placed = append(placed, p.Instance)
	}
	placed, fs := bind.Instances(placed)
	if findings = append(findings, fs...); fs.HasErrors() {
		return s, findings
	}
	for _, in := range placed {
		froms, _ := bind.Froms(in.Values) // findings were those of bind.Spec
		s.takes[in.Name] = valuerefs.OfOthers(froms)
	}
	parts := make([]*part, len(placed))
	found := make([]diag.Findings, len(placed))
	each(len(placed), parallelParts, func(i int) {
		if !s.suspended[placed[i].Name] {
			parts[i], found[i] = r.part(ctx, t, s, placed[i])
		}
	})
	var here []v1alpha1.Instance
	for i, in := range placed {
		findings = append(findings, found[i]...)
		if parts[i] != nil {
			here = append(here, in)
			s.parts = append(s.parts, parts[i])
		}
		if parts[i] != nil || s.suspended[in.Name] {
			s.depends[in.Name] = in.DependsOn
		}
	}
	return s, append(findings, plan.SuspendedNeeds(here, s.suspended, t.record.ReadyBefore)...)
}

func (r *run) newSet(spec v1alpha1.BundleSpec) *set {
	return &set{spec: spec, owner: r.owner(spec.Name), notPlaced: map[string]string{}, suspended: map[string]bool{},
		namespaces: map[string]string{}, takes: map[string][]bind.From{},
		depends: map[string][]string{}, bodies: map[object.Ref]object.Object{}}
}

// part resolves an instance's source and values, and computes its inputs digest.
func (r *run) part(ctx context.Context, t *target, s *set, in v1alpha1.Instance) (*part, diag.Findings) {
	use, err := r.sources.Get(r.secretly(ctx), in)
	if err != nil {
		return nil, diag.From(err, "source")
	}
	p := &part{placed: in, use: use, renderer: r.Renderers[use.Kind], digest: use.Resolved.Digest, source: use.Title(use.Resolved.Version)}
	if p.renderer == nil {
		return nil, diag.Findings{diag.Errorf("no-renderer", "instance %s has a source nobody renders", in.Name)}
	}
	findings := r.fillIn(ctx, t, s, p, false)
	if findings.HasErrors() {
		return nil, findings
	}
	return p, findings
}

// fillIn puts the values of a part in and makes its request of them. With standIn what comes from other instances stays
// open, whatever their objects say now.
func (r *run) fillIn(ctx context.Context, t *target, s *set, p *part, standIn bool) (findings diag.Findings) {
	before, _ := r.newValues(t, p.placed.Name)
	p.instance, p.open, findings = r.bound(ctx, t, s, p.placed, standIn, false)
	if findings.HasErrors() {
		return findings
	}
	p.request = render.Request{Bundle: s.spec.Name, Instance: p.instance, Content: p.use.Content,
		KubeVersion: t.facts.Version, APIs: object.Serving(t.facts.APIs, s.ahead.Kinds()), Package: "main"}
	if findings = append(findings, r.answered(ctx, t, s, p)...); findings.HasErrors() {
		return findings
	}
	p.policy = plan.PolicyKey(p.placed, r.ignores(s.spec))
	if err := r.rekey(ctx, p); err != nil {
		return append(findings, withInstance(diag.From(err, "source"), p.placed)...)
	}
	p.request.Tests = r.req.Tests
	if n, unrecorded := r.newValues(t, p.placed.Name); n != before || unrecorded {
		findings = append(findings, r.unmade(ctx, t, s, p, standIn)...)
	}
	p.recorded = !r.req.Tests && t.record != nil && t.record.Standing().Complete() && t.record.Inputs[p.placed.Name] == p.key
	return findings
}

// rekey computes the part's inputs digest. Tests leave no trace in the record: the inputs are the same.
func (r *run) rekey(ctx context.Context, p *part) error {
	request := p.request
	request.Tests = false
	key, err := p.renderer.Key(r.secretly(ctx), request)
	p.key = key + p.policy
	return err
}

func withInstance(fs diag.Findings, in v1alpha1.Instance) diag.Findings {
	return fs.OfInstance(in.Name, diag.Pos(in.Pos))
}

// fill makes the set's desired objects: from the record where the inputs are unchanged, else by rendering. What was
// there before goes.
func (r *run) fill(ctx context.Context, t *target, s *set) diag.Findings {
	s.desired = nil
	clear(s.bodies)
	var fresh []*part
	for _, p := range s.parts {
		if !p.recorded {
			fresh = append(fresh, p)
		}
	}
	findings := r.render(ctx, t, s, fresh)
	if findings.HasErrors() {
		return findings
	}
	r.assemble(t, s)
	findings = append(findings, r.refs(t, s).Lacking(ctx)...)
	findings = append(findings, object.VetIgnore(r.ignores(s.spec))...)
	findings = append(findings, health.Vet(r.Checker, r.checks(new(part), s, nil, nil), health.InBundle, health.InFleet)...)
	for _, p := range s.parts {
		findings = append(findings, withInstance(object.VetIgnore(p.instance.Ignore), p.instance)...)
		findings = append(findings, withInstance(health.Vet(r.Checker, p.checks, health.InInstance, health.InModule), p.instance)...)
	}
	return findings
}

// ignores are the rules of the bundle and the fleet that leave fields to others.
func (r *run) ignores(spec v1alpha1.BundleSpec) []v1alpha1.IgnoreRule {
	if r.fleet == nil {
		return spec.Ignore
	}
	return slices.Concat(spec.Ignore, r.fleet.Ignore)
}

// checks are the health rules of an instance in the order they are asked.
func (r *run) checks(p *part, s *set, module []v1alpha1.HealthRule, own []health.Check) []health.Check {
	var fleet []v1alpha1.HealthRule
	if r.fleet != nil {
		fleet = r.fleet.Health
	}
	return health.Ordered(p.instance.Health, module, own, s.spec.Health, fleet)
}

// render renders the given parts and adds their marked objects to the bodies.
func (r *run) render(ctx context.Context, t *target, s *set, parts []*part) diag.Findings {
	results := make([]render.Result, len(parts))
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		wg.Go(func() { results[i], errs[i] = r.rendered(ctx, t, s, p) })
	}
	wg.Wait()
	var findings diag.Findings
	var all []object.Object
	for i, p := range parts {
		if errs[i] != nil {
			findings = append(findings, bind.Explained(withInstance(diag.From(errs[i], "render"), p.instance), valuerefs.After(p.open))...)
			continue
		}
		findings = append(findings, results[i].Findings...)
		p.checks = r.checks(p, s, results[i].Health, results[i].Checks)
		all = append(all, results[i].Objects...)
	}
	if s.defined = object.DefinedKinds(all); object.Unserved(all, t.known(), s.defined) {
		maps.Copy(s.defined, r.ahead(ctx, t, s).Kinds())
	}
	for i, p := range parts {
		if errs[i] != nil {
			continue
		}
		objs, fs := r.mark(t, s, p, results[i].Objects)
		if r.program.Plain() {
			fs = object.OfNoInstance(fs)
		}
		findings = append(findings, fs...)
		for _, o := range objs {
			d, fs := plan.Declared(o, p.instance, r.ignores(s.spec))
			findings = append(findings, fs...)
			s.bodies[d.Ref] = o.Object
			s.desired = append(s.desired, d)
		}
	}
	r.stood(t, s)
	return plan.RedactFindings(findings, r.Redactor) // what is common in an instance's values is known by the instance alone
}

// mark gives objects of a part their namespaces and marks.
func (r *run) mark(t *target, s *set, p *part, objs []object.Object) ([]object.Scoped, diag.Findings) {
	return r.marks.Of(objs, render.Marking{Render: p.renderer.Name() + " " + p.key, Instance: p.instance.Name, Namespace: p.instance.Namespace,
		Owner: s.owner, Bundle: s.spec.Name, Known: t.known(), Defined: s.defined, Sensitive: r.sensitive})
}

// known answers which kinds the target serves; without a session (offline facts) every kind is taken at its word.
func (t *target) known() func(schema.GroupVersionKind) (bool, bool) {
	return func(gvk schema.GroupVersionKind) (bool, bool) {
		if t.session == nil {
			return !builtin.ClusterScoped(gvk.GroupKind()), true
		}
		info, ok := t.session.Kind(gvk)
		return info.Namespaced, ok
	}
}

// assemble adds what the record knows of unchanged instances, and the instances' own namespaces.
func (r *run) assemble(t *target, s *set) {
	recorded := map[string]bool{}
	for _, p := range s.parts {
		if p.recorded {
			recorded[p.instance.Name] = true
			p.checks = r.checks(p, s, nil, health.ModuleOwn(t.record.Checks[p.instance.Name]))
		}
	}
	s.desired = append(s.desired, t.record.Desired(recorded)...)
	declared := map[object.Ref]bool{}
	for _, d := range s.desired {
		declared[d.Ref] = true
	}
	for _, p := range s.parts {
		ns := p.instance.Namespace
		ref := object.Ref{Kind: "Namespace", Name: ns}
		if ns == "" || declared[ref] {
			continue
		}
		declared[ref] = true
		body := object.Object{Instance: p.instance.Name, Body: map[string]any{"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": ns}}}.Marked(s.owner, s.spec.Name)
		d := plan.DesiredOf(object.Scoped{Object: body})
		d.OwnNamespace = true
		s.bodies[ref] = body
		s.desired = append(s.desired, d)
	}
}

// rules are the health rules by instance.
func (s *set) rules(checker health.Checker) map[string]health.Rules {
	out := map[string]health.Rules{}
	for _, p := range s.parts {
		out[p.instance.Name] = health.Rules{Checks: p.checks, Checker: checker}
	}
	return out
}
