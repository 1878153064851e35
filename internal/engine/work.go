package engine

import (
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/plan"
)

// work is what a ClusterPlan needs to be carried out and never leaves the process.
type work struct {
	run      *run
	target   *target
	set      *set
	observed cluster.Observation
	input    plan.Input
	// inventory is what the steps done so far made of the record's; nil before the first.
	inventory []plan.Owned
}
