// Package drift tells what others have changed of releases since they were delivered: what the records say, and what is live. It
// is read off the plans that would put it right, so that what is shown is what is put right. Everything in it is arithmetic on
// values.
//
// drift must not know how a plan is made, carried out or printed, nor take a cluster that did not answer for one without drift.
package drift

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// State is what became of an object since it was delivered.
type State string

// The states of an object that drifted, and of one that did and does no longer.
const (
	// Changed: fields that were declared hold other values, or are somebody else's.
	Changed State = "changed"
	// Gone: it is not in the cluster; Leaving: it is being deleted.
	Gone    State = "gone"
	Leaving State = "leaving"
	// Replaced: another object has its name, or it has to be made anew.
	Replaced State = "replaced"
	// Unmarked: our labels or our entry in the managed fields are gone.
	Unmarked State = "unmarked"
	// Taken: another owner has it: Helm, Flux, another bundle.
	Taken State = "taken"
	// Settled: it had drifted when it was looked at before, and is as recorded now.
	Settled State = "settled"
)

// Report is what drifted of bundles on a fleet. Its JSON form is public and versioned.
type Report struct {
	V int `json:"v"` // 1
	// Time is when the look began, of those that are repeated (--watch).
	Time     time.Time     `json:"time,omitzero"`
	Bundles  []Bundle      `json:"bundles"`
	Findings diag.Findings `json:"findings,omitempty"`
}

// Bundle is one bundle on every selected cluster, in the order of its rollout.
type Bundle struct {
	Bundle   string    `json:"bundle"`
	Clusters []Cluster `json:"clusters"`

	plan *fleetplan.FleetPlan
}

// Cluster is what drifted of a bundle on one cluster.
type Cluster struct {
	Cluster string `json:"cluster"`
	Group   string `json:"group,omitempty"`
	Server  string `json:"server,omitempty"`
	// Chosen says how the one cluster of a run without a fleet was chosen: "the current context kind (https://...)".
	Chosen string `json:"chosen,omitempty"`
	// Release is the one that is compared with, nil where there is none; Revision the cluster's own number of it.
	Release  *release.Name `json:"release,omitempty"`
	Revision int           `json:"revision,omitempty"`
	// Unknown says why nobody knows: it did not answer, its records cannot be read, its release has not ended well.
	// Unreachable: it did not answer.
	// Lost: it has objects of the bundle, and no record of it.
	Unknown     string `json:"unknown,omitempty"`
	Unreachable bool   `json:"unreachable,omitempty"`
	Lost        bool   `json:"lost,omitempty"`
	// NotInstalled: the cluster answered, and has nothing of the bundle.
	NotInstalled bool `json:"notInstalled,omitempty"`
	// Drifted are the objects that are not as recorded, Same is the number of those that are.
	Drifted []Object `json:"drifted,omitempty"`
	Same    int      `json:"same"`
	// Suspended are instances that are left as they are, and not compared.
	Suspended []string `json:"suspended,omitempty"`
	// Moved are objects that other bundles of the same files have by now, as the files say: they are not compared.
	Moved []Moved `json:"moved,omitempty"`
}

// Moved is an object that another bundle has.
type Moved struct {
	Object object.Ref `json:"object"`
	To     string     `json:"to"`
}

// Object is one that drifted.
type Object struct {
	Object   object.Ref `json:"object"`
	Instance string     `json:"instance,omitempty"`
	State    State      `json:"state"`
	// Why is one line for people, By the owner that has the object now.
	Why    string  `json:"why,omitempty"`
	By     string  `json:"by,omitempty"`
	Fields []Field `json:"fields,omitempty"`
	// Blocked says why it cannot be put right as it is, "" when it can.
	Blocked string `json:"blocked,omitempty"`
}

// Field is one that was declared and holds something else now. Recorded and Live are compact JSON, "" when absent; of a hidden
// value both are "".
type Field struct {
	Path     string `json:"path"`
	Recorded string `json:"recorded,omitempty"`
	Live     string `json:"live,omitempty"`
	Hidden   bool   `json:"hidden,omitempty"`
	// Added and Removed: of a hidden one, nothing was declared, or nothing is there now.
	Added   bool `json:"added,omitempty"`
	Removed bool `json:"removed,omitempty"`
	// By is the field manager that has it now and Since when (RFC 3339); "" when nobody has, because it was removed.
	By    string `json:"by,omitempty"`
	Since string `json:"since,omitempty"`
}

// Of is what drifted, as the plans say that would put it right, one for each bundle.
func Of(plans []*fleetplan.FleetPlan) *Report {
	out := &Report{V: diag.DocumentVersion, Bundles: []Bundle{}}
	for _, p := range plans {
		b := Bundle{Bundle: p.Bundle, Clusters: []Cluster{}, plan: p}
		blocked := map[string]string{}
		for _, f := range p.Findings {
			key := f.Cluster + "\x00" + f.Object
			switch {
			case f.Object != "" && f.Severity == diag.Error:
				if blocked[key] == "" {
					blocked[key] = f.What
				}
			default:
				out.Findings = append(out.Findings, f)
			}
		}
		for _, cp := range p.Clusters {
			b.Clusters = append(b.Clusters, clusterOf(cp, blocked))
		}
		out.Bundles = append(out.Bundles, b)
	}
	out.Findings = out.Findings.Sorted()
	return out
}

func clusterOf(cp *fleetplan.ClusterPlan, blocked map[string]string) Cluster {
	c := Cluster{Cluster: cp.Cluster, Group: cp.Group, Server: cp.Server, Chosen: cp.Chosen, Release: cp.Release, Revision: cp.Revision, Unknown: cp.Unreachable,
		Unreachable: cp.Unreachable != "" && cp.Version == "", Lost: cp.Lost}
	c.NotInstalled = cp.Unreachable == "" && cp.Revision == 0
	if cp.Plan == nil || c.Unknown != "" {
		return c
	}
	c.Same, c.Suspended = cp.Plan.Unchanged, cp.Plan.Suspended
	moved := cp.Moved()
	for _, ref := range slices.SortedFunc(maps.Keys(moved), object.Ref.Compare) {
		c.Moved = append(c.Moved, Moved{ref, moved[ref]})
	}
	for _, ch := range cp.Plan.Changes {
		if o, drifted := objectOf(ch); drifted {
			o.Blocked = blocked[cp.Cluster+"\x00"+ch.Ref.String()]
			c.Drifted = append(c.Drifted, o)
		}
	}
	return c
}

// objectOf is what a change that would put an object right says of it; false where it says nothing.
func objectOf(ch plan.Change) (Object, bool) {
	o := Object{Object: ch.Ref, Instance: ch.Instance, Why: ch.Why}
	if ch.Hook != nil {
		return o, false
	}
	switch ch.Action {
	case plan.Create:
		if o.State = Gone; ch.Code == plan.CodeTerminating {
			o.State, o.Why = Leaving, "is being deleted"
		}
		return o, true
	case plan.Conflict, plan.Adopt:
		o.State, o.By = Taken, ch.From
		if ch.Code == plan.CodeFields {
			o.State, o.By = Changed, ""
		}
	case plan.Recreate:
		o.State = Replaced
	case plan.Update:
		switch o.State = Changed; ch.Code {
		case plan.CodeReplaced:
			o.State = Replaced
		case plan.CodeRelabelled, plan.CodeManagedGone:
			o.State = Unmarked
		}
	default:
		return o, false
	}
	for _, f := range ch.Fields {
		o.Fields = append(o.Fields, Field{Path: f.Path, Recorded: f.New, Live: f.Old, Hidden: f.Hidden, Added: f.Removed, Removed: f.Added, By: f.Manager, Since: f.Since})
	}
	return o, true
}

// Unrecorded is why nobody knows what a cluster without a record of the bundle should have, and whether that is because the record
// is lost: marks are the objects that carry the bundle's marks. It is "" where the bundle is not there.
func Unrecorded(marks plan.Marks) (why string, lost bool) {
	objects, why := marks.Standing()
	if objects == "" {
		return why, false
	}
	return "there is no record, and " + objects + "; hawser apply with the bundle's files makes the record again from them, and deletes nothing", true
}

// Unjudged is why nobody knows what a cluster should have, as was found when what its release declared was read; "" for nothing.
func Unjudged(found diag.Findings) string {
	found = found.Errors()
	why := strings.Join(found.Whats(), "; ")
	if slices.ContainsFunc(found, func(f diag.Finding) bool { return f.Code == release.CodeLostRelease }) {
		why += "; hawser plan with its files tells what is otherwise, and apply puts it right"
	}
	return why
}

// Drifted is the number of objects that drifted.
func (r *Report) Drifted() int {
	n := 0
	for _, b := range r.Bundles {
		for _, c := range b.Clusters {
			n += c.drifted()
		}
	}
	return n
}

// drifted is how many objects of the cluster are not as recorded: what is so again is none of them.
func (c Cluster) drifted() int {
	return len(slices.DeleteFunc(slices.Clone(c.Drifted), func(o Object) bool { return o.State == Settled }))
}

// Only is the name of the one bundle that drifted; several where there are more, or none.
func (r *Report) Only(several string) string {
	name := ""
	for _, b := range r.Bundles {
		if slices.ContainsFunc(b.Clusters, func(c Cluster) bool { return c.drifted() > 0 }) {
			if name != "" {
				return several
			}
			name = b.Bundle
		}
	}
	return cmp.Or(name, several)
}

// Tips are what to say of putting it right with a command, "" for none: it is refused as a whole while some of it cannot be put right.
func (r *Report) Tips(command string) []string {
	blocked, n := 0, r.Drifted()
	for _, b := range r.Bundles {
		for _, c := range b.Clusters {
			for _, o := range c.Drifted {
				if o.Blocked != "" {
					blocked++
				}
			}
		}
	}
	switch {
	case command == "" || n == 0:
		return nil
	case blocked == n:
		return []string{"Nothing of it can be put right as it is. What to do:  " + command + " --dry-run"}
	case blocked > 0:
		return []string{"Put it right:  " + command, fmt.Sprintf("It is refused as a whole while %d of the %d cannot be put right; --dry-run says what to do about them.", blocked, n)}
	}
	return []string{"Put it right:  " + command}
}

// Unknown is the number of clusters of which nobody knows, each once however many bundles it has.
func (r *Report) Unknown() int {
	var names []string
	for _, b := range r.Bundles {
		for _, c := range b.Clusters {
			if c.Unknown != "" && !slices.Contains(names, c.Cluster) {
				names = append(names, c.Cluster)
			}
		}
	}
	for _, f := range r.Findings {
		if f.Code == release.CodeBundlesUnknown && !slices.Contains(names, f.Cluster) {
			names = append(names, f.Cluster)
		}
	}
	return len(names)
}

// NotInstalled finds the bundles that no selected cluster has, where all of them answered; names tells those that there are.
func (r *Report) NotInstalled(names func() []string) diag.Findings {
	var out diag.Findings
	for _, b := range r.Bundles {
		if slices.ContainsFunc(b.Clusters, func(c Cluster) bool { return !c.NotInstalled }) {
			continue
		}
		f := diag.Errorf("not-installed", "bundle %s is not installed on any selected cluster", b.Bundle)
		f.Fix = "hawser list shows which bundles are; drift without a name looks at all of them"
		out = append(out, f.Meant(b.Bundle, names()))
	}
	return out
}
