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
}
