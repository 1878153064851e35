package release

import (
	"fmt"
	"slices"
	"time"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Correction notes in the record of a release that what others had changed of it was put right: it is no release of its own.
type Correction struct {
	// Rollout is the id of the run.
	Rollout string `json:"rollout"`
	// Phase is that of the run; "" in those of before there was one.
	Phase   Phase     `json:"phase,omitempty"`
	Started time.Time `json:"started"`
	// Finished is zero for one that has not come to its end, or did not come to a good one.
	Finished time.Time `json:"finished,omitzero"`
	// Unjudged: at the end of the correction's soak nobody could look at the cluster; its phase is Written.
	Unjudged bool        `json:"unjudged,omitempty"`
	Author   string      `json:"author,omitempty"`
	Message  string      `json:"message,omitempty"`
	Version  string      `json:"hawser,omitempty"`
	Done     plan.Counts `json:"done,omitzero"`
	// Objects are those that the run was to put right here, at most MaxCorrected of them; of a run that did not come to a good end some may be as
	// they were. nil in records of before there was this.
	Objects []CorrectedObject `json:"objects,omitempty"`
}

// CorrectedObject is an object that a correction was to put right, and how.
type CorrectedObject struct {
	Action plan.Action `json:"action"`
	Object object.Ref  `json:"object"`
}

// MaxCorrected is how many objects a correction names.
const MaxCorrected = 100

// Named are the objects of the correction for people, a line each; the first ten, unless all are wanted.
func (c Correction) Named(all bool) []string {
	const most = 10
	var out []string
	for i, o := range c.Objects {
		if i == most && !all {
			return append(out, fmt.Sprintf("and %d more: -v", len(c.Objects)-i))
		}
		out = append(out, o.Action.Mark()+" "+o.Object.String())
	}
	return out
}

// touched are the objects that a plan writes, deletes or makes anew.
func touched(p *plan.Plan) []CorrectedObject {
	var out []CorrectedObject
	if p == nil {
		return nil
	}
	for _, ch := range p.Changes {
		if ch.Action.Writes() && len(out) < MaxCorrected {
			out = append(out, CorrectedObject{ch.Action, ch.Ref})
		}
	}
	return out
}

// correcting is the last correction of the release, where that has not come to a good end; else nil.
func (r *Record) correcting() *Correction {
	if c := r.lastCorrection(); c != nil && c.Finished.IsZero() {
		return c
	}
	return nil
}

// lastCorrection is the last correction of the release, nil for none. A nil record has none.
func (r *Record) lastCorrection() *Correction {
	if r == nil || len(r.Corrections) == 0 {
		return nil
	}
	return &r.Corrections[len(r.Corrections)-1]
}

// Uncorrected says how the last correction of the release ended, where that was not well, so that nobody knows whether it is right; "" else.
func (r *Record) Uncorrected() string {
	switch c := r.correcting(); {
	case c == nil:
		return ""
	case c.Unjudged:
		return "nobody could look at it after its soak"
	case c.Phase.Open():
		return "it has not ended"
	}
	return "it failed"
}

// CorrectionUnjudged reports whether nobody could look at what the last correction put right, when its soak was over.
func (r *Record) CorrectionUnjudged() bool {
	c := r.correcting()
	return c != nil && c.Unjudged
}

// Standing is how a cluster with the record was left: the phase of a correction that has not come to a good end, else the release's own,
// which no correction changes.
func (r *Record) Standing() Phase {
	if c := r.correcting(); c != nil && c.Phase != "" && r.Phase.Complete() {
		return c.Phase
	}
	return r.Phase
}

// parted gives a correction its phase that has not come to a good end and is of before corrections had one: the record has it in the
// place of the release's, which had ended well, as none is corrected else.
func (r *Record) parted() *Record {
	if c := r.correcting(); c != nil && c.Phase == "" && (r.Phase == Applying || r.Phase == Failed) {
		c.Phase, r.Phase = r.Phase, Succeeded
	}
	if c := r.correcting(); c != nil && r.Phase == Succeeded && r.Unjudged { // as was noted for a short time
		c.Unjudged, r.Unjudged = true, false
	}
	return r
}

// Standard is the record as what live objects are compared with: how its release left them. look: nothing will be written, so
// that a release which failed counts too. It is nil where there is none, and why says what stands against it.
func (r *Record) Standard(look bool) (standard *Record, why string) {
	switch {
	case r == nil:
		return nil, ""
	case r.Shown() == Ejecting:
		return nil, fmt.Sprintf("the eject of revision %d has not ended here: run it again", r.Revision)
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
// makes of the record of objects, and its phase; p is what it was to do. What was released stays as it was, and so do number, phase, time
// and author.
func (r *Record) Corrected(run, now Record, p *plan.Plan) Record {
	out := *r
	out.Inventory, out.Hooks, out.Unseen, out.Unfinished, out.NotBegun = now.Inventory, now.Hooks, now.Unseen, now.Unfinished, now.NotBegun
	c := Correction{Rollout: run.Rollout, Phase: now.Phase, Started: now.Started, Author: run.Author, Message: run.Message, Version: run.Version, Objects: touched(p)}
	notes, last := slices.Clone(r.Corrections), r.correcting()
	if n := len(now.Corrections); n > 0 && now.Corrections[n-1].Rollout == run.Rollout { // it is closed
		if c.Started, c.Done = now.Corrections[n-1].Started, now.Done; now.Phase.Complete() {
			c.Finished = now.Finished
		}
	}
	if last != nil {
		if notes = notes[:len(notes)-1]; len(c.Objects) == 0 { // who only looks again has put nothing right
			c.Author, c.Message, c.Objects, c.Done = last.Author, last.Message, last.Objects, last.Done
		}
	}
	notes = append(notes, c)
	out.Corrections = notes[max(0, len(notes)-Retention):]
	return out
}

// Unsoaked is the record of a run after whose soak instances are no longer ready: it has failed after all. That of a release which the
// run (its rollout) corrects keeps its phase, and the note of the correction has it. Where nobody could look (unseen) it has not failed:
// it is written, and no success, until a run has seen that.
func (r *Record) Unsoaked(rollout string, corrects, unseen bool, unready []string) Record {
	out, phase, last := *r, Failed, len(r.Corrections)-1
	if unseen {
		phase = Written
	}
	switch {
	case !corrects:
		out.Phase, out.Unfinished, out.Unjudged = phase, unready, unseen
	case last >= 0 && r.Corrections[last].Rollout == rollout: // else it did nothing here
		out.Unfinished, out.Corrections = unready, slices.Clone(r.Corrections)
		c := &out.Corrections[last]
		c.Phase, c.Finished, c.Unjudged = phase, time.Time{}, unseen
	}
	return out
}
