package place

import (
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Lint warns of comparisons with a name or group that none of the clusters has: such a branch never counts. The
// clusters are all of the fleet, not a selection; of the implicit one nothing is said.
func Lint(comparisons []fleet.Comparison, clusters []fleet.Cluster) diag.Findings {
	var specs []v1alpha1.ClusterSpec
	for _, c := range clusters {
		if c.Implicit {
			return nil
		}
		specs = append(specs, c.ClusterSpec)
	}
	if len(specs) == 0 {
		return nil
	}
	have := map[string][]string{"name": fleet.Names(specs), "group": fleet.Groups(specs)}
	var fs diag.Findings
	for _, c := range comparisons {
		if slices.Contains(have[c.Fact], c.Constant) {
			continue
		}
		n := diag.Warnf("never-matches", "%s: no cluster of the fleet has the %s %q", c.Expr, c.Fact, c.Constant)
		n.Pos = c.Pos
		n.Fix = diag.OneOf(c.Constant, have[c.Fact])
		fs = append(fs, n)
	}
	return fs.Sorted()
}
