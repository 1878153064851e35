package release

import (
	"slices"
	"time"
)

// Interrupted is the phase of a run that died and that another one went over. No store keeps a record of it: what is known of it stands
// in the records after it.
const Interrupted Phase = "interrupted"

// Interruption is what stays known of a run that died, when another one has gone over it.
type Interruption struct {
	Revision     int       `json:"revision"`
	Release      int       `json:"release,omitempty"`
	Rollout      string    `json:"rollout"`
	SourceDigest string    `json:"head,omitempty"`
	Started      time.Time `json:"started"`
	Author       string    `json:"author,omitempty"`
	Message      string    `json:"message,omitempty"`
	Commit       string    `json:"commit,omitempty"`
	Tree         string    `json:"tree,omitempty"`
	Fleet        string    `json:"fleet,omitempty"`
	Version      string    `json:"hawser,omitempty"`
	RollbackTo   *Name     `json:"rollbackTo,omitempty"`
}

// interruptedBy are the runs that died before the one of another record: those that the record knows, and its own where it is open and
// the other one does not go on with it.
func (r *Record) interruptedBy(next Record) []Interruption {
	if !r.Phase.Open() || r.correcting() != nil || r.Revision >= next.Revision || r.Rollout == next.Rollout {
		return r.Interrupted
	}
	out := append(slices.Clone(r.Interrupted), Interruption{Revision: r.Revision, Release: r.Release, Rollout: r.Rollout, SourceDigest: r.SourceDigest, Started: r.Started,
		Author: r.Author, Message: r.Message, Commit: r.Commit, Tree: r.Tree, Fleet: r.Fleet, Version: r.Version, RollbackTo: r.RollbackTo})
	return out[max(0, len(out)-Retention):]
}

// Died are the records of the runs that the record knows to have died before it, newest first: they declare nothing.
func (r *Record) Died() []Record {
	var out []Record
	for _, i := range slices.Backward(r.Interrupted) {
		out = append(out, Record{V: r.V, Bundle: r.Bundle, Owner: r.Owner, Cluster: r.Cluster, Phase: Interrupted, Revision: i.Revision, Release: i.Release, Rollout: i.Rollout,
			SourceDigest: i.SourceDigest, Started: i.Started, Author: i.Author, Message: i.Message, Commit: i.Commit, Tree: i.Tree, Fleet: i.Fleet, Version: i.Version, RollbackTo: i.RollbackTo})
	}
	return out
}

// numbers are those that an interruption says, names what is printed of it as it is.
func (i Interruption) numbers() []int {
	out := []int{i.Revision, i.Release}
	if i.RollbackTo != nil {
		out = append(out, i.RollbackTo.Release)
	}
	return out
}

func (i Interruption) names() []string {
	out := []string{i.Rollout, i.SourceDigest, i.Commit, i.Tree, i.Fleet, i.Version}
	if i.RollbackTo != nil {
		out = append(out, i.RollbackTo.Rollout)
	}
	return out
}
