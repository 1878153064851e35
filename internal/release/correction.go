package release

import (
	"fmt"
	"slices"
	"time"

	"hawser.dev/hawser/internal/plan"
)

// Correction notes in the record of a release that what others had changed of it was put right: it is no release of its own.
type Correction struct {
	// Rollout is the id of the run.
	Rollout string    `json:"rollout"`
	Started time.Time `json:"started"`
	// Finished is zero for one that has not come to its end, or did not come to a good one.
	Finished time.Time   `json:"finished,omitzero"`
	Author   string      `json:"author,omitempty"`
	Message  string      `json:"message,omitempty"`
	Version  string      `json:"hawser,omitempty"`
	Done     plan.Counts `json:"done,omitzero"`
}

// correcting reports whether the last thing that happened to the release is a correction that has not come to a good end.
func (r *Record) correcting() bool {
	n := len(r.Corrections)
	return n > 0 && r.Corrections[n-1].Finished.IsZero()
}

// Standard is the record as what live objects are compared with: how its release left them. look: nothing will be written, so
// that a release which failed counts too. It is nil where there is none, and why says what stands against it.
func (r *Record) Standard(look bool) (standard *Record, why string) {
	switch {
	case r == nil:
		return nil, ""
	case r.correcting():
		as := *r
		as.Phase = Succeeded // a release that had not ended well is not corrected
		return &as, ""
	case r.Phase == Deleting:
		return nil, fmt.Sprintf("the delete of revision %d has not ended here: run it again", r.Revision)
	case r.Phase.Open():
		return nil, fmt.Sprintf("revision %d has not ended here: its run is at work, or died; apply it again", r.Revision)
	case r.Phase == Failed && !look:
		return nil, fmt.Sprintf("revision %d failed here: apply again, or roll back", r.Revision)
	}
	as := *r
	return &as, ""
}

// Corrected is the record of the release while it is put right, and when it has been: run is the run that does it, now what it
// makes of the record of objects. What was released stays as it was, and so do number, time and author.
func (r *Record) Corrected(run, now Record) Record {
	out := *r
	out.Phase, out.Inventory, out.Hooks, out.Unseen, out.Unfinished = now.Phase, now.Inventory, now.Hooks, now.Unseen, now.Unfinished
	c := Correction{Rollout: run.Rollout, Started: now.Started, Author: run.Author, Message: run.Message, Version: run.Version}
	notes := slices.Clone(r.Corrections)
	if r.correcting() {
		notes = notes[:len(notes)-1]
	}
	if n := len(now.Corrections); n > 0 && now.Corrections[n-1].Rollout == run.Rollout { // it is closed
		if c.Started, c.Done = now.Corrections[n-1].Started, now.Done; now.Phase.Complete() {
			c.Finished = now.Finished
		}
	}
	notes = append(notes, c)
	out.Corrections = notes[max(0, len(notes)-Retention):]
	return out
}
