package drift

import (
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/plan"
)

// marks are the signs of what became of objects, in the words of a plan's.
var marks = map[State]plan.Action{Changed: plan.Update, Gone: plan.Delete, Leaving: plan.Delete, Replaced: plan.Recreate, Unmarked: plan.Update,
	Taken: plan.Conflict, Settled: plan.Create}

// Grouped is the bundle's drift in the form of a plan for printing it: fields go from what is recorded to what is live, what is gone
// is a deletion, and clusters with equal drift stand together.
func (b Bundle) Grouped() *fleetplan.FleetPlan {
	out := &fleetplan.FleetPlan{Bundle: b.Bundle}
	if b.plan != nil {
		out.Created, out.Stats = b.plan.Created, b.plan.Stats
	}
	var members []group.Member
	for _, c := range b.Clusters {
		cp := &fleetplan.ClusterPlan{Cluster: c.Cluster, Group: c.Group, Server: c.Server, Revision: c.Revision}
		if b.plan != nil {
			cp.Wave = b.plan.Cluster(c.Cluster).Wave
		}
		cp.Plan = &plan.Plan{Cluster: c.Cluster, Bundle: b.Bundle, Unchanged: c.Same, Suspended: c.Suspended}
		for _, o := range c.Drifted {
			cp.Plan.Changes = append(cp.Plan.Changes, o.change())
		}
		out.Clusters, members = append(out.Clusters, cp), append(members, group.Member{Cluster: c.Cluster, Wave: cp.Wave, Plan: cp.Plan})
	}
	out.Groups = group.Equal(members)
	return out
}

// change is the object's drift in a plan's terms.
func (o Object) change() plan.Change {
	ch := plan.Change{Action: marks[o.State], Ref: o.Object, Instance: o.Instance, Why: o.Why, From: o.By}
	if o.State == Changed && o.Blocked == "" {
		ch.Code = plan.CodeDrift // who changed what is beside the fields
	}
	if o.State == Changed && len(o.Fields) == 0 && o.Blocked == "" { // else nobody could be asked which they are
		ch.Code, ch.Why = "", "its fields are somebody else's now, with the same values"
	}
	if o.Blocked != "" && o.State != Taken {
		ch.Why += "; cannot be put right: " + o.Blocked
	}
	for _, f := range o.Fields {
		ch.Fields = append(ch.Fields, plan.FieldChange{Path: f.Path, Old: f.Recorded, New: f.Live, Hidden: f.Hidden, Added: f.Added, Removed: f.Removed, Manager: f.By, Since: f.Since})
	}
	return ch
}

// Unknown are the clusters of which nobody knows, and why.
func (b Bundle) Unknown() []history.Unknown {
	var out []history.Unknown
	for _, c := range b.Clusters {
		if c.Unknown != "" {
			out = append(out, history.Unknown{Cluster: c.Cluster, Why: c.Unknown, Unreachable: c.Unreachable, Lost: c.Lost})
		}
	}
	return out
}

// Standard is what the bundle is compared with: "release 42 (7K2M3XYZ)", or that clusters have several.
func (b Bundle) Standard() string {
	var names []string
	for _, c := range b.Clusters {
		if c.Release != nil && !slices.Contains(names, c.Release.String()) {
			names = append(names, c.Release.String())
		}
	}
	switch len(names) {
	case 0:
		return "no release"
	case 1:
		return "release " + names[0]
	}
	return "releases " + strings.Join(names, ", ")
}

// Total is the bundle's drift in numbers: how many objects became what, on how many clusters.
func (b Bundle) Total() string {
	states, same, drifted, clean, without := map[State]int{}, 0, 0, 0, 0
	for _, c := range b.Clusters {
		switch {
		case c.Unknown != "":
		case c.NotInstalled:
			without++
		case c.drifted() > 0:
			drifted++
		default:
			clean++
		}
		same += c.Same
		for _, o := range c.Drifted {
			states[o.State]++
		}
	}
	var parts []string
	for _, s := range []State{Changed, Gone, Leaving, Replaced, Unmarked, Taken, Settled} {
		if states[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", states[s], words[s]))
		}
	}
	text := "Drift: " + strings.Join(parts, ", ") + ", "
	if drifted == 0 {
		text = strings.Replace(text, "Drift", "No drift", 1)
	}
	if n := len(b.Unknown()); len(parts) == 0 && n > 0 && n == len(b.Clusters) {
		text = "Unknown: "
	} else if len(parts) == 0 {
		text = "No drift: "
	}
	text += fmt.Sprintf("%d as recorded. Clusters: %d drifted, %d did not", same, drifted, clean)
	if without > 0 {
		text += fmt.Sprintf(", %d without the bundle", without)
	}
	if n := len(b.Unknown()); n > 0 {
		text += fmt.Sprintf(", %d unknown", n)
	}
	text += "."
	var suspended []string
	for _, c := range b.Clusters {
		for _, name := range c.Suspended {
			if !slices.Contains(suspended, name) {
				suspended = append(suspended, name)
			}
		}
	}
	var moved []string
	for _, c := range b.Clusters {
		for _, m := range c.Moved {
			if what := m.Object.String() + " (bundle " + m.To + ")"; !slices.Contains(moved, what) {
				moved = append(moved, what)
			}
		}
	}
	if len(moved) > 0 {
		text += " Moved to other bundles of the same files, not compared: " + diag.Few(moved) + "."
	}
	if len(suspended) > 0 {
		text += " Suspended, not compared: " + strings.Join(suspended, ", ") + "."
	}
	return text
}

// words are the states as a total says them.
var words = map[State]string{Changed: "changed", Gone: "gone", Leaving: "being deleted", Replaced: "replaced", Unmarked: "without our marks",
	Taken: "taken by others", Settled: "as recorded again"}
