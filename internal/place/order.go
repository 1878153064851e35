package place

import (
	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
)

// Choose is the bundle of a name, or the only one where name is "".
func Choose(specs []v1alpha1.BundleSpec, name string) (v1alpha1.BundleSpec, diag.Findings) {
	var names []string
	for _, s := range specs {
		if s.Name == name || name == "" && len(specs) == 1 {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return v1alpha1.BundleSpec{}, diag.Findings{Which(name, names)}
}

// Order are the names of bundles, each once and after those of them that it requires, else in the order given. Bundles that
// require one another stand in that order too: who evaluates them finds the circle.
func Order(specs []v1alpha1.BundleSpec) []string {
	var g dag.Graph[string]
	for _, s := range specs {
		if s.Name != "" {
			g.Add(s.Name)
		}
	}
	for _, s := range specs {
		for _, need := range s.Requires {
			if g.Has(need.Bundle) && g.Has(s.Name) {
				g.Edge(need.Bundle, s.Name)
			}
		}
	}
	names, err := g.Order(g.ByAdded)
	if err != nil {
		return g.Nodes()
	}
	return names
}
