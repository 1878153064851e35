package desired

import (
	"context"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/valuerefs"
)

// parallelParts bounds how many instances of one cluster are rendered at once.
const parallelParts = 16

// Prepare selects and resolves the instances of one cluster, up to the inputs digests.
func (r Resolver) Prepare(ctx context.Context, spec v1alpha1.BundleSpec) (*State, diag.Findings) {
	s := r.NewState(spec)
	if r.Follows {
		r.Ahead(ctx, s)
	}
	selected, findings := place.Select(spec, r.Cluster, r.Facts)
	var placed []v1alpha1.Instance
	for _, p := range selected {
		s.namespaces[p.Instance.Name] = p.Instance.Namespace
		switch {
		case p.Why != "":
			s.NotPlaced[p.Instance.Name] = p.Why
			continue
		case p.Suspended:
			s.Suspended[p.Instance.Name] = true
		}
		placed = append(placed, p.Instance)
	}
	placed, fs := bind.Instances(placed)
	if findings = append(findings, fs...); fs.HasErrors() {
		return s, findings
	}
	for _, in := range placed {
		froms, _ := bind.Froms(in.Values) // findings were those of bind.Spec
		s.Takes[in.Name] = valuerefs.OfOthers(froms)
	}
	parts := make([]*InstanceRender, len(placed))
	found := make([]diag.Findings, len(placed))
	dag.Each(len(placed), parallelParts, func(i int) {
		if !s.Suspended[placed[i].Name] {
			parts[i], found[i] = r.part(ctx, s, placed[i])
		}
	})
	var here []v1alpha1.Instance
	for i, in := range placed {
		findings = append(findings, found[i]...)
		if parts[i] != nil {
			here = append(here, in)
			s.Renders = append(s.Renders, parts[i])
		}
		if parts[i] != nil || s.Suspended[in.Name] {
			s.Depends[in.Name] = in.DependsOn
		}
	}
	s.told = append(findings, plan.SuspendedNeeds(here, s.Suspended, r.Record.ReadyBefore)...)
	return s, slices.Clip(s.told)
}

// Unchanged reports whether a bundle is on the cluster as it is declared, as far as its record says.
func (r Resolver) Unchanged(ctx context.Context, spec v1alpha1.BundleSpec) bool {
	s, findings := r.Prepare(ctx, spec)
	return !findings.HasErrors() && r.Record != nil && len(s.Renders) == len(r.Record.Inputs) &&
		!slices.ContainsFunc(s.Renders, func(p *InstanceRender) bool { return !p.Recorded })
}

// part resolves an instance's source and values, and computes its inputs digest.
func (r Resolver) part(ctx context.Context, s *State, in v1alpha1.Instance) (*InstanceRender, diag.Findings) {
	use, err := r.Sources.Get(redact.With(ctx, r.Redactor), in)
	if err != nil {
		return nil, diag.From(err, "source")
	}
	p := &InstanceRender{Placed: in, Use: use, Renderer: r.Renderers[use.Kind], Digest: use.Resolved.Digest, Source: use.Title(use.Resolved.Version)}
	if p.Renderer == nil {
		return nil, diag.Findings{diag.Errorf("no-renderer", "instance %s has a source nobody renders", in.Name)}
	}
	findings := r.Bind(ctx, s, p, false)
	shown := len(p.Open) == 0 && slices.Contains(r.Late, in.Name) && r.Record != nil && r.Record.Inputs[in.Name] != p.Key
	if (shown || valuerefs.InPart(s.Takes[in.Name], p.Open)) && !findings.HasErrors() {
		findings = append(findings, r.Bind(ctx, s, p, true)...)
	}
	if findings.HasErrors() {
		return nil, findings
	}
	return p, findings
}

// Bind puts the values of an instance in and makes its request of them. With standIn what comes from other instances stays
// open, whatever their objects say now.
func (r Resolver) Bind(ctx context.Context, s *State, p *InstanceRender, standIn bool) (findings diag.Findings) {
	before, _ := r.newValues(p.Placed.Name)
	p.Instance, p.Open, p.Refs, findings = r.bound(ctx, s, p.Placed, standIn, false)
	if findings.HasErrors() {
		return findings
	}
	p.Request = render.Request{Bundle: s.Spec.Name, Instance: p.Instance, Content: p.Use.Content,
		KubeVersion: r.Facts.Version, APIs: object.Serving(r.Facts.APIs, s.Ahead.Kinds()), Package: "main"}
	if findings = append(findings, r.typed(ctx, p)...); findings.HasErrors() {
		return findings
	}
	if findings = append(findings, r.answered(ctx, s, p)...); findings.HasErrors() {
		return findings
	}
	p.policy = plan.PolicyKey(p.Placed, r.ignores(s.Spec))
	if err := r.rekey(ctx, p); err != nil {
		return append(findings, withInstance(diag.From(err, "source"), p.Placed)...)
	}
	p.Request.Tests = r.Tests
	if n, unrecorded := r.newValues(p.Placed.Name); n != before || unrecorded || standIn && p.standIn != nil {
		findings = append(findings, r.unmade(ctx, s, p, standIn)...)
	}
	p.Recorded = !r.Tests && len(valuerefs.Unknown(p.Open, p.Refs)) == 0 && r.Record != nil && r.Record.Standing().Complete() && r.Record.Inputs[p.Placed.Name] == p.Key
	return findings
}

// typed lets what came by references be numbers and booleans where the part's source takes no texts.
func (r Resolver) typed(ctx context.Context, p *InstanceRender) (findings diag.Findings) {
	typer, ok := p.Renderer.(render.Typer)
	if !ok {
		return nil
	}
	ctx = redact.With(ctx, r.Redactor)
	of := bind.Package{Kinds: func(at []v1alpha1.Path) [][]v1alpha1.Kind { return typer.Kinds(ctx, p.Request, at) }, Own: r.own(ctx, p)}
	p.Instance.Values, findings = bind.OfKinds(p.Instance.Values, p.Refs, of)
	p.Request.Instance = p.Instance
	return withInstance(append(findings, bind.Words(p.Placed.Values, of.Own)...), p.Placed)
}

// own is what a part's source has itself at a path of the values, nil for nothing.
func (r Resolver) own(ctx context.Context, p *InstanceRender) func(v1alpha1.Path) *v1alpha1.Value {
	return func(at v1alpha1.Path) (own *v1alpha1.Value) {
		if d, ok := p.Renderer.(render.Defaulter); ok {
			own, _ = d.Default(ctx, p.Request, at)
		}
		return own
	}
}

// rekey computes the part's inputs digest. Tests leave no trace in the record: the inputs are the same.
func (r Resolver) rekey(ctx context.Context, p *InstanceRender) error {
	request := p.Request
	request.Tests = false
	key, err := p.Renderer.Key(redact.With(ctx, r.Redactor), request)
	p.Key = key + p.policy
	return err
}

func withInstance(fs diag.Findings, in v1alpha1.Instance) diag.Findings {
	return fs.OfInstance(in.Name, diag.Pos(in.Pos))
}
