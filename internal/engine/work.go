package engine

import (
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Prepared is a fleet plan that was made here, with what carrying it out needs and never leaves the process. A plan that
// was only read is a FleetPlan and cannot be applied.
type Prepared struct {
	*fleetplan.FleetPlan
	run *run
	// works are those of the clusters that are planned, by name: not of one that did not answer, or whose wave comes later.
	works map[string]*work
}

// work is one cluster's part of a plan with what carrying it out needs.
type work struct {
	*fleetplan.ClusterPlan
	run      *run
	target   *target
	set      *desired.State
	observed cluster.Observation
	// back is the record that a rollback goes back to here, nil for nothing and for what no record is the source of.
	back *release.Record
	// corrects: back is the release that the cluster has, and what others changed of it is put right.
	corrects bool
	input    plan.Input
	// beside is what the other bundles of the same files declare here, nil when nobody has asked them.
	beside *plan.Beside
	// held is what keeps releases from the cluster, as it was read while that was looked at; nil where it was not.
	held *held
	// unseen are the kinds that could not be looked at when the record was made again.
	unseen []string
	// inventory and lives are what the steps done so far made of the record's; nil before the first.
	inventory []plan.InventoryEntry
	lives     map[string]plan.HookState
	// recalled are hooks' objects that nothing renders any more, as the record has them; kept is all it has.
	recalled map[object.Ref]object.Object
	kept     []object.Object
	loaded   bool
}

// begin adds a cluster to the plan.
func (p *Prepared) begin(t *target, i int) *fleetplan.ClusterPlan {
	p.Clusters[i] = &fleetplan.ClusterPlan{Cluster: t.Cluster.Name, Group: t.Cluster.Group, Server: t.Facts.Server, Chosen: t.Facts.Chosen, UID: t.Facts.Identity().String(),
		Version: t.Facts.Version, Unreachable: t.unreachable, Later: t.later}
	return p.Clusters[i]
}

// planned keeps the works of the clusters that have one.
func (p *Prepared) planned(works []*work) {
	p.works = map[string]*work{}
	for _, w := range works {
		if w != nil {
			p.works[w.Cluster] = w
		}
	}
}

// digests are those of what is declared, by object and cluster; open are the objects that are known to hold no secret.
func (p *Prepared) digests() (map[string]map[string]string, map[string]bool) {
	declared := map[string][]plan.Desired{}
	for name, w := range p.works {
		declared[name] = w.set.Desired
	}
	return fleetplan.Digests(declared)
}
