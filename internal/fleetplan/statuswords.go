package fleetplan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/release"
)

// States of a cluster, in the order in which they are told, best first.
var States = []string{StateMoved, "ready", "in progress", "unfinished", "drifted", "progressing", "terminating", "missing", "failed", "record lost", "not placed", "waiting", "not installed", "unknown", "not reached"}

// State is the worst state of a cluster's instances, or why there are none.
func (c ClusterStatus) State() string {
	switch {
	case c.Unreachable != "":
		return "not reached"
	case c.Unknown != "":
		return "unknown"
	case c.Lost != "":
		return "record lost"
	case c.NotPlaced:
		return "not placed"
	case c.Revision == 0 && c.Waits != nil && c.Waits.Aborted == nil:
		return "waiting"
	case c.Bundle == "" && len(c.Instances) == 0 || c.Revision == 0 && len(c.Instances) == 0:
		return "not installed"
	}
	worst := StateMoved
	if len(c.Instances) == 0 {
		worst = "ready"
	}
	for _, i := range c.Instances {
		if slices.Index(States, i.State) > slices.Index(States, worst) {
			worst = i.State
		}
	}
	if worst == "ready" && c.InProgress != "" {
		return "in progress"
	}
	if worst == "ready" && c.Phase != "" && !c.Phase.Complete() {
		return "unfinished" // what is there is ready, and the last run did not do all it was to do
	}
	return worst
}

// Words are the instance's state for people.
func (i InstanceStatus) Words() string {
	switch moved := i.Moved(); {
	case len(moved) > 0:
		return "moved to " + strings.Join(moved, ", ")
	case i.Suspended:
		return i.State + ", suspended"
	}
	return i.State
}

// Ready is "3/4": ready objects of all that did not move.
func (i InstanceStatus) Ready() string {
	n, all := 0, 0
	for _, ob := range i.Objects {
		if ob.MovedTo != "" {
			continue
		}
		if all++; ob.Status.State == health.Ready && !ob.Drifted {
			n++
		}
	}
	return fmt.Sprintf("%d/%d", n, all)
}

// AppliedBy is when and by whom a revision was applied.
func (c ClusterStatus) AppliedBy() string {
	var parts []string
	if !c.Applied.IsZero() {
		parts = append(parts, "applied "+c.Applied.UTC().Format(time.RFC3339))
	}
	if c.Author != "" {
		parts = append(parts, "by "+c.Author)
	}
	if c.Commit != "" {
		parts = append(parts, "from commit "+c.Commit[:min(8, len(c.Commit))])
	}
	return strings.Join(parts, " ")
}

// Uncommitted says that what was applied is in no commit as it was; "" where it is, or nobody knows.
func (c ClusterStatus) Uncommitted() string {
	if c.Tree != release.Dirty {
		return ""
	}
	return "applied with changes that are not in commit " + c.Commit[:min(8, len(c.Commit))]
}

// LastRun says of the run that left the cluster as it is what a reader has to know; "" when it ended well.
func (c ClusterStatus) LastRun() string {
	switch {
	case c.InProgress != "":
		return "in progress by " + c.InProgress
	case c.NotStarted:
		return "the last rollout stopped before it came here"
	case c.Phase != "" && c.Phase != release.Succeeded:
		return "the last run " + c.phaseText()
	}
	return ""
}

// phaseText says what an unfinished or failed record means.
func (c ClusterStatus) phaseText() string {
	switch phase := c.Phase; {
	case c.Ejecting:
		return "did not end ejecting it; hawser eject " + c.Bundle + " goes on, applying with --adopt takes it back"
	case phase == release.Failed:
		return "failed"
	case phase == release.Written:
		return "did not wait (--wait=false), or could not look after its soak; applying again does"
	case phase == release.Deleting:
		return "ended while deleting; deleting again resumes it, applying makes everything again"
	case phase.Open():
		return "ended while " + string(phase) + "; applying again resumes it"
	}
	return string(c.Phase)
}

// Lag says whom the cluster is behind, "" for nobody.
func (c ClusterStatus) Lag() string {
	switch c.Behind {
	case 0:
		return ""
	case 1:
		return "1 release behind " + c.BehindOf
	}
	return fmt.Sprintf("%d releases behind %s", c.Behind, c.BehindOf)
}
