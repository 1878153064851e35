package cluster

import (
	"cmp"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/latevalues"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/rollout"
)

// Then is the result of several steps of one run: what was done before, and what one more step did.
func (r ExecuteResult) Then(step ExecuteResult) ExecuteResult {
	step.Done = r.Done.Add(step.Done)
	step.Problems = append(r.Problems, step.Problems...)
	step.NotStarted = append(r.NotStarted, step.NotStarted...)
	step.Findings = append(r.Findings, step.Findings...)
	step.TimedOut = step.TimedOut || r.TimedOut
	return step
}

// Ended is how the run ended, for the decision which instances were not begun.
func (r ExecuteResult) Ended() latevalues.End {
	e := latevalues.End{Left: r.NotStarted, Failed: map[string]string{}, Cancelled: r.Cancelled, TimedOut: r.TimedOut}
	for _, p := range r.Problems {
		e.Failed[p.Instance] = cmp.Or(e.Failed[p.Instance], ExecuteResult{Problems: []Problem{p}}.Reason())
	}
	return e
}

// LeaveOut notes objects that were not begun because of what came before.
func (r *ExecuteResult) LeaveOut(refs ...object.Ref) {
	for _, ref := range refs {
		r.NotStarted = append(r.NotStarted, latevalues.Left{Ref: ref})
	}
}

// GoesOn reports whether there may be more steps: nothing has failed but instances, and nothing ended the run.
func (r ExecuteResult) GoesOn() bool {
	whole := slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Instance == "" || p.Unrecorded })
	return !whole && !r.Cancelled && !r.Findings.HasErrors()
}

// ProblemOf is a finding as the reason why a step was not begun; late where time alone was missing.
func ProblemOf(f diag.Finding, ref object.Ref, late bool) *Problem {
	return &Problem{Ref: ref, Instance: f.Instance, Late: late, Err: diag.Findings{f}.Err(), Code: f.Code,
		Status: health.Status{State: health.Failed, Reason: f.What, Details: []string{f.String()}}}
}

// Waits are what an execution waits for, as one. mask is applied to what is told of an instance's objects.
func Waits(waits []Wait, mask func(instance, text string) string) *rollout.Part {
	parts := make([]rollout.Part, len(waits))
	for i, w := range waits {
		parts[i] = rollout.Part{Since: w.Since, Wake: w.Wake, Why: w.Ref.String() + ": " + mask(w.Instance, w.Why)}
	}
	return rollout.Joint(parts)
}
