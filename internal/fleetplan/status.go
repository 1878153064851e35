package fleetplan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
)

// StatusReport is what is known of bundles on the fleet now. Its JSON form is public and versioned.
type StatusReport struct {
	V        int             `json:"v"` // diag.DocumentVersion
	Bundle   string          `json:"bundle,omitempty"`
	Clusters []ClusterStatus `json:"clusters"`
	Findings diag.Findings   `json:"findings,omitempty"`
}

// ClusterStatus is one cluster's bundles.
type ClusterStatus struct {
	Cluster string `json:"cluster"`
	Group   string `json:"group,omitempty"`
	Server  string `json:"server,omitempty"`
	// Chosen says how the one cluster of a run without a fleet was chosen: "the current context kind (https://...)".
	Chosen      string `json:"chosen,omitempty"`
	Unreachable string `json:"unreachable,omitempty"`
	Bundle      string `json:"bundle,omitempty"`
	Revision    int    `json:"revision,omitempty"`
	// Release is the number of the release over the fleet, which rollback --to takes; 0 for one of before releases had any.
	Release int `json:"release,omitempty"`
	// Phase of the record.
	Phase release.Phase `json:"phase,omitempty"`
	// Ejecting: the last run was an eject, which is not done.
	Ejecting     bool      `json:"ejecting,omitempty"`
	SourceDigest string    `json:"sourceDigest,omitempty"`
	Applied      time.Time `json:"applied,omitzero"`
	Author       string    `json:"author,omitempty"`
	Message      string    `json:"message,omitempty"`
	// Commit is what was checked out where the release was applied from.
	Commit string `json:"commit,omitempty"`
	// Tree is "dirty" where what was read had changes that are not in the commit, "clean" where not, "" where nobody knows.
	Tree string `json:"tree,omitempty"`
	// Behind is by how many releases the cluster is behind the newest one that any cluster of the report has, which BehindOf is one of;
	// 0 also where the files of that one changed nothing here.
	Behind   int    `json:"behind,omitempty"`
	BehindOf string `json:"behindOf,omitempty"`
	// RollbackTo is the release that the revision went back to, nil for one that was applied from files.
	RollbackTo *release.Name `json:"rollbackTo,omitempty"`
	// Unknown says why nobody knows what is installed there: the records may not, or can not, be read.
	Unknown string `json:"unknown,omitempty"`
	// Silent are API groups that do not answer, where nothing else says that the bundle is there, or was.
	Silent []string `json:"-"`
	// Lost: there is no record, and objects carry the bundle's marks: how many, and which.
	Lost string `json:"lost,omitempty"`
	// InProgress is who is at work on the bundle there, and since when: "me@laptop since 2026-09-01T12:00:00Z".
	InProgress string `json:"inProgress,omitempty"`
	// NotPlaced: nothing of the bundle is there, as its last release there wanted, or as the files that were given do.
	NotPlaced bool `json:"notPlaced,omitempty"`
	// NotStarted: the last rollout stopped, or was interrupted, before it came here.
	NotStarted bool `json:"notStarted,omitempty"`
	// Waits is the newest release of the bundle, where it is kept from the cluster, or was aborted before it came there.
	Waits *release.Waiting `json:"waits,omitempty"`
	// Run is what the rollouts over the fleet are compared by.
	Run       rollout.Run      `json:"-"`
	Instances []InstanceStatus `json:"instances,omitempty"`
}

// InstanceStatus is one instance on one cluster. State is the worst of its objects'.
type InstanceStatus struct {
	Instance string `json:"instance"`
	Source   string `json:"source,omitempty"`
	// Suspended: the last run left it as it was.
	Suspended bool   `json:"suspended,omitempty"`
	State     string `json:"state"` // ready, progressing, failed, drifted, missing, moved
	// Stopped says at which hooks the last run of it stopped, "" where it did not: its objects may be ready all the same.
	Stopped string         `json:"stopped,omitempty"`
	Objects []ObjectStatus `json:"objects,omitempty"`
	Images  []string       `json:"images,omitempty"`
}

// ObjectStatus is one object's state now.
type ObjectStatus struct {
	Object object.Ref    `json:"object"`
	Status health.Status `json:"status"`
	// Drifted: somebody changed or removed values we declared; Fields are those that are not ours any more, By who has all
	// of them now, "" when that is nobody or not one alone.
	Drifted bool           `json:"drifted,omitempty"`
	By      string         `json:"by,omitempty"`
	Fields  []object.Taken `json:"fields,omitempty"`
	// MovedTo is the bundle of the same files that has the object now.
	MovedTo string `json:"movedTo,omitempty"`
}

// StateMoved is the state of an instance of which everything moved to other bundles of the same files.
const StateMoved = "moved"

// Moved is where everything of an instance is now: the bundles, sorted; nil where something is left. Namespaces that are merely
// used do not move.
func (i InstanceStatus) Moved() []string {
	var out []string
	for _, o := range i.Objects {
		if o.MovedTo == "" && !o.Object.IsNamespace() {
			return nil
		}
		out = append(out, o.MovedTo)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(name string) bool { return name == "" })
}

// emptied warns of bundles of which every instance moved to others of the same files.
func (s *StatusReport) emptied() diag.Findings {
	var out diag.Findings
	for _, row := range s.Clusters {
		var to []string
		for _, in := range row.Instances {
			moved := in.Moved()
			if to = append(to, moved...); len(moved) == 0 {
				to = nil
				break
			}
		}
		if len(to) == 0 || row.InProgress != "" {
			continue
		}
		slices.Sort(to)
		f := diag.Warnf("moved-bundle", "bundle %s has nothing left: all that it had is of bundle %s now", row.Bundle, strings.Join(slices.Compact(to), ", "))
		f.Cluster, f.Fix = row.Cluster, "hawser delete "+row.Bundle+" removes its record, and deletes nothing"
		out = append(out, f)
	}
	return out.Alike()
}

// Verdict is the error of a report: its findings; what nobody knows; what is not ready; a named bundle that is not
// installed where it was looked for, which is a finding of its own.
func (s *StatusReport) Verdict() error {
	unknown, bad := 0, 0
	var without, silent []string
	for _, row := range s.Clusters {
		switch {
		case row.Unreachable != "", row.Unknown != "":
			unknown++
		case row.NotPlaced:
		case row.Revision == 0 && row.Waits != nil && row.Waits.Aborted == nil:
			bad++
		case row.Bundle == "" && s.Bundle != "":
			without, silent = append(without, row.Cluster), append(silent, row.Silent...)
		case !row.ready():
			bad++
		}
	}
	s.Findings = append(s.Findings, s.emptied()...).Sorted()
	switch {
	case s.Findings.HasErrors():
		return s.Findings.Err()
	case unknown > 0:
		return fmt.Errorf("%d clusters are unknown: %w", unknown, ErrPartial)
	case bad > 0:
		return ErrNotReady
	case len(without) > 0:
		f := diag.Errorf("not-installed", "bundle %s is not installed on %s", s.Bundle, strings.Join(without, ", "))
		f.Fix = "apply it there, or select the clusters that are to have it: --cluster, --group; with the files (-f) it is known where it has no place"
		if len(without) == len(s.Clusters) {
			f.What = "bundle " + s.Bundle + " is not installed on any selected cluster"
			f.Fix = "status without a name shows every bundle"
		}
		if slices.Sort(silent); len(silent) > 0 {
			f.Why = "as far as could be asked: no answer from the API group " + strings.Join(slices.Compact(silent), ", ")
		}
		s.Findings = append(s.Findings, f)
		return diag.Findings{f}.Err()
	}
	return nil
}

// Join adds what is known of another bundle on the same clusters, each of which that does not answer is told once.
func (s *StatusReport) Join(other *StatusReport) {
	for _, row := range other.Clusters {
		if row.Unreachable == "" && row.Unknown == "" {
			row.Bundle = cmp.Or(row.Bundle, other.Bundle)
		}
		at := 0
		for i, c := range s.Clusters {
			if c.Cluster == row.Cluster {
				at = i + 1
			}
		}
		switch {
		case at == 0:
			s.Clusters = append(s.Clusters, row)
		case row.Unreachable == "" || s.Clusters[at-1].Unreachable == "":
			s.Clusters = slices.Insert(s.Clusters, at, row)
		}
	}
	for _, f := range other.Findings {
		if !slices.Contains(s.Findings, f) {
			s.Findings = append(s.Findings, f)
		}
	}
	s.Findings = s.Findings.Sorted()
}

// Nothing reports that every cluster was looked at and has no bundle at all, nor signs of one.
func (s *StatusReport) Nothing() bool {
	return !slices.ContainsFunc(s.Clusters, func(c ClusterStatus) bool {
		return c.Bundle != "" || c.Unreachable+c.Unknown+c.Lost != "" || c.NotPlaced
	})
}

func (s ClusterStatus) ready() bool {
	if s.Unreachable != "" || s.Unknown != "" {
		return false
	}
	if s.Bundle != "" && !s.Phase.Complete() {
		return false
	}
	for _, in := range s.Instances {
		if in.State != string(health.Ready) && in.State != StateMoved {
			return false
		}
	}
	return true
}

// MarkSkipped marks the clusters that the last rollout of their bundle did not come to.
func (s *StatusReport) MarkSkipped() {
	runs := map[string][]rollout.Run{}
	for _, c := range s.Clusters {
		if c.Bundle != "" {
			runs[c.Bundle] = append(runs[c.Bundle], c.Run)
		}
	}
	for i, c := range s.Clusters {
		s.Clusters[i].NotStarted = slices.Contains(rollout.Skipped(runs[c.Bundle]), c.Cluster)
	}
	s.markBehind()
}

// markBehind says by how many releases clusters are behind the newest one of their bundle that any of them has.
func (s *StatusReport) markBehind() {
	newest := map[string]ClusterStatus{}
	for _, c := range s.Clusters {
		if c.Bundle != "" && c.Release > newest[c.Bundle].Release {
			newest[c.Bundle] = c
		}
	}
	for i, c := range s.Clusters {
		if n := newest[c.Bundle]; c.Bundle != "" && c.Release > 0 && c.Release < n.Release && c.SourceDigest != n.SourceDigest {
			s.Clusters[i].Behind, s.Clusters[i].BehindOf = n.Release-c.Release, n.Cluster
		}
	}
}

// Await notes on the clusters which releases are kept from them. In a report of all bundles one that waits for its first release on a
// cluster gets a row there.
func (s *StatusReport) Await(all ...*release.Waiting) {
	for _, w := range all {
		for _, name := range w.Clusters {
			i := slices.IndexFunc(s.Clusters, func(c ClusterStatus) bool {
				return c.Cluster == name && c.Unreachable+c.Unknown == "" && (c.Bundle == w.Bundle || s.Bundle != "")
			})
			if i < 0 && s.Bundle == "" && w.Aborted == nil {
				i = s.added(name, w.Bundle)
			}
			if i >= 0 {
				s.Clusters[i].Waits, s.Clusters[i].NotPlaced, s.Clusters[i].NotStarted = w, s.Clusters[i].NotPlaced && w.Aborted != nil, false
			}
		}
	}
}

// added is the place of a new row of a bundle that a cluster does not have yet, -1 for a cluster of which nothing is known: behind its
// others, or in place of the one that says that it has none.
func (s *StatusReport) added(cluster, bundle string) int {
	for i, c := range slices.Backward(s.Clusters) {
		if c.Cluster != cluster || c.Unreachable+c.Unknown != "" {
			continue
		}
		row := ClusterStatus{Cluster: c.Cluster, Group: c.Group, Server: c.Server, Chosen: c.Chosen, Bundle: bundle}
		if c.Bundle == "" && len(c.Instances) == 0 {
			s.Clusters[i] = row
			return i
		}
		s.Clusters = slices.Insert(s.Clusters, i+1, row)
		return i + 1
	}
	return -1
}

// With is the row of a cluster with what a record says; inProgress is who is at work on the bundle there.
func (s ClusterStatus) With(rec release.Record, inProgress string) ClusterStatus {
	s.Bundle, s.Revision, s.Release, s.Phase, s.SourceDigest, s.InProgress = rec.Bundle, rec.Revision, rec.Release, rec.Standing(), rec.Has(), inProgress
	s.Applied, s.Author, s.Message, s.RollbackTo, s.Commit = rec.Finished, rec.Author, rec.Message, rec.RollbackTo, rec.Commit
	s.Ejecting, s.Tree = rec.Ejecting, rec.Tree
	s.Run = rollout.Run{Cluster: s.Cluster, Rollout: rec.Rollout, Revision: rec.Has(), Began: rec.Started,
		Ended: rec.Phase.Complete(), InProgress: inProgress != ""}
	return s
}

// Holding is the row with the instances that its record has; a release that ended well and has none placed nothing there.
func (s ClusterStatus) Holding(instances []InstanceStatus) ClusterStatus {
	s.Instances = instances
	s.NotPlaced = len(instances) == 0 && s.Phase.Complete() && s.InProgress == ""
	return s
}

// InstancesOf are the states of a record's instances: health and drift of everything its inventory names, as it was
// observed and judged; declared are the recorded objects, as far as they are known, moved the bundles of the same files that have
// some of them now.
func InstancesOf(rec release.Record, declared map[object.Ref]object.Object, live map[object.Ref]plan.Live, judged map[object.Ref]health.Status, moved map[object.Ref]string) []InstanceStatus {
	byName := map[string]*InstanceStatus{}
	for _, o := range rec.Inventory {
		in := byName[o.Instance]
		if in == nil {
			in = &InstanceStatus{Instance: o.Instance, Source: rec.Sources[o.Instance], State: string(health.Ready), Stopped: rec.StoppedAt(o.Instance),
				Suspended: slices.Contains(rec.Suspended, o.Instance)}
			byName[o.Instance] = in
		}
		st := ObjectStatus{Object: o.Ref, MovedTo: moved[o.Ref]}
		if st.MovedTo != "" {
			st.Status = judged[o.Ref].Settled()
			in.Objects = append(in.Objects, st)
			continue
		}
		if st.Status, st.Drifted = release.Standing(o, live[o.Ref], judged[o.Ref]); release.Unwritten(o, live[o.Ref], rec.Owner) {
			st.Status, st.Drifted = release.NotWritten(live[o.Ref]), false
		}
		if st.Drifted = st.Drifted && !in.Suspended; st.Drifted { // what is suspended is not compared
			d, l := declared[o.Ref], live[o.Ref]
			st.Fields = d.Taken(l.Managed, object.Manager(rec.Owner), o.Entry)
			if st.By = object.TakenBy(st.Fields); st.By == "" && l.ForeignBundle && plan.Unmarked(l) {
				st.By = l.Foreign
			}
			// Of what was declared only the replicas that an autoscaler sets are not ours: plan calls that unchanged, too.
			st.Drifted = d.Body == nil || plan.Unmarked(l) || l.UID != o.UID || len(st.Fields) > 0
		}
		st.Drifted = st.Drifted && (st.By != "" || !rec.Standing().Open()) // else it may be what the run wrote that ended
		in.Objects = append(in.Objects, st)
		in.State = health.Worse(in.State, st.Status.State, st.Drifted, o.NoWait)
	}
	out := make([]InstanceStatus, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		in := byName[name]
		if len(in.Moved()) > 0 {
			in.State = StateMoved
		}
		out = append(out, *in)
	}
	return out
}

// Drift says in words that an object drifted: which fields, and by whom as far as that is known; "" when it did not.
func (o ObjectStatus) Drift() string {
	if !o.Drifted {
		return ""
	}
	const most = 3
	text, more := "drifted", ""
	for i, f := range o.Fields {
		switch {
		case i == most:
			more = fmt.Sprintf(" and %d more", len(o.Fields)-most)
		case i < most:
			text += map[bool]string{true: ": ", false: ", "}[i == 0] + f.Path
			if o.By == "" {
				text += " (" + cmp.Or(prefixed("by ", f.By), "removed") + ")"
			}
		}
	}
	if text += more; o.By != "" {
		text += " (by " + o.By + ")"
	}
	return text
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
