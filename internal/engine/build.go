package engine

import (
	"cmp"
	"context"

	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/latevalues"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/place"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/rights"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/values"
)

// gather finds the facts for vet and build: from a facts file, from the declared clusters, from the one of --kube-context,
// or, for the implicit cluster and for clusters that cannot be asked, from what the files say. A cluster that must be
// asked (runtime queries, or it is named) and cannot is an error; otherwise it is a warning. Where what the records name is wanted,
// for the rights, nothing is an error that one of the clusters does not let us read.
func (r *run) gather(ctx context.Context) error {
	if err := r.locked(ctx); err != nil {
		return err
	}
	if r.input.Facts != nil {
		return r.loadFacts()
	}
	declared := r.fleet != nil && len(r.fleet.Clusters) > 0
	asked := r.program.UsesQueries() || r.req.Access.Context != ""
	if r.aloof = !asked; declared || asked || r.req.Recorded { // a cluster that cannot be asked keeps none of the others from it
		if err := r.connect(ctx, true); err != nil && asked && !(r.req.Recorded && r.stats.Connected > 0) {
			return err
		}
	}
	for _, t := range r.targets {
		if t.session != nil {
			continue
		}
		why := t.unreachable
		if t.findings.HasErrors() {
			why = t.findings.Errors()[0].String()
		}
		if asked {
			f := fleet.NoAnswer(t.Cluster.Name, why)
			f.Fix = "use facts saved earlier with: --facts FILE (hawser fleet snapshot)"
			return diag.Findings{f}.Err()
		}
		t.Facts = r.offlineFacts(t.Cluster)
		t.Facts.Version = fleet.BuildVersion(r.req.Env)
		if declared {
			f := diag.Warnf("not-asked", "the cluster could not be asked: checked without its version and kinds")
			if f.Cluster, f.Why = t.Cluster.Name, why; t.denied != nil {
				f.Pos, f.Fix = t.denied.Pos, t.denied.Fix
			}
			r.warnings = append(r.warnings, f)
		}
	}
	return nil
}

func (r *run) loadFacts() error {
	for _, t := range r.targets {
		facts, ok := r.input.Facts.Facts(t.Cluster.Name)
		if !ok {
			f := diag.Errorf("no-facts", "%s has no facts of the cluster", r.input.Facts.File)
			f.Cluster, f.Fix = t.Cluster.Name, "take them with: hawser fleet snapshot"
			return diag.Findings{f}.Err()
		}
		t.Facts = facts
	}
	return nil
}

// Build renders the bundle for every selected cluster. A fleet's clusters are asked for their facts, unless a facts
// file says them; without a fleet nothing is contacted, unless a context is named.
func (e *Engine) Build(ctx context.Context, req Request) (*fleetplan.BuildResult, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.lenient, r.names = true, req.Recorded
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	out := &fleetplan.BuildResult{Reads: rights.Queried(r.fleet), MultiCluster: len(r.targets) > 1, Whole: len(r.targets) == len(r.all), Mask: r.Redactor}
	for _, t := range r.targets {
		out.Clusters = append(out.Clusters, t.Cluster.Name)
		spec, findings := r.specFor(t.Facts)
		if req.Recorded {
			spec, findings = rights.Partly(spec, findings, t.findings, req.Bundle, r.program.Bundles())
		}
		out.Findings = append(out.Findings, findings.OnCluster(t.Cluster.Name)...)
		if findings.HasErrors() {
			continue
		}
		out.Bundle = spec.Name
		s, fs := r.desired(t).Prepare(ctx, spec)
		if !fs.HasErrors() {
			fs = append(fs, r.filled(ctx, t, s)...)
		}
		if fs = append(fs, r.refs(t, s).StandIns()...); !req.Placeholders {
			fs = fleetplan.Unprintable(fs, req.Publish)
		}
		out.Reads = append(append(out.Reads, latevalues.Objects(r.refs(t, s).Sources())...), r.reader.Led()...)
		out.Findings = append(out.Findings, fs.OnCluster(t.Cluster.Name)...)
		if req.Recorded {
			refs, fs := r.named(ctx, t, spec.Name)
			out.Recorded, out.Findings = append(out.Recorded, refs...), append(out.Findings, fs...)
		}
		for _, p := range s.Renders {
			item := fleetplan.BuildItem{Instance: p.Instance.Name, Cluster: t.Cluster.Name, Namespaces: fleetplan.Namespaces(p.Instance.Name, s.Desired)}
			if res, _, err := r.memo.Render(r.secretly(ctx), p.Renderer, p.Request); err == nil {
				for _, o := range t.Placed(p.Instance, res.Objects, s.Defined) {
					item.Objects = append(item.Objects, r.desired(t).Sensitive(o))
				}
			}
			out.Items = append(out.Items, item)
		}
	}
	out.Findings = values.Unbuilt(values.StoodIn(append(out.Findings, source.Check(r.input.Lock.Sources, r.sources.Used(), req.Locked)...), req.Placeholders))
	if err := out.Findings.Err(); err != nil {
		return nil, err
	}
	out.Sort()
	return out, nil
}

// named are the objects that a cluster's record of a bundle names; a warning where nobody can tell.
func (r *run) named(ctx context.Context, t *target, bundle string) ([]object.Ref, diag.Findings) {
	if t.session == nil {
		return nil, diag.Findings{rights.Unrecorded(t.Cluster.Name, bundle, cmp.Or(t.unreachable, "the cluster is not asked"))}
	}
	r.reading = true
	if r.readRecord(ctx, t, r.owner(bundle)); t.unread != "" {
		return nil, diag.Findings{rights.Unrecorded(t.Cluster.Name, bundle, t.unread)}
	}
	return t.Record.Refs(), nil
}

// filled is fill where nothing is planned: what a plan refuses in the declarations themselves is found too.
func (r *run) filled(ctx context.Context, t *target, s *desired.State) diag.Findings {
	return append(r.desired(t).Render(ctx, s), plan.Duplicates(s.Desired)...)
}

// Vet loads, resolves and renders for every selected cluster and checks the result against the clusters' APIs where
// they are reachable or their facts are given.
func (e *Engine) Vet(ctx context.Context, req Request) (*fleetplan.VetReport, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.lenient = true
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	out := &fleetplan.VetReport{V: diag.DocumentVersion, Asked: r.stats.Connected, Declared: r.fleet != nil && len(r.fleet.Clusters) > 0, Findings: r.warnings}
	out.Findings = append(out.Findings, place.Lint(r.program.Comparisons(), r.all)...)
	for _, t := range r.targets {
		spec, findings := r.specFor(t.Facts)
		unevaluated := findings.HasErrors()
		if !unevaluated {
			s, fs := r.desired(t).Prepare(ctx, spec)
			findings = append(findings, fs...)
			if !findings.HasErrors() {
				findings = append(findings, r.filled(ctx, t, s)...)
			}
			if !findings.HasErrors() {
				findings = append(findings, r.vetObjects(ctx, t, s)...)
			}
			findings = append(findings, r.refs(t, s).StandIns()...)
			out.Of(spec)
		}
		var text string
		if !unevaluated { // else that says the same again
			var fs diag.Findings
			if text, fs = r.program.Value(t.Facts); !findings.HasErrors() {
				findings = append(findings, fs...)
			}
			unevaluated = fs.HasErrors()
		}
		out.Findings = append(out.Findings, findings.OnCluster(t.Cluster.Name)...)
		if !unevaluated {
			out.Clusters = append(out.Clusters, fleetplan.ClusterValues{Cluster: t.Cluster.Name, Bundle: values.Shown(text, "", r.Redactor.Value)})
		}
	}
	out.Findings = values.StoodIn(append(out.Findings, source.Check(r.input.Lock.Sources, r.sources.Used(), req.Locked)...), req.Placeholders).Sorted()
	if len(out.Instances) == 0 && !out.Findings.HasErrors() {
		out.Findings = append(out.Findings, diag.Errorf("no-instances", "no instances found in bundle"))
	}
	return out, out.Findings.Err()
}

// Explain says which layer decided an instance's value on one cluster: path is INSTANCE.PATH.
func (e *Engine) Explain(ctx context.Context, req Request, path string) ([]place.Explanation, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	var out []place.Explanation
	for _, t := range r.targets {
		spec, findings := r.specFor(t.Facts)
		if err := findings.OnCluster(t.Cluster.Name).Err(); err != nil {
			return nil, err
		}
		_, _ = r.desired(t).Prepare(ctx, spec) // what stores hold is known before anything is shown; that some of it cannot be had is vet's to say
		ex, fs := place.Explain(spec, t.Cluster, t.Facts, path, r.program.Fact)
		others, _ := r.others(t, spec.Name)
		fs, elsewhere := place.OfAnother(fs, others, path, len(req.Among) > 1)
		if err := fs.OnCluster(t.Cluster.Name).Err(); elsewhere || err != nil {
			return nil, err
		}
		render.Explain(ctx, ex, spec.Instances, t.Facts.Version, r.sources, r.Renderers)
		r.reader.Runtime(t.Facts.Values, r.uses, spec.Instances...)
		out = append(out, values.Explained(ex, r.Redactor.Value)...)
	}
	return out, place.Missing(out, path)
}
