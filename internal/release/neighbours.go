package release

import (
	"context"
	"slices"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// Sampler is what a Store can do besides which does not read all records for the first of them.
type Sampler interface {
	// Sample gives current records to each, one after the other, until it wants no more. Those that cannot be read are passed over.
	Sample(ctx context.Context, each func(Record) (more bool)) error
}

// mostNeighbours are looked at where none of them belongs to the cluster.
const mostNeighbours = 20

// Neighbours refuses a cluster on which the records of other bundles say that it is another one of the fleet: where a bundle is new,
// nothing of its own tells swapped contexts. now is the cluster's identity. What cannot be read tells nothing, nor do records that
// came here from elsewhere.
func Neighbours(ctx context.Context, store Store, name string, now fleet.Identity, f *v1alpha1.FleetSpec) diag.Findings {
	sampler, ok := store.(Sampler)
	if !ok || f == nil {
		return nil
	}
	seen, other := 0, ""
	_ = sampler.Sample(ctx, func(r Record) bool {
		if r.Fleet != f.Name || r.Identity().Match(now) != fleet.SameCluster {
			return true
		}
		if r.Cluster == name {
			other = ""
			return false
		}
		if slices.ContainsFunc(f.Clusters, func(c v1alpha1.ClusterSpec) bool { return c.Name == r.Cluster }) {
			seen, other = seen+1, r.Cluster
		}
		return seen < mostNeighbours
	})
	if other == "" {
		return nil
	}
	return diag.Findings{fleet.Swapped(name, other)}
}
