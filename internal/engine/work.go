package engine

import (
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// work is what a ClusterPlan needs to be carried out and never leaves the process.
type work struct {
	run      *run
	target   *target
	set      *set
	observed cluster.Observation
	input    plan.Input
	// beside is what the other bundles of the same files declare here, nil when nobody has asked them.
	beside *plan.Beside
	// inventory and lives are what the steps done so far made of the record's; nil before the first.
	inventory []plan.Owned
	lives     map[string]plan.Life
	// recalled are hooks' objects that nothing renders any more, as the record has them; kept is all it has.
	recalled map[object.Ref]object.Object
	kept     []object.Object
	loaded   bool
}
