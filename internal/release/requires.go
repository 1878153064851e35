package release

import (
	"cmp"
	"context"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/place"
)

// Requiring are the bundles on a cluster that require a bundle and have something there, sorted. Those named by but are left out. What cannot be read requires nothing as far as anybody knows.
func Requiring(ctx context.Context, store Store, bundle string, but []string) []string {
	var out []string
	_ = store.Bundles(ctx, func(r Record) error {
		going := r.Phase == Deleting || slices.Contains(but, r.Bundle)
		if slices.Contains(r.Requires, bundle) && r.Bundle != bundle && !going && slices.ContainsFunc(r.Inventory, lasting) {
			out = append(out, r.Bundle)
		}
		return nil
	})
	slices.Sort(out)
	return out
}

// InOrder are the bundles of records, each after those that it requires, else by their names.
func InOrder(records []Record) []string {
	var specs []v1alpha1.BundleSpec
	for _, r := range records {
		s := v1alpha1.BundleSpec{Name: r.Bundle}
		for _, need := range r.Requires {
			s.Requires = append(s.Requires, v1alpha1.Requires{Bundle: need})
		}
		specs = append(specs, s)
	}
	slices.SortFunc(specs, func(a, b v1alpha1.BundleSpec) int { return cmp.Compare(a.Name, b.Name) })
	return place.Order(specs)
}

// Needs are the names of the bundles that a bundle requires, sorted; nil for none.
func Needs(spec v1alpha1.BundleSpec) []string {
	var out []string
	for _, r := range spec.Requires {
		out = append(out, r.Bundle)
	}
	slices.Sort(out)
	return out
}
