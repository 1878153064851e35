package engine

// work is what a ClusterPlan needs to be carried out and never leaves the process.
type work struct{}
