package passes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/rollout"
)

// Back is a rollback of clusters of a wave that failed.
type Back interface {
	// Pass, Changed and Stop are those of a rollout of its own; End closes it.
	Pass(ctx context.Context) *rollout.Wait
	Changed() <-chan struct{}
	Stop(why string)
	End() (*fleetplan.Outcome, error)
	// To is the release that it goes back to.
	To() string
}

// Undoer are Steps that can undo what a rollout did on clusters.
type Undoer interface {
	// Touched reports whether a cluster has what the rollout brought, whether that ended there or not.
	Touched(cluster string) bool
	// Undo readies a rollback of clusters, why saying what for; or it finds what stands against it.
	Undo(ctx context.Context, clusters []string, why string) (Back, diag.Findings)
}

// undo readies what the fleet wants when a wave has failed: those of its clusters that the rollout touched go back to what they had. What
// stands against it is said, and that cluster left as it is. stopped: somebody wants the run to end.
func (r *Rollout) undo(ctx context.Context, stopped bool) {
	u, can := r.Steps.(Undoer)
	if !can || r.undone {
		return
	}
	r.undone = true
	var names []string
	if r.judged() {
		names = r.stays(rollout.GoesBack(r.Schedule, r.State, u.Touched))
	}
	for len(names) > 0 {
		back, found := Back(nil), diag.Findings{diag.Errorf(Interrupted, "the run was interrupted")}
		if !stopped {
			back, found = u.Undo(ctx, names, r.Schedule.Label(r.State.FailedWave)+": "+r.reason())
		}
		if len(found) == 0 {
			r.back = back
			r.Emit(fleetplan.Event{Type: fleetplan.EventNotice, Rollout: r.Out.Rollout, Wave: r.State.FailedWave,
				Message: fmt.Sprintf("goes back to release %s: %s", back.To(), diag.Few(names))})
			return
		}
		if back != nil {
			_, _ = back.End() // it never begins
		}
		names = r.notBack(names, found)
	}
}

// notBack says of clusters why some do not go back, and returns those that do.
func (r *Rollout) notBack(names []string, found diag.Findings) []string {
	said, left := fleetplan.NotBack(names, found)
	r.Out.Findings = append(r.Out.Findings, said...)
	return left
}

// stays says of those clusters that another run has changed meanwhile that they do not go back, and returns the others. What the rollout
// left on one that could not be looked at goes back with what failed elsewhere.
func (r *Rollout) stays(names []string) []string {
	var found diag.Findings
	for _, name := range names {
		if r.Rows[name].Overtaken() {
			f := diag.Errorf("other-release", "another run has delivered something since")
			f.Cluster, f.Fix = name, "hawser history shows what; hawser rollback goes back from it"
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return names
	}
	return r.notBack(names, found)
}

// reason is what of the wave failed because of what the rollout brings. It stopped for the first that failed, which may be one of which
// that is not known.
func (r *Rollout) reason() string {
	var failed []string
	unknown := false
	for _, m := range r.Schedule.Wave(r.State.FailedWave) {
		switch row := r.Rows[m.Cluster]; {
		case row == nil || row.Result != fleetplan.Failed:
		case !row.Judged():
			unknown = true
		default:
			failed = append(failed, m.Cluster+" "+cmp.Or(r.State.Why[m.Cluster], "failed"))
		}
	}
	if !unknown {
		return r.State.Stopped
	}
	return diag.Few(failed)
}

// judged reports that a cluster of the wave failed because of what the rollout brings: a wave of which that is not known is left as it is.
func (r *Rollout) judged() bool {
	return slices.ContainsFunc(r.Schedule.Wave(r.State.FailedWave), func(m rollout.Member) bool {
		row := r.Rows[m.Cluster]
		return row != nil && row.Result == fleetplan.Failed && row.Judged()
	})
}

// End closes what the rollout has begun beside itself, and notes in the outcome what came of it; parts that wait are left to another run. The
// error is why the rollout never began.
func (r *Rollout) End() error {
	if len(r.Blocked) > 0 {
		r.Out.Result, r.Out.Findings = fleetplan.Failed, r.Blocked
		return &fleetplan.RefusedError{Findings: r.Blocked}
	}
	for _, row := range r.parts.leave() {
		r.Rows[row.Cluster], r.Out.Stopped = row, cmp.Or(r.Out.Stopped, Interrupted)
	}
	if r.back != nil {
		out, _ := r.back.End()
		r.Out.Undone(out, r.back.To())
	}
	return nil
}
