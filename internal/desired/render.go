package desired

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/builtin"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/valuerefs"
)

// Render makes the state's desired objects: from the record where the inputs are unchanged, else by rendering. What was
// there before goes.
func (r Resolver) Render(ctx context.Context, s *State) diag.Findings {
	s.Desired, s.Maybe, s.Bodies = nil, nil, map[object.Ref]object.Object{}
	var fresh []*InstanceRender
	for _, p := range s.Renders {
		if !p.Recorded {
			fresh = append(fresh, p)
		}
	}
	findings := r.RenderInstances(ctx, s, fresh)
	if findings.HasErrors() {
		return findings
	}
	r.Assemble(s)
	findings = append(findings, r.References(s).Lacking(ctx)...)
	findings = append(findings, object.VetIgnore(r.ignores(s.Spec))...)
	findings = append(findings, health.Vet(r.Checker, r.checks(new(InstanceRender), s, nil, nil), health.InBundle, health.InFleet)...)
	for _, p := range s.Renders {
		findings = append(findings, withInstance(object.VetIgnore(p.Instance.Ignore), p.Instance)...)
		findings = append(findings, withInstance(health.Vet(r.Checker, p.Checks, health.InInstance, health.InModule), p.Instance)...)
	}
	s.told = slices.Concat(s.told, findings)
	return findings
}

// ignores are the rules of the bundle and the fleet that leave fields to others.
func (r Resolver) ignores(spec v1alpha1.BundleSpec) []v1alpha1.IgnoreRule {
	if r.Fleet == nil {
		return spec.Ignore
	}
	return slices.Concat(spec.Ignore, r.Fleet.Ignore)
}

// checks are the health rules of an instance in the order they are asked.
func (r Resolver) checks(p *InstanceRender, s *State, module []v1alpha1.HealthRule, own []health.Check) []health.Check {
	var fleet []v1alpha1.HealthRule
	if r.Fleet != nil {
		fleet = r.Fleet.Health
	}
	return health.Ordered(p.Instance.Health, module, own, s.Spec.Health, fleet)
}

// RenderInstances renders the given ones and adds their marked objects to the bodies.
func (r Resolver) RenderInstances(ctx context.Context, s *State, parts []*InstanceRender) diag.Findings {
	results := make([]render.Result, len(parts))
	errs := make([]error, len(parts))
	var wg broke.Group
	for i, p := range parts {
		wg.Go(func() { results[i], errs[i] = r.rendered(ctx, s, p) })
	}
	wg.Wait()
	extra := r.expected(ctx, s, parts, results, errs)
	var findings diag.Findings
	var all []object.Object
	for i, p := range parts {
		if errs[i] != nil {
			failed := bind.MeantKey(bind.Misfit(withInstance(diag.From(errs[i], "render"), p.Instance), p.Refs), p.Placed.Values)
			findings = append(findings, bind.Explained(failed, valuerefs.Unknown(p.Open, p.Refs))...)
			continue
		}
		findings = append(findings, bind.MeantKey(slices.Clone(results[i].Findings), p.Placed.Values)...)
		p.Checks = r.checks(p, s, results[i].Health, results[i].Checks)
		all = append(all, results[i].Objects...)
	}
	if s.Defined = object.DefinedKinds(all); object.Unserved(all, r.Kinds(), s.Defined) {
		maps.Copy(s.Defined, r.Ahead(ctx, s).Kinds())
	}
	for i, p := range parts {
		if errs[i] != nil {
			continue
		}
		objs, fs := r.mark(s, p, "", results[i].Objects)
		if r.Plain {
			fs = object.OfNoInstance(fs)
		}
		findings = append(findings, fs...)
		for _, o := range objs {
			d, fs := plan.Declared(o, p.Instance, r.ignores(s.Spec))
			findings = append(findings, fs...)
			s.Bodies[d.Ref] = o.Object
			s.Desired = append(s.Desired, d)
		}
		maybe, _ := r.mark(s, p, "expected ", extra[i])
		s.add(p, maybe, r.ignores(s.Spec))
	}
	r.stood(s)
	findings = r.Doubtful(s, findings, "instance %s does not render", "what it renders is not checked")
	return plan.RedactFindings(findings, r.Redactor) // what is common in an instance's values is known by the instance alone
}

// mark gives objects of a part their namespaces and marks; those of one render of it have one name of it.
func (r Resolver) mark(s *State, p *InstanceRender, which string, objs []object.Object) ([]object.Scoped, diag.Findings) {
	return r.Marks.Of(objs, render.Marking{Render: which + p.Renderer.Name() + " " + p.Key, Instance: p.Instance.Name, Namespace: p.Instance.Namespace,
		Owner: s.Owner, Bundle: s.Spec.Name, Known: r.Kinds(), Defined: s.Defined, Sensitive: r.Sensitive})
}

// Assemble adds what the record knows of unchanged instances, and the instances' own namespaces.
func (r Resolver) Assemble(s *State) {
	recorded := map[string]bool{}
	for _, p := range s.Renders {
		if p.Recorded {
			recorded[p.Instance.Name] = true
			p.Checks = r.checks(p, s, nil, health.ModuleOwn(r.Record.Checks[p.Instance.Name]))
		}
	}
	s.Desired = append(s.Desired, r.Record.Desired(recorded)...)
	declared := map[object.Ref]bool{}
	for _, d := range s.Desired {
		declared[d.Ref] = true
	}
	for _, p := range s.Renders {
		ns := p.Instance.Namespace
		ref := object.Ref{Kind: "Namespace", Name: ns}
		if ns == "" || declared[ref] {
			continue
		}
		declared[ref] = true
		body := object.Object{Instance: p.Instance.Name, Body: map[string]any{"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": ns}}}.Marked(s.Owner, s.Spec.Name)
		d := plan.DesiredOf(object.Scoped{Object: body})
		d.OwnNamespace = true
		s.Bodies[ref] = body
		s.Desired = append(s.Desired, d)
	}
}

// Kinds answers which kinds the target serves; where it is not asked (offline facts) every kind is taken at its word.
func (t *Target) Kinds() func(schema.GroupVersionKind) (bool, bool) {
	return func(gvk schema.GroupVersionKind) (bool, bool) {
		if t.Session == nil {
			return !builtin.ClusterScoped(gvk.GroupKind()), true
		}
		info, ok := t.Session.Kind(gvk)
		return info.Namespaced, ok
	}
}

// Placed are the objects of an instance with the namespace they will have; where a kind is one that nobody knows they stay as they are.
func (t *Target) Placed(in v1alpha1.Instance, objs []object.Object, defined map[schema.GroupKind]object.DefinedKind) []object.Object {
	scoped, findings := object.Scope(objs, in.Namespace, t.Kinds(), defined)
	if findings.HasErrors() {
		return objs
	}
	out := make([]object.Object, len(scoped))
	for i, o := range scoped {
		out[i] = o.Object
	}
	return out
}
