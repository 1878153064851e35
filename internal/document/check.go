package document

import (
	"errors"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
)

// checkOrder checks that what instances depend on exists, and that there is no cycle.
func (d *decoder) checkOrder(v cue.Value, instances []v1alpha1.Instance) {
	names := make([]string, 0, len(instances))
	for _, i := range instances {
		names = append(names, i.Name)
	}
	for _, i := range instances {
		list := v.LookupPath(cue.MakePath(cue.Str("instances"), cue.Str(i.Name), cue.Str("dependsOn")))
		if !list.Exists() {
			continue
		}
		items, _ := (&decoder{p: d.p, in: d.in}).list(list)
		for k, item := range items {
			if k >= len(i.DependsOn) {
				break
			}
			target := i.DependsOn[k]
			switch {
			case slices.Index(i.DependsOn, target) < k:
				d.errorf(item, "duplicate-name", "%q is listed twice", d.mask(target))
			case !slices.Contains(names, target):
				n := diag.Errorf("unknown-instance", "there is no instance %q", d.mask(target))
				n.Fix = d.mask(diag.OneOf(target, names))
				d.add(n, item)
			}
		}
	}
	var g dag.Graph[string]
	for _, i := range instances {
		for _, target := range i.DependsOn {
			g.Edge(target, i.Name)
		}
	}
	if cycle := cycleOf(&g); cycle != nil {
		n := diag.Errorf("cycle", "instances depend on each other: %s", d.mask(strings.Join(cycle, " -> ")))
		list := v.LookupPath(cue.MakePath(cue.Str("instances"), cue.Str(cycle[0]), cue.Str("dependsOn")))
		d.add(n, list)
	}
}

// checkLoad checks what concerns several bundles of one load.
func checkLoad(specs []v1alpha1.BundleSpec, found []bundleValue, d *decoder) diag.Findings {
	names := make([]string, 0, len(specs))
	for i, s := range specs {
		if s.Name != "" && slices.Contains(names, s.Name) {
			d.errorf(found[i].Value, "duplicate-name", "bundle %q is declared twice", d.mask(s.Name))
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
				d.errorf(item, "cycle", "a bundle cannot require itself")
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
		d.errorf(found[max(i, 0)].Value, "cycle", "bundles require each other: %s", d.mask(strings.Join(cycle, " -> ")))
	}
	return d.findings
}

// cycleOf is a cycle of the graph, each node needing the next, the first repeated at the end; nil when there is none.
func cycleOf(g *dag.Graph[string]) []string {
	var cycle *dag.CycleError[string]
	if !errors.As(g.Cycle(), &cycle) {
		return nil
	}
	return cycle.Path
}
