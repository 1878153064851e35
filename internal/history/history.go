// Package history computes the releases of a fleet from what its clusters keep: which there were, where each cluster stood in
// them, and what changed between two. It is arithmetic on records.
//
// history must not know how records are kept or printed, nor take a cluster that did not answer for one that has nothing.
package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"hawser.dev/hawser/internal/decision"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/source"
)

// State is what became of a release over the fleet.
type State string

// The states of a release.
const (
	// Applying, Deleting and Ejecting: a cluster's record is open, because somebody is at work or a run died.
	Applying State = "applying"
	Deleting State = "deleting"
	Ejecting State = "ejecting"
	// Succeeded: everything was written and got ready. Written: nobody waited for that.
	Succeeded State = "succeeded"
	Written   State = "written"
	// Failed: on every cluster that it came to. Partial: on some, and on others it did not.
	Failed  State = "failed"
	Partial State = "partial"
	// Pending: it ended well, and other clusters stand at an older release and other files.
	Pending State = "pending"
	// Interrupted: its run died wherever it came to, and another one went over it.
	Interrupted State = "interrupted"
	// Waiting: it is kept from clusters until somebody approves or resumes it, or their window opens, or it is applied after that.
	Waiting State = "waiting"
	// Aborted: somebody has given it up before it came everywhere.
	Aborted State = "aborted"
	// Superseded: it succeeded, and every cluster that it came to has a newer release.
	Superseded State = "superseded"
)

// Cluster is what one cluster keeps.
type Cluster struct {
	Name, Group string
	// Chosen says how the one cluster of a run without a fleet was chosen, "" for others.
	Chosen string
	// Unreachable says why it did not answer, Unknown why nobody can tell what it keeps, or all of it.
	Unreachable, Unknown string
	Bundles              []Kept
	Held                 []release.Hold // of its bundles, with what was decided of their releases
	// Beside: a rollback does not go there, and only learns which releases there are; Later: it comes there in a later wave.
	Beside, Later bool
}

// Kept is what a cluster keeps of one bundle.
type Kept struct {
	// InProgress is who is at work on it, "" for nobody.
	InProgress string
	// Records are the current one and the kept ones, newest first, each revision once.
	Records []release.Record
}

// Merge are the current record and the kept ones, newest first, with those of runs that died in between; what the current one says of its
// revision is newer. What is kept has the Head that earlier versions wrote over in the current one when that learned another.
func Merge(current release.Record, kept []release.Record) []release.Record {
	out := []release.Record{current}
	for _, r := range kept {
		switch {
		case r.Revision != current.Revision:
			out = append(out, r)
		case current.Learned == "" && r.SourceDigest != current.SourceDigest:
			out[0].SourceDigest, out[0].Learned = r.SourceDigest, current.SourceDigest
		}
	}
	for _, died := range current.Died() {
		if !slices.ContainsFunc(out, func(r release.Record) bool { return r.Revision == died.Revision }) {
			out = append(out, died)
		}
	}
	slices.SortStableFunc(out[1:], func(a, b release.Record) int { return b.Revision - a.Revision })
	return out
}

// History are the releases of bundles over the selected clusters. Its JSON form is public and versioned.
type History struct {
	V int `json:"v"` // diag.DocumentVersion
	// Chosen is the one cluster of a run without a fleet, and how it was chosen: "default, the current context kind (https://...)".
	Chosen  string   `json:"chosen,omitempty"`
	Bundles []Bundle `json:"bundles"`
	// Unknown are the clusters of which nobody knows what they have, or not all of it: they are in no count.
	Unknown  []Unknown     `json:"unknown,omitempty"`
	Findings diag.Findings `json:"findings,omitempty"`
}

// Unknown is a cluster of which nobody knows, and why.
type Unknown struct {
	Cluster string `json:"cluster"`
	Why     string `json:"why"`
	// Unreachable: it did not answer.
	Unreachable bool `json:"unreachable,omitempty"`
	// Lost: it answers, and the record of a bundle that it has is gone.
	Lost bool `json:"-"`
}

// State is the word for that: "not reached", "record lost" or "unknown".
func (u Unknown) State() string {
	if u.Lost {
		return "record lost"
	}
	return map[bool]string{true: "not reached", false: "unknown"}[u.Unreachable]
}

// Bundle are the releases of one bundle, newest first.
type Bundle struct {
	Bundle   string    `json:"bundle"`
	Owner    string    `json:"owner"`
	Releases []Release `json:"releases"`
}

// Release is one rollout of a bundle.
type Release struct {
	// Release is the number, 0 for one of before releases had any. Rollout is its name.
	Release int    `json:"release,omitempty"`
	Rollout string `json:"rollout"`
	State   State  `json:"state"`
	// Started is when the first cluster began, Finished when the last one ended; zero while one is open.
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	Author   string    `json:"author,omitempty"`
	Message  string    `json:"message,omitempty"`
	// Source is where the files were, Commit what was checked out there, Head the digest of the files and what they lead to.
	Source lineage.Source `json:"source,omitzero"`
	Commit string         `json:"commit,omitempty"`
	// Tree is "clean" where what was read is what the commit has, "dirty" where not, "" where nobody knows.
	Tree         string `json:"tree,omitempty"`
	Fleet        string `json:"fleet,omitempty"`
	SourceDigest string `json:"sourceDigest,omitempty"`
	// Plan is the digest of the plan that was carried out, Done what was done on all clusters, Hawser the version.
	Plan   string      `json:"plan,omitempty"`
	Done   plan.Counts `json:"done,omitzero"`
	Hawser string      `json:"hawser,omitempty"`
	// RollbackTo is the release that was gone back to, nil for what was applied from files.
	RollbackTo *release.Name `json:"rollbackTo,omitempty"`
	// Approvals are those of its waves.
	Approvals []release.Approval `json:"approvals,omitempty"`
	// Waits says by what, or whose abort, the newest release is kept from which clusters. Decisions are people's, the first one first.
	// AlsoWaits is what else it waits for, where several waves do.
	Waits     *release.Waiting    `json:"waits,omitempty"`
	AlsoWaits []*release.Waiting  `json:"alsoWaits,omitempty"`
	Decisions []decision.Decision `json:"decisions,omitempty"`
	// Clusters are those of the fleet, in its order, with where each stands in this release.
	Clusters []Standing `json:"clusters"`
}

// Standing is where a cluster stands in a release: in it, or at the newest one that it had until then.
type Standing struct {
	Cluster string `json:"cluster"`
	Group   string `json:"group,omitempty"`
	// In: the release came to the cluster. Unchanged: its files changed nothing there, so that the cluster stands at an older one.
	In        bool `json:"in"`
	Unchanged bool `json:"unchanged,omitempty"`
	// Release and Rollout are those that the cluster stands at, Revision its own number of it; "" and 0 when it has nothing.
	Release  int           `json:"release,omitempty"`
	Rollout  string        `json:"rollout,omitempty"`
	Revision int           `json:"revision,omitempty"`
	Phase    release.Phase `json:"phase,omitempty"`
	Started  time.Time     `json:"started,omitzero"`
	Finished time.Time     `json:"finished,omitzero"`
	// InProgress is who is at work on it.
	InProgress string `json:"inProgress,omitempty"`
	// Unknown says why nobody knows: it did not answer, its records cannot be read, what it had then is not kept any more.
	// Unreachable: it did not answer.
	Unknown     string `json:"unknown,omitempty"`
	Unreachable bool   `json:"unreachable,omitempty"`
	// Done, Instances and Origins are of the release, where it came to the cluster.
	Done      plan.Counts `json:"done,omitzero"`
	Instances []Instance  `json:"instances,omitempty"`
	// NotBegun are the instances of which the release, or its last correction, did not begin something, and because of what.
	NotBegun []plan.NotBegun `json:"notBegun,omitempty"`
	// Corrections tell when what others had changed of the release there was put right, the last one last.
	Corrections []release.Correction `json:"corrections,omitempty"`
	Origins     map[string]string    `json:"origins,omitempty"`

	backTo           *release.Name // what the cluster's own record says of RollbackTo
	soaked, unjudged bool
}

// Soaked reports whether the canaries of the cluster's wave had soaked before it was its turn, so that no soak follows it.
func (s Standing) Soaked() bool { return s.soaked }

// Instance is what was delivered as one.
type Instance struct {
	Instance string           `json:"instance"`
	Source   source.Described `json:"source"`
	// Digest is that of the source's content, Inputs that of everything it was rendered from.
	Digest    string   `json:"digest,omitempty"`
	Inputs    string   `json:"inputs,omitempty"`
	Images    []string `json:"images,omitempty"`
	Suspended bool     `json:"suspended,omitempty"`
}

// notKept is why nobody knows what a cluster had.
const notKept = "what it had then is not kept any more"

// rank orders releases: by number, those without one before, then by the time of the first record.
type rank struct {
	number  int
	started time.Time
	rollout string
	// head is that of its files; back: it is a rollback.
	head string
	back bool
}

func (a rank) compare(b rank) int {
	return cmp.Or(a.number-b.number, a.started.Compare(b.started), strings.Compare(a.rollout, b.rollout))
}

// Of are the releases that clusters keep, in the order of the bundles' names.
func Of(clusters []Cluster) *History {
	h := &History{V: diag.DocumentVersion, Chosen: chosen(clusters), Bundles: []Bundle{}}
	for _, c := range clusters {
		if why := cmp.Or(c.Unreachable, c.Unknown); why != "" {
			h.Unknown = append(h.Unknown, Unknown{Cluster: c.Name, Why: why, Unreachable: c.Unreachable != ""})
		}
	}
	for _, l := range ledgers(clusters) {
		h.Bundles, h.Unknown = append(h.Bundles, l.bundle()), append(h.Unknown, l.misnumbered()...)
	}
	return h
}

// chosen is the one cluster of a run without a fleet, "" where there is one.
func chosen(clusters []Cluster) string {
	if len(clusters) != 1 || clusters[0].Chosen == "" {
		return ""
	}
	return clusters[0].Name + ", " + clusters[0].Chosen
}

// ledger is one bundle over the fleet.
type ledger struct {
	name, owner string
	rows        []row // one for each cluster, in the fleet's order
	// releases by rollout, order newest first.
	ranks map[string]rank
	order []string
}

// row is one cluster's part of a ledger.
type row struct {
	cluster Cluster
	kept    Kept
}

// ledgers parts what clusters keep by bundle.
func ledgers(clusters []Cluster) []*ledger {
	byOwner := map[string]*ledger{}
	var out []*ledger
	for _, c := range clusters {
		for _, k := range c.Bundles {
			if len(k.Records) == 0 || byOwner[k.Records[0].Owner] != nil {
				continue
			}
			first := k.Records[0]
			l := &ledger{name: first.Bundle, owner: first.Owner, ranks: map[string]rank{}}
			byOwner[first.Owner] = l
			out = append(out, l)
		}
	}
	for _, l := range out {
		for _, c := range clusters {
			r := row{cluster: c}
			if i := slices.IndexFunc(c.Bundles, func(k Kept) bool { return len(k.Records) > 0 && k.Records[0].Owner == l.owner }); i >= 0 {
				r.kept = c.Bundles[i]
			}
			l.rows = append(l.rows, r)
		}
		l.rank()
	}
	slices.SortFunc(out, func(a, b *ledger) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.owner, b.owner))
	})
	return out
}

// rank finds the releases of the ledger and their order.
func (l *ledger) rank() {
	said, highest := map[string][]int{}, make([]int, len(l.rows))
	for i, r := range l.rows {
		for _, rec := range r.kept.Records {
			is, known := l.ranks[rec.Rollout]
			if !known {
				is = rank{rollout: rec.Rollout, started: rec.Started}
				l.order = append(l.order, rec.Rollout)
			}
			said[rec.Rollout], highest[i] = append(said[rec.Rollout], rec.Release), max(highest[i], rec.Release)
			if is.back = is.back || rec.RollbackTo != nil; rec.Started.Before(is.started) {
				is.started = rec.Started
			}
			l.ranks[rec.Rollout] = is
		}
	}
	counted := release.Counted(highest)
	for rollout, is := range l.ranks {
		if is.number = release.Agreed(said[rollout]); is.number > counted {
			is.number = 0
		}
		is.head = l.head(rollout)
		l.ranks[rollout] = is
	}
	slices.SortFunc(l.order, func(a, b string) int { return l.ranks[b].compare(l.ranks[a]) })
}

// head is that of the files of a release. A current record is believed last: one of an earlier version, of which nothing is kept beside
// it, may have learned it since.
func (l *ledger) head(rollout string) string {
	current := ""
	for _, r := range l.rows {
		for i, rec := range r.kept.Records {
			switch {
			case rec.Rollout != rollout:
			case i > 0 || rec.Learned != "":
				return rec.SourceDigest
			default:
				current = cmp.Or(current, rec.SourceDigest)
			}
		}
	}
	return current
}

// unchanged reports whether the files of a release changed nothing on a cluster, so that it stands at an older one (rec).
func (l *ledger) unchanged(r row, rec *release.Record, rollout string) bool {
	is := l.ranks[rollout]
	return rec.Unchanged(is.head, is.back) && rec.Revision == r.kept.Records[0].Revision && l.ranks[rec.Rollout].compare(is) < 0
}

// misnumbered are the clusters with a record whose number is not the release's, and what it says.
func (l *ledger) misnumbered() []Unknown {
	var out []Unknown
	for _, r := range l.rows {
		for _, rec := range r.kept.Records {
			if is := l.ranks[rec.Rollout]; rec.Release > 0 && rec.Release != is.number {
				why := fmt.Sprintf("its record of %s says release %d, which is none of the others' numbers: it is damaged, or somebody wrote it", rec.Rollout, rec.Release)
				if is.number > 0 {
					why = fmt.Sprintf("its record of %s says release %d, and others say %d: it is damaged, or somebody wrote it", rec.Rollout, rec.Release, is.number)
				}
				out = append(out, Unknown{Cluster: r.cluster.Name, Why: why})
				break
			}
		}
	}
	return out
}

// at is the record that a cluster stands at in a release, and whether the release came to it; nil when it has nothing then,
// and why nobody knows, "" when it is known.
func (l *ledger) at(r row, rollout string) (rec *release.Record, in bool, unknown string) {
	records := r.kept.Records
	for i := range records {
		if records[i].Rollout == rollout {
			return &records[i], true, ""
		}
	}
	if why := cmp.Or(r.cluster.Unreachable, r.cluster.Unknown); why != "" {
		return nil, false, why
	}
	then := l.ranks[rollout]
	for i := range records {
		if l.ranks[records[i].Rollout].compare(then) > 0 {
			continue
		}
		if i > 0 && records[i-1].Revision != records[i].Revision+1 { // in between were others
			return nil, false, notKept
		}
		return &records[i], false, ""
	}
	if n := len(records); n > 0 && (records[n-1].Revision > 1 || records[n-1].Rebuilt) {
		return nil, false, notKept
	}
	return nil, false, ""
}

// bundle is the ledger as it is shown.
func (l *ledger) bundle() Bundle {
	out := Bundle{Bundle: l.name, Owner: l.owner, Releases: []Release{}}
	for _, rollout := range l.order {
		out.Releases = append(out.Releases, l.release(rollout))
	}
	return out
}

// release is one release with the standing of every cluster.
func (l *ledger) release(rollout string) Release {
	out := Release{Rollout: rollout, Release: l.ranks[rollout].number, SourceDigest: l.ranks[rollout].head, Started: l.ranks[rollout].started, State: l.state(rollout)}
	open := false
	for _, r := range l.rows {
		rec, in, unknown := l.at(r, rollout)
		st := Standing{Cluster: r.cluster.Name, Group: r.cluster.Group, In: in, Unchanged: l.unchanged(r, rec, rollout), Unknown: unknown,
			Unreachable: unknown != "" && r.cluster.Unreachable != ""}
		if rec != nil {
			st.Release, st.Rollout, st.Revision, st.Phase = l.ranks[rec.Rollout].number, rec.Rollout, rec.Revision, rec.Shown()
			st.Started, st.Finished = rec.Started, rec.Finished
		}
		if in {
			out.describe(*rec)
			st.Done, st.Origins, st.Instances, st.backTo = rec.Done, rec.Origins, instancesOf(*rec), rec.RollbackTo
			st.NotBegun, st.Corrections, st.soaked, st.unjudged = rec.NotBegun, rec.Corrections, rec.Soaked, rec.Phase == release.Written && rec.Unjudged
			out.Done = out.Done.Add(rec.Done)
			if rec.Phase.Open() {
				open, st.InProgress = true, r.kept.InProgress
			}
			if rec.Finished.After(out.Finished) {
				out.Finished = rec.Finished
			}
		}
		out.Clusters = append(out.Clusters, st)
	}
	if open {
		out.Finished = time.Time{}
	}
	return out
}

// instancesOf are the instances of a record, by name.
func instancesOf(rec release.Record) []Instance {
	var out []Instance
	for name, title := range rec.Sources {
		out = append(out, Instance{Instance: name, Source: source.Describe(title), Digest: rec.Digests[name], Inputs: rec.Inputs[name],
			Images: rec.Images[name], Suspended: slices.Contains(rec.Suspended, name)})
	}
	slices.SortFunc(out, func(a, b Instance) int { return strings.Compare(a.Instance, b.Instance) })
	return out
}

// state is what became of a release, as far as the clusters are known.
func (l *ledger) state(rollout string) State {
	good, bad, died, current := 0, 0, 0, false
	out := Succeeded
	is := release.Record{SourceDigest: l.ranks[rollout].head} // what the records of the release have in common
	newer := l.order[:slices.Index(l.order, rollout)]
	for _, r := range l.rows {
		rec, in, _ := l.at(r, rollout)
		if !in {
			continue
		}
		switch {
		case rec.Phase == release.Deleting:
			return State(rec.Shown())
		case rec.Phase.Open():
			return Applying
		case rec.Phase.Complete():
			good++
		case rec.Phase == release.Interrupted:
			bad, died = bad+1, died+1
		default:
			bad++
		}
		if rec.Phase == release.Written {
			out = Written
		}
		is.RollbackTo, is.Undoes = cmp.Or(is.RollbackTo, rec.RollbackTo), cmp.Or(is.Undoes, rec.Undoes)
		passed := slices.ContainsFunc(newer, func(later string) bool { return l.unchanged(r, rec, later) })
		current = current || rec.Revision == r.kept.Records[0].Revision && !passed
	}
	switch {
	case good > 0 && bad > 0:
		return Partial
	case bad > 0 && bad == died:
		return Interrupted
	case bad > 0:
		return Failed
	case !current && out == Succeeded: // that nobody waited is known of it for ever
		return Superseded
	case l.order[0] == rollout && is.Undoes == "" && l.behind(rollout, is): // what undid a wave is for its clusters alone
		return Pending
	}
	return out
}
