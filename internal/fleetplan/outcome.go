package fleetplan

import (
	"cmp"
	"context"
	"fmt"
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

// Result of one cluster or of a whole rollout.
type Result string

const (
	// Succeeded: everything was written and got ready.
	Succeeded Result = "succeeded"
	// Failed: something was refused, not written, or did not get ready.
	Failed Result = "failed"
	// NotStarted: the rollout stopped before it; nothing was sent to it.
	NotStarted Result = "notStarted"
	// Unreachable: it did not answer, and counts as failed.
	Unreachable Result = "unreachable"
	// UpToDate: nothing had to be done.
	UpToDate Result = "unchanged"
	// Interrupted: the user ended it; running it again resumes.
	Interrupted Result = "interrupted"
	// Waiting: nothing failed, and the rollout ended before a wave that nobody has approved yet, whose window is closed, or as somebody
	// paused the release. No row has it.
	Waiting Result = "waiting"
	// Aborted: nothing failed, and the rollout ended as somebody gave the release up. No row has it.
	Aborted Result = "aborted"
)

// Outcome is what a rollout did. Its JSON form is public and versioned.
type Outcome struct {
	V           int    `json:"v"` // diag.DocumentVersion
	Verb        string `json:"verb"`
	Bundle      string `json:"bundle"`
	Rollout     string `json:"rollout,omitempty"`
	Result      Result `json:"result"`
	Stopped     string `json:"stopped,omitempty"`
	StoppedWave int    `json:"stoppedWave,omitempty"`
	// Unapproved: it stopped as nobody has approved the wave yet.
	Unapproved bool `json:"unapproved,omitempty"`
	// Opens: it stopped as the window of the wave is closed, until then.
	Opens *time.Time `json:"opens,omitempty"`
	// WentBack is the rollback of the clusters of the wave that failed, where the fleet wants that.
	WentBack *WentBack `json:"wentBack,omitempty"`
	// Word is what kept the release from clusters after the run had begun: "paused" or "aborted", "" for neither.
	Word     string           `json:"word,omitempty"`
	Clusters []ClusterOutcome `json:"clusters"`
	Findings diag.Findings    `json:"findings,omitempty"`
	Started  time.Time        `json:"started"`
	Seconds  float64          `json:"seconds"`
}

// ClusterOutcome is one cluster's row of the table.
type ClusterOutcome struct {
	Cluster  string      `json:"cluster"`
	Wave     int         `json:"wave"`
	Canary   bool        `json:"canary,omitempty"`
	Result   Result      `json:"result"`
	Done     plan.Counts `json:"done"`
	Seconds  float64     `json:"seconds"`
	Revision int         `json:"revision,omitempty"`
	// Reason is one line: "api not ready". Problems are the objects that failed.
	Reason   string    `json:"reason,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
	// NotBegun are the instances of which something was not begun, and because of what.
	NotBegun []plan.NotBegun `json:"notBegun,omitempty"`
	// TimedOut: written, and not ready in time or beyond hope, or a value did not come in time (exit code 4 rather than 1).
	TimedOut bool `json:"timedOut,omitempty"`
	// Later: its wave comes after --until-wave, so that not having started is no failure.
	Later bool `json:"later,omitempty"`
	// Refused: nothing was written here (locked by somebody else, or the plan is stale).
	Refused bool `json:"refused,omitempty"`

	word string // see Outcome.Word
	lost bool   // see Lost
	// unseen: at the end of its soak it could not be looked at.
	unseen bool
}

// Problem is one object that failed on a cluster.
type Problem struct {
	Object   object.Ref    `json:"object"`
	Instance string        `json:"instance,omitempty"`
	Status   health.Status `json:"status"`
	// GaveUpAfter in seconds.
	GaveUpAfter float64 `json:"gaveUpAfter,omitempty"`
	// Elsewhere compares digests with the clusters that are ready: "only here" or "everywhere", "" when it says nothing.
	Elsewhere string `json:"elsewhere,omitempty"`
	ReadyOn   int    `json:"readyOn,omitempty"`
	FailedOn  int    `json:"failedOn,omitempty"`
	Digest    string `json:"digest,omitempty"`
	// Hook is the event of the hook that did not do its work.
	Hook object.HookPhase `json:"hook,omitempty"`
	// Code is that of the finding that stands against it, "" where none does: stale-plan.
	Code string `json:"code,omitempty"`
}

// Keep ends the row where somebody has paused or aborted the release since the run began, or where nobody can tell (err); it reports
// whether that is so.
func (c *ClusterOutcome) Keep(h *release.Hold, rollout string, err error) bool {
	if err != nil {
		c.Reason = "nobody can tell whether the release is paused: " + err.Error()
	} else if c.Reason = h.Stops(rollout); c.Reason != "" {
		_, aborted := h.GaveUp(rollout)
		c.word = map[bool]string{true: "aborted", false: "paused"}[aborted != nil]
	}
	if c.Reason != "" {
		c.Result = NotStarted
	}
	return c.Reason != ""
}

// OK reports that nothing is left to be done there.
func (c ClusterOutcome) OK() bool { return c.Result == Succeeded || c.Result == UpToDate }

// Fail ends the row with an error of what was being done.
func (c *ClusterOutcome) Fail(what string, err error) {
	c.Result, c.Reason = Failed, what+": "+err.Error()
}

// Refuse ends the row with what was found before anything was written.
func (c *ClusterOutcome) Refuse(fs diag.Findings) {
	c.Result, c.Refused = Failed, true
	c.Reason = fs.Errors()[0].What
	for _, f := range fs.Errors() {
		c.Problems = append(c.Problems, Problem{Instance: f.Instance,
			Status: health.Status{State: health.Failed, Reason: f.What, Details: []string{strings.ReplaceAll(f.String(), "\n", "; ")}}})
	}
}

// Close ends the row of a cluster whose plan was carried out: done is that all of it was, written alone that nobody waited for it; else cause is what
// ended the run, if anything did, interrupted that it was ended while it only waited, and reason what went wrong.
func (c *ClusterOutcome) Close(done, writtenAlone bool, cause error, interrupted bool, reason string) {
	switch {
	case done && writtenAlone:
		c.Result, c.Reason = Succeeded, NotWaited
	case done:
		c.Result = Succeeded
	case cause != nil:
		c.Result, c.Reason = Interrupted, c.Lost(cause).Error()
	case interrupted:
		c.Result, c.Reason = Interrupted, "interrupted while waiting"
	default:
		c.Reason = reason
	}
	var names []string
	for _, n := range c.NotBegun {
		if n.Instance != "" && !n.Partly {
			names = append(names, n.Instance)
		}
	}
	if !done && len(names) > 0 {
		c.Reason += "; not begun: " + diag.Few(names)
	}
}

// PhaseOf is how a release ended on a cluster: all says that everything was written and, where it was waited for, got ready.
func PhaseOf(all, waited bool) release.Phase {
	switch {
	case all && waited:
		return release.Succeeded
	case all:
		return release.Written
	}
	return release.Failed
}

// Unbegun tells what of instances was not begun, a line each; where clusters have the same in common it is said once. names tells of clusters.
func (o *Outcome) Unbegun(names func(clusters []string) string, all bool) []string {
	const most = 5
	var texts []string
	on := map[string][]string{}
	for _, c := range o.Clusters {
		for _, n := range c.NotBegun {
			if slices.ContainsFunc(c.Problems, func(p Problem) bool {
				return p.Instance == n.Instance && p.Status.Reason != "" && strings.Contains(n.Why, p.Status.Reason)
			}) {
				n.Why = "" // the problem says it
			}
			text := strings.TrimSuffix(n.String(), ": ")
			if on[text] == nil {
				texts = append(texts, text)
			}
			on[text] = append(on[text], c.Cluster)
		}
	}
	more := len(texts) - most
	if !all && more > 1 {
		texts = texts[:most]
	}
	for i, text := range texts {
		texts[i] = names(on[text]) + ": " + text
	}
	if !all && more > 1 {
		texts = append(texts, fmt.Sprintf("and %d more were not begun, see -v or -o json", more))
	}
	return texts
}

// Unready are the objects that somebody waits for and that are not ready.
func Unready(inventory []plan.InventoryEntry, states map[object.Ref]health.Status) []Problem {
	var out []Problem
	for _, o := range inventory {
		if st, known := states[o.Ref]; known && health.Worse(string(health.Ready), st.State, false, o.NoWait) != string(health.Ready) {
			out = append(out, Problem{Object: o.Ref, Instance: o.Instance, Status: st})
		}
	}
	return out
}

// NotWaited is the reason of a cluster that succeeded in being written alone: a run with --wait=false.
const NotWaited = "written, nobody waited"

// ChangedInSoak is why a cluster has failed on which another run has delivered something in its soak.
const ChangedInSoak = "was changed by another run in its soak"

// SoakReason is what a rollout that stops says of the cluster after its soak, "" for that it is no longer ready.
func (c *ClusterOutcome) SoakReason() string {
	switch {
	case c.unseen:
		return "could not be looked at after the soak"
	case c.Reason == ChangedInSoak:
		return c.Reason
	}
	return ""
}

// Arrival is what the rollout learns of a cluster that ended. One on which nothing was to be done has soaked since the
// run that finished it: finished tells when that was, zero for never.
func (c *ClusterOutcome) Arrival(finished func() time.Time) rollout.Outcome {
	o := rollout.Outcome{Cluster: c.Cluster, OK: c.OK(), Why: c.SoakReason()}
	if c.Result == NotStarted {
		o.Held = c.Reason
	}
	if c.Result == UpToDate {
		if o.At = finished(); o.At.IsZero() {
			o.At = time.Unix(1, 0)
		}
	}
	return o
}

// NotSoaked makes the row of a cluster that was not well at the end of its soak, because of objects that are no longer ready,
// or else of what was found; redact hides what is secret in that.
func (c *ClusterOutcome) NotSoaked(problems []Problem, found diag.Findings, redact func(string) string) {
	c.Result, c.TimedOut, c.Problems = Failed, true, problems
	if len(problems) > 0 {
		c.Reason = problems[0].Name() + " no longer ready after the soak"
	} else {
		c.unseen = true
		c.Reason = "health after the soak: " + redact(found.Errors()[0].String())
	}
}

// Name is the instance of a problem, else its object.
func (p Problem) Name() string {
	if p.Instance != "" {
		return p.Instance
	}
	return p.Object.String()
}

// Finish makes the table from the rows of the clusters that ended: those that never began get one too.
func (o *Outcome) Finish(p *FleetPlan, rows map[string]*ClusterOutcome) {
	ok, untouched, changed := 0, 0, false
	for _, cp := range p.Clusters {
		row := rows[cp.Cluster]
		switch {
		case row == nil && cp.Unreachable != "":
			row = &ClusterOutcome{Cluster: cp.Cluster, Result: Unreachable, Reason: cp.Unreachable}
		case row == nil && p.After(cp) && o.Stopped == "":
			row = &ClusterOutcome{Cluster: cp.Cluster, Result: NotStarted, Later: true, Reason: fmt.Sprintf("after wave %d", p.Schedule.UntilWave)}
			ok++
		case row == nil:
			row = &ClusterOutcome{Cluster: cp.Cluster, Result: NotStarted}
			untouched++
		case row.OK():
			ok++
			changed = changed || row.Result == Succeeded
		case row.Result == NotStarted && row.word != "":
			untouched++
			o.Word = min(cmp.Or(o.Word, row.word), row.word) // who gives it up says more than who pauses it
		}
		row.Wave, row.Canary = cp.Wave, cp.Canary
		o.Clusters = append(o.Clusters, *row)
	}
	switch {
	case ok == len(o.Clusters) && !changed:
		o.Result = UpToDate
	case ok == len(o.Clusters):
		o.Result = Succeeded
	case o.Stopped == "interrupted":
		o.Result = Interrupted
	case o.Word == "aborted" && ok+untouched == len(o.Clusters):
		o.Result = Aborted
	case (o.Unapproved || o.Opens != nil || o.Word == "paused") && ok+untouched == len(o.Clusters):
		o.Result = Waiting
	default:
		o.Result = Failed
	}
}

// Compare tells for every failed object whether the same declaration is ready elsewhere; digests are those of what was
// declared, by object and cluster; those of the objects that are in open are told.
func (o *Outcome) Compare(digests map[string]map[string]string, open map[string]bool) {
	ready := map[string]bool{}
	failing := map[string]map[string]bool{}
	for _, row := range o.Clusters {
		ready[row.Cluster] = row.OK()
		for _, p := range row.Problems {
			if failing[p.Object.String()] == nil {
				failing[p.Object.String()] = map[string]bool{}
			}
			failing[p.Object.String()][row.Cluster] = true
		}
	}
	for i := range o.Clusters {
		for j := range o.Clusters[i].Problems {
			p := &o.Clusters[i].Problems[j]
			p.Digest = digests[p.Object.String()][o.Clusters[i].Cluster]
			for name, digest := range digests[p.Object.String()] {
				switch {
				case digest != p.Digest || p.Digest == "":
				case ready[name]:
					p.ReadyOn++
				case failing[p.Object.String()][name]:
					p.FailedOn++
				}
			}
			switch {
			case p.ReadyOn > 0:
				p.Elsewhere = "only here"
			case p.FailedOn > 1:
				p.Elsewhere = "everywhere"
			}
			if !open[p.Object.String()] {
				p.Digest = ""
			}
		}
	}
}

// Err is nil when every cluster succeeded.
func (o *Outcome) Err() error {
	done, refused, timedOut, failed := 0, 0, 0, 0
	for _, c := range o.Clusters {
		switch {
		case c.OK() || c.Later:
			done++
		case c.Result == Failed && c.Refused:
			failed++
			refused++
		case c.Result == Failed && c.TimedOut:
			failed++
			timedOut++
		case c.Result == Failed, c.Result == Unreachable, c.Result == Interrupted:
			failed++
		}
	}
	switch {
	case done == len(o.Clusters):
		return nil
	case o.Result == Interrupted:
		return context.Canceled
	case done > 0, o.Result == Waiting:
		return ErrPartial
	case failed > 0 && failed == refused:
		return ErrRefused
	case failed > 0 && failed == timedOut:
		return ErrNotReady
	}
	return ErrFailed
}

// Redact masks what an outcome says of clusters and objects, as its events do.
func (o *Outcome) Redact(m plan.Masker) {
	for i := range o.Clusters {
		o.Clusters[i].Redact(m)
	}
}

// Redact masks what a row says: of each problem's instance also what is secret there alone.
func (c *ClusterOutcome) Redact(m plan.Masker) {
	c.Reason = m.Redact(c.Reason)
	for i, n := range c.NotBegun {
		c.NotBegun[i].Why = m.Said(n.Instance, m.Redact(n.Why))
	}
	for j, p := range c.Problems {
		said := func(text string) string { return m.Said(p.Instance, text) }
		c.Reason, c.Problems[j].Status = said(c.Reason), p.Status.Masked(said)
		for i, n := range c.NotBegun {
			c.NotBegun[i].Why = said(n.Why)
		}
	}
}

// Ended masks what a row says, while it is known which instances that is about, and is the event that the cluster ended.
func (c *ClusterOutcome) Ended(m plan.Masker, rollout, bundle string, wave int) Event {
	c.Redact(m)
	counts := c.Done
	return Event{Type: EventClusterEnd, Rollout: rollout, Bundle: bundle, Wave: wave, Cluster: c.Cluster,
		Status: string(c.Result), Message: c.Reason, Counts: &counts}
}

// ResultsTold are the results of clusters in the order in which they are told.
var ResultsTold = []Result{Succeeded, UpToDate, Failed, Unreachable, Interrupted, NotStarted}

// Tally is how many clusters have each result.
func (o *Outcome) Tally() map[Result]int {
	n := map[Result]int{}
	for _, c := range o.Clusters {
		n[c.Result]++
	}
	return n
}

// Words is a result in the words of all reports.
func (r Result) Words() string {
	if r == Unreachable {
		return "not reached"
	}
	return diag.Words(string(r))
}

// HowFar says how far a rollout came that did not end well, in a sentence.
func (o *Outcome) HowFar() string {
	what := strings.TrimSpace("rollout " + o.Rollout)
	switch {
	case o.Result == Interrupted:
		what += " interrupted"
	case o.Result == Waiting && o.Word == "":
		what += fmt.Sprintf(" ended before wave %d", o.StoppedWave)
	case o.StoppedWave > 0:
		what += fmt.Sprintf(" stopped in wave %d", o.StoppedWave)
	case o.Stopped != "":
		what += " stopped"
	default:
		what += " ended"
	}
	n := o.Tally()
	var parts []string
	if n[Failed]+n[Unreachable] == 0 && o.StoppedWave > 0 {
		parts = append(parts, o.Stopped)
	}
	for _, r := range ResultsTold {
		if n[r] == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n[r], r.Words())
		if r == NotStarted {
			text += " (untouched)"
		}
		parts = append(parts, text)
	}
	return what + ": " + strings.Join(parts, ", ") + "."
}
