package engine

import (
	"context"
	"fmt"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/source"
)

// Lock pins what the bundle's sources are in hawser.lock. It contacts no cluster.
func (e *Engine) Lock(ctx context.Context, req Request) (*fleetplan.LockReport, error) {
	req.Locked = false
	r, specs, err := e.declared(ctx, req)
	if err != nil {
		return nil, err
	}
	return r.input.Pin(ctx, specs, r.sources, req.Upgrade)
}

// Outdated asks every source of the bundle for what it is now. It contacts no cluster. The report is there also beside an
// error (ErrPartial: some could not be asked).
func (e *Engine) Outdated(ctx context.Context, req Request) (*fleetplan.OutdatedReport, error) {
	r, specs, err := e.declared(ctx, req)
	if err != nil {
		return nil, err
	}
	out, err := r.input.Outdated(ctx, specs, r.sources, r.redact)
	out.Bundle = req.Bundle
	return out, err
}

func (e *Engine) declared(ctx context.Context, req Request) (*run, []v1alpha1.BundleSpec, error) {
	r, err := e.load(ctx, req, true)
	if err != nil {
		return nil, nil, err
	}
	specs, err := r.declared()
	return r, specs, err
}

// declared are the chosen bundles for every cluster of the fleet, as far as the files say. What cannot be evaluated for a
// selected cluster is an error.
func (r *run) declared() ([]v1alpha1.BundleSpec, error) {
	return r.input.Declared(r.req.Bundle, r.all, func(name string) bool { return r.target(name) != nil }, r.offlineFacts)
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
	if findings := r.input.Stale(ctx, specs, r.sources); findings.HasErrors() {
		return &fleetplan.RefusedError{Findings: findings}
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
	input.Resolve(ctx, instances, r.sources)
	return r.sources.Used()
}

// head is the digest of the bundle's files, the content of its sources, and the rollout: the same whatever is selected.
func (r *run) head(used []source.Use) string {
	return source.Head(r.program.Digest(), used, r.files.Read(), r.environment(), r.fleet)
}

// environment are its values that the documents read and that are no secrets, by name.
func (r *run) environment() map[string]string {
	if !r.req.RuntimeFromEnv {
		return nil
	}
	return fleet.PlainVars(r.req.Env, r.uses)
}

// factsOf are the target's facts where it was asked, else what the fleet file says: nobody's credentials decide what the sources are.
func (r *run) factsOf(c fleet.Cluster) fleet.Facts {
	for _, t := range r.targets {
		if t.Cluster.Name == c.Name && t.Facts.Name != "" {
			return t.Facts
		}
	}
	return r.offlineFacts(c)
}

// digest is that of the files an instance's renderer reads itself, without anything of cluster or values.
func (e *Engine) digest(ctx context.Context, in v1alpha1.Instance, kept module.Reading) (string, error) {
	s, _ := source.Of(in)
	rd := e.Renderers[s.Kind]
	if rd == nil {
		return "", fmt.Errorf("nothing here renders %s", s.Kind)
	}
	return rd.Key(ctx, render.Request{Instance: v1alpha1.Instance{Manifests: in.Manifests, Kustomize: in.Kustomize}, Content: module.Content{Reading: kept}})
}
