package release

import (
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/plan"
)

// Standing is the state of an object that the inventory names, as it was observed; judged is what health says of it: what waiting
// cannot heal has failed. What
// could not be looked at is unknown, never missing. drifted: somebody changed or removed what we declared.
func Standing(o plan.Owned, live plan.Live, judged health.Status) (state health.Status, drifted bool) {
	switch {
	case !live.Found && live.Unseen != "":
		return health.Status{State: health.Unknown, Reason: live.Unseen}, false
	case o.Expired(live.Found):
		return health.Status{State: health.Ready, Reason: health.DoneAndGone}, false
	case !live.Found:
		return health.Status{State: health.Missing, Reason: "not in the cluster"}, false
	case !live.Terminating && live.ResourceVersion != o.ResourceVersion && live.Own != o.Own && !o.Once && !live.Yielded:
		return judged.Settled(), true
	}
	return judged.Settled(), false
}
