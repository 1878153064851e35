package release

import "hawser.dev/hawser/internal/diag"

// Of reports whether a cluster has what a rollout brought it, whether that ended there or not; also where it is on its way back from it. A
// nil record is of none.
func (r *Record) Of(rollout string) bool {
	return r != nil && rollout != "" && (r.Rollout == rollout || r.Undoes == rollout && r.Phase.Open())
}

// NotOf finds that a cluster has something else than what a rollout brought, so that what undoes that has nothing to undo there.
func (r *Record) NotOf(rollout string) diag.Findings {
	if r.Of(rollout) {
		return nil
	}
	f := diag.Errorf("other-release", "another run has delivered something since")
	if r == nil {
		f.What = "nothing of the bundle is recorded there"
	} else {
		f.Why = "it has release " + r.Called().String()
	}
	f.Fix = "hawser history shows what; hawser rollback goes back from it"
	return diag.Findings{f}
}
