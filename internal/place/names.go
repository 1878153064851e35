package place

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Unknown finds names of clusters and groups in placements and layers of values that none of the clusters has. The
// clusters are all of the fleet, not a selection; of the implicit one nothing is said. A name in a placement that nothing
// has is an error: the instance would silently leave the clusters it is on. In a layer it is one as well, since values
// would silently not apply. A glob may wait for clusters to come: a warning.
func Unknown(spec v1alpha1.BundleSpec, clusters []fleet.Cluster) diag.Findings {
	// It is asked for every cluster, and most bundles name none: names are collected when there is something to find.
	have := sync.OnceValue(func() map[string][]string {
		var declared []v1alpha1.ClusterSpec
		for _, c := range clusters {
			if !c.Implicit {
				declared = append(declared, c.ClusterSpec)
			}
		}
		if len(declared) == 0 {
			return nil
		}
		return map[string][]string{"cluster": fleet.Names(declared), "group": fleet.Groups(declared)}
	})
	var fs diag.Findings
	check := func(in v1alpha1.Instance, pos v1alpha1.Position, path, what string, patterns []string) {
		for _, p := range patterns {
			if have() == nil || fleet.AnyMatch(p, have()[what]) {
				continue
			}
			n := diag.Errorf("unknown-"+what, "no %s of the fleet is named %q", what, p)
			if strings.ContainsAny(p, `*?[\`) {
				n = diag.Warnf("unknown-"+what, "no %s of the fleet matches %q", what, p)
			}
			n.Pos, n.Instance, n.Path = diag.Pos(pos), in.Name, "instances."+in.Name+"."+path
			n.Fix = diag.OneOf(p, slices.Sorted(slices.Values(have()[what])))
			fs = append(fs, n)
		}
	}
	for _, in := range spec.Instances {
		if in.Placement != nil {
			check(in, cmp.Or(in.Placement.ClustersPos, in.Pos), "placement.clusters", "cluster", in.Placement.Clusters)
			check(in, cmp.Or(in.Placement.GroupsPos, in.Pos), "placement.groups", "group", in.Placement.Groups)
		}
		for _, w := range in.ValuesFor {
			check(in, w.Pos, "valuesFor."+w.Name+".clusters", "cluster", w.Clusters)
			check(in, w.Pos, "valuesFor."+w.Name+".groups", "group", w.Groups)
		}
	}
	return fs
}
