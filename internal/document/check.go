package document

import (
	"errors"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/specdecode"
)

// checkOrder checks that what instances depend on exists, and that there is no cycle.
func checkOrder(d *reporter, s structure, out *v1alpha1.BundleSpec) {
	list := func(instance string) cue.Value {
		return s.At("instances").LookupPath(cue.MakePath(cue.Str(instance), cue.Str("dependsOn")))
	}
	names := make([]string, 0, len(out.Instances))
	for _, i := range out.Instances {
		names = append(names, i.Name)
	}
	var g dag.Graph[string]
	for _, i := range out.Instances {
		for k, item := range specdecode.Items(list(i.Name)) {
			if k >= len(i.DependsOn) {
				break
			}
			target := i.DependsOn[k]
			switch {
			case slices.Index(i.DependsOn, target) < k:
				d.Errorf(item, "duplicate-name", "%q is listed twice", d.Mask(target))
			case !slices.Contains(names, target):
				fix := diag.OneOf(target, names)
				if bundle, _, ok := strings.Cut(target, "/"); ok && bundle != "" {
					fix = "an instance waits for those of its own bundle (" + strings.Join(names, ", ") + "); a bundle waits for another one: requires: [{bundle: " + bundle + "}] beside its instances"
				}
				d.Fixf(item, d.Mask(fix), "unknown-instance", "there is no instance %q", d.Mask(target))
			}
		}
		for _, target := range i.DependsOn {
			g.Edge(target, i.Name)
		}
	}
	if cycle := cycleOf(&g); cycle != nil {
		d.Errorf(list(cycle[0]), "cycle", "instances depend on each other: %s", d.Mask(strings.Join(cycle, " -> ")))
	}
}

// checkLoad checks what concerns several bundles of one load.
func checkLoad(specs []v1alpha1.BundleSpec, found []bundleValue, d *decoder) diag.Findings {
	names := make([]string, 0, len(specs))
	for i, s := range specs {
		if s.Name != "" && slices.Contains(names, s.Name) {
			d.Errorf(found[i].Value, "duplicate-name", "bundle %q is declared twice", d.Mask(s.Name))
		}
		names = append(names, s.Name)
	}
	for i, s := range specs {
		for k, r := range s.Requires {
			if r.Bundle == "" || slices.Contains(names, r.Bundle) && r.Bundle != s.Name {
				continue
			}
			item := found[i].Value.LookupPath(cue.MakePath(cue.Str("requires"), cue.Index(k)))
			if r.Bundle == s.Name { // of one that is not loaded, the clusters' records tell
				d.Errorf(item, "cycle", "a bundle cannot require itself")
			}
		}
	}
	var g dag.Graph[string]
	for _, s := range specs {
		for _, r := range s.Requires {
			if r.Bundle != s.Name {
				g.Edge(r.Bundle, s.Name)
			}
		}
	}
	if cycle := cycleOf(&g); cycle != nil {
		i := slices.Index(names, cycle[0])
		d.Errorf(found[max(i, 0)].Value, "cycle", "bundles require each other: %s", d.Mask(strings.Join(cycle, " -> ")))
	}
	return d.Findings
}

// cycleOf is a cycle of the graph, each node needing the next, the first repeated at the end; nil when there is none.
func cycleOf(g *dag.Graph[string]) []string {
	var cycle *dag.CycleError[string]
	if !errors.As(g.Cycle(), &cycle) {
		return nil
	}
	return cycle.Path
}
