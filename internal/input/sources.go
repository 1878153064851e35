package input

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/source"
)

// parallelSources bounds how many sources are resolved at once.
const parallelSources = 16

// Declared are the bundles for each of the clusters, as far as the files say: those of the name, all without one. What
// cannot be evaluated is an error where the cluster is needed.
func (d *Documents) Declared(bundle string, clusters []fleet.Cluster, needed func(cluster string) bool, facts func(fleet.Cluster) fleet.Facts) ([]v1alpha1.BundleSpec, error) {
	var out []v1alpha1.BundleSpec
	for _, c := range clusters {
		specs, findings := d.Evaluate(facts(c))
		if findings = source.Needed(findings); findings.HasErrors() && needed(c.Name) {
			return nil, findings.OnCluster(c.Name).Err()
		}
		for _, s := range specs {
			if bundle == "" || s.Name == bundle {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// Pin writes what the bundles' sources are into hawser.lock. What is pinned stays, except for local content and what upgrade
// names; what its bundles no longer use goes, unless another bundle has it.
func (d *Documents) Pin(ctx context.Context, specs []v1alpha1.BundleSpec, sources *source.Resolver, upgrade []string) (*fleetplan.LockReport, error) {
	if d.Keeper == nil || d.Path == "" {
		return nil, fmt.Errorf("documents from standard input have no place for a %s", lockfile.Name)
	}
	instances := source.Instances(specs)
	var err error
	if sources.Upgrade, err = source.Choose(upgrade, instances); err != nil {
		return nil, err
	}
	if errs := Resolve(ctx, instances, sources); errors.Join(errs...) != nil {
		return nil, diag.FromAll(errs, "source").Err()
	}
	used, keys := sources.Used(), source.KeysOf(specs)
	others := func(key string) []string {
		return slices.DeleteFunc(d.Lock.Users(key), func(bundle string) bool { _, here := keys[bundle]; return here })
	}
	if err := append(source.Twins(used), source.Taken(used, d.Lock.Sources, others)...).Err(); err != nil {
		return nil, err
	}
	out := &fleetplan.LockReport{V: diag.DocumentVersion, File: d.Path}
	pins := out.Pin(used, d.Lock.Sources)
	return out, d.Keeper.Update(func(f lockfile.File) bool {
		out.Drop(f.Pin(pins, keys))
		return true
	})
}

// Resolve finds out what the instances' sources are, several at once: the errors are in the order of the instances.
func Resolve(ctx context.Context, instances []v1alpha1.Instance, sources *source.Resolver) []error {
	errs := make([]error, len(instances))
	dag.Each(len(instances), parallelSources, func(i int) { _, errs[i] = sources.Get(ctx, instances[i]) })
	return errs
}

// Stale are findings about pins of the bundles that are missing or no longer what their sources are.
func (d *Documents) Stale(ctx context.Context, specs []v1alpha1.BundleSpec, sources *source.Resolver) diag.Findings {
	errs := Resolve(ctx, source.Instances(specs), sources)
	findings := source.Check(d.Lock.Sources, sources.Used(), true)
	for _, f := range diag.FromAll(errs, "source") {
		if f.Code == source.CodeStale || f.Code == source.CodeTwins {
			findings = append(findings, f)
		}
	}
	return findings.Sorted()
}

// Outdated asks every source of the bundles for what it is now. The report is there also beside an error (ErrPartial: some
// could not be asked).
func (d *Documents) Outdated(ctx context.Context, specs []v1alpha1.BundleSpec, sources *source.Resolver, redact func(string) string) (*fleetplan.OutdatedReport, error) {
	distinct := source.Distinct(specs)
	out := &fleetplan.OutdatedReport{V: diag.DocumentVersion, Sources: make([]fleetplan.OutdatedSource, len(distinct))}
	dag.Each(len(distinct), parallelSources, func(i int) {
		d := distinct[i]
		if d.Ref.URL == "" {
			out.Sources[i] = fleetplan.Outdated(d, sources.CompareFiles(ctx, d.Instances[0]), redact)
		} else {
			out.Sources[i] = fleetplan.Outdated(d, sources.Compare(ctx, d.Source), redact)
		}
	})
	for _, s := range out.Sources {
		if s.Verdict == source.Unknown {
			return out, fleetplan.ErrPartial
		}
	}
	return out, nil
}
