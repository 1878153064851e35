package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/source"
)

// Lock pins what the bundle's sources are in hawser.lock. What is pinned stays, except for local content and what
// Request.Upgrade names; what its bundles no longer use goes, unless another bundle has it. It contacts no cluster.
func (e *Engine) Lock(ctx context.Context, req Request) (*fleetplan.LockReport, error) {
	req.Locked = false
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	if r.lockPath == "" {
		return nil, fmt.Errorf("documents from standard input have no place for a %s", lockfile.Name)
	}
	specs, err := r.declared()
	if err != nil {
		return nil, err
	}
	instances := source.Instances(specs)
	if r.sources.Upgrade, err = source.Choose(req.Upgrade, instances); err != nil {
		return nil, err
	}
	errs := make([]error, len(instances))
	each(len(instances), parallelSources, func(i int) { _, errs[i] = r.sources.Get(ctx, instances[i]) })
	if err := errors.Join(errs...); err != nil {
		return nil, diag.FromAll(errs, "source").Err()
	}
	out := &fleetplan.LockReport{V: 1, File: r.lockPath}
	pins := out.Pin(r.sources.Used(), r.lock.Sources)
	err = lockfile.Update(r.lockPath, func(f lockfile.File) bool {
		out.Drop(f.Pin(pins, source.KeysOf(specs)))
		return true
	})
	return out, err
}

// parallelSources bounds how many sources are resolved at once.
const parallelSources = 16

// declared are the chosen bundles for every cluster of the fleet, as far as the files say. What cannot be evaluated for a
// selected cluster is an error.
func (r *run) declared() ([]v1alpha1.BundleSpec, error) {
	var out []v1alpha1.BundleSpec
	selected := map[string]bool{}
	for _, t := range r.targets {
		selected[t.cluster.Name] = true
	}
	for _, c := range r.all {
		specs, findings := r.program.Evaluate(r.offlineFacts(c))
		if findings = source.Needed(findings); findings.HasErrors() && selected[c.Name] {
			return nil, findings.OnCluster(c.Name).Err()
		}
		for _, s := range specs {
			if r.req.Bundle == "" || s.Name == r.req.Bundle {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// Outdated asks every source of the bundle for what it is now. It contacts no cluster. The report is there also beside an
// error (ErrPartial: some could not be asked).
func (e *Engine) Outdated(ctx context.Context, req Request) (*fleetplan.OutdatedReport, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, err
	}
	specs, err := r.declared()
	if err != nil {
		return nil, err
	}
	sources := source.Distinct(specs)
	out := &fleetplan.OutdatedReport{V: 1, Bundle: req.Bundle, Sources: make([]fleetplan.OutdatedSource, len(sources))}
	each(len(sources), parallelSources, func(i int) { out.Sources[i] = r.outdated(ctx, sources[i]) })
	for _, s := range out.Sources {
		if s.Verdict == source.Unknown {
			err = fleetplan.ErrPartial
		}
	}
	return out, err
}

func (r *run) outdated(ctx context.Context, s source.Declared) fleetplan.OutdatedSource {
	var row source.Row
	if s.Ref.URL == "" {
		row = r.sources.CompareFiles(ctx, s.Instances[0])
	} else {
		row = r.sources.Compare(ctx, s.Source)
	}
	return fleetplan.Outdated(s, row, r.redact)
}

// locked refuses a stale or missing pin before any cluster is asked, as far as the files alone say which sources there are.
func (r *run) locked(ctx context.Context) error {
	if !r.req.Locked {
		return nil
	}
	specs, err := r.declared()
	if err != nil {
		return nil // it depends on what only the clusters know, or is said with more when they are evaluated
	}
	instances := source.Instances(specs)
	errs := make([]error, len(instances))
	each(len(instances), parallelSources, func(i int) { _, errs[i] = r.sources.Get(ctx, instances[i]) })
	findings := source.Check(r.lock.Sources, r.sources.Used(), true)
	for _, f := range diag.FromAll(errs, "source") {
		if f.Code == source.CodeStale {
			findings = append(findings, f)
		}
	}
	if findings.HasErrors() {
		return &fleetplan.RefusedError{Findings: findings.Sorted()}
	}
	return nil
}

// used are the bundle's sources on every cluster of the fleet. What cannot be resolved is said where it is needed.
func (r *run) used(ctx context.Context) []source.Use {
	var instances []v1alpha1.Instance
	for _, c := range r.all {
		if spec, findings := r.specFor(r.factsOf(c)); !findings.HasErrors() {
			instances = append(instances, spec.Instances...)
		}
	}
	each(len(instances), parallelSources, func(i int) { _, _ = r.sources.Get(ctx, instances[i]) })
	return r.sources.Used()
}

// head is the digest of the bundle's files, the content of its sources, and the rollout: the same whatever is selected.
func (r *run) head(used []source.Use) string {
	env := maps.Clone(r.req.Env)
	maps.DeleteFunc(env, func(name, value string) bool {
		return !r.req.RuntimeFromEnv || !r.uses(name) || fleet.SecretVar(name, value)
	})
	return source.Head(r.program.Digest(), used, r.files.Read(), env, r.fleet)
}

// factsOf are the target's facts where it was connected, else what the fleet file says.
func (r *run) factsOf(c fleet.Cluster) fleet.Facts {
	for _, t := range r.targets {
		if t.cluster.Name == c.Name {
			return t.facts
		}
	}
	return r.offlineFacts(c)
}

// digest is that of the files an instance's renderer reads itself, without anything of cluster or values.
func (e *Engine) digest(ctx context.Context, in v1alpha1.Instance) (string, error) {
	s, _ := source.Of(in)
	rd := e.Renderers[s.Kind]
	if rd == nil {
		return "", fmt.Errorf("nothing here renders %s", s.Kind)
	}
	return rd.Key(ctx, render.Request{Instance: v1alpha1.Instance{Manifests: in.Manifests, Kustomize: in.Kustomize}})
}
