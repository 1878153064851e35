package release

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
)

// Standing is the state of an object that the inventory names, as it was observed; judged is what health says of it: what waiting
// cannot heal has failed. What
// could not be looked at is unknown, never missing; what is being deleted is not ready. drifted: somebody changed or removed what we declared,
// or put another object in its place.
func Standing(o plan.InventoryEntry, live plan.Live, judged health.Status) (state health.Status, drifted bool) {
	switch {
	case !live.Found && live.Unseen != "":
		return health.Status{State: health.Unknown, Reason: live.Unseen}, false
	case o.Expired(live.Found):
		return health.Status{State: health.Ready, Reason: health.DoneAndGone}, false
	case !live.Found:
		return health.Status{State: health.Missing, Reason: "not in the cluster"}, false
	case live.Terminating && (judged.State == "" || judged.State == health.Ready):
		return health.Status{State: health.Terminating, Reason: "is being deleted"}, false
	case live.Terminating || o.Once:
		return judged.Settled(), false
	}
	replaced := o.UID != "" && live.UID != o.UID
	return judged.Settled(), replaced || plan.Moved(o, live)
}

// Unwritten reports whether an object that a run of the owner was to write, and did not as far as it knows, is somebody else's: nothing
// there is of that run.
func Unwritten(o plan.InventoryEntry, live plan.Live, owner string) bool {
	return o.UID == "" && live.Found && live.OwnerLabel != owner && plan.Unmarked(live)
}

// NotWritten is the state of such an object: the one that was declared is not there.
func NotWritten(live plan.Live) health.Status {
	return health.Status{State: health.Missing, Reason: "never written: what is there is of " + cmp.Or(live.Foreign, "somebody else")}
}

// Standings are the states of the objects that a run wrote and that were looked at since (live), by object; judged is what health says,
// which stays for the others.
func Standings(inventory []plan.InventoryEntry, live map[object.Ref]plan.Live, judged map[object.Ref]health.Status) map[object.Ref]health.Status {
	out := maps.Clone(judged)
	for _, o := range inventory {
		if l, looked := live[o.Ref]; looked && o.UID != "" {
			out[o.Ref], _ = Standing(o, l, judged[o.Ref])
		}
	}
	return out
}

// Unchanged reports whether the files of a newer release changed nothing on a cluster, of which this is the current record: it has them, by
// their source digest, and ended well. What goes back (back) comes to each cluster, or does not. A nil record has nothing.
func (r *Record) Unchanged(digest string, back bool) bool {
	return r != nil && r.Phase.Complete() && !back && digest != "" && r.Has() == digest
}

// End is when the run of the record ended; zero for nil, and for one that did not.
func (r *Record) End() time.Time {
	if r == nil {
		return time.Time{}
	}
	return r.Finished
}

// Unready says why what a run left may not be ready, in words: it failed, with the instances it left undone, did not wait, or could not look.
// It is "" for one that succeeded, one that has not ended, and nil.
func (r *Record) Unready() string {
	switch {
	case r != nil && r.Standing() == Written && (r.Unjudged || r.CorrectionUnjudged()):
		return "nobody could look at it after its soak"
	case r != nil && r.Standing() == Written:
		return "the last run did not wait until it was ready"
	case r != nil && r.Standing() == Failed && len(r.Unfinished) > 0:
		return "the last run failed (" + strings.Join(plan.Unfinished(r.Unfinished, r.NotBegun), ", ") + ")"
	case r != nil && r.Standing() == Failed:
		return "the last run failed"
	}
	return ""
}

// StoppedAt says of an instance that the last run failed before it was begun, and because of what, or at which hooks it stopped: those of the
// first event that did not pass. It is "" where neither is so.
func (r *Record) StoppedAt(instance string) string {
	life := r.Hooks[instance]
	if i := slices.IndexFunc(r.NotBegun, func(n plan.NotBegun) bool { return n.Instance == instance }); i >= 0 {
		return "in the last run " + r.NotBegun[i].String()
	}
	if r.Phase != Failed || life.Step == "" {
		return ""
	}
	for _, e := range []object.HookPhase{life.Step.Before(), life.Step.After()} {
		var hooks []string
		for _, h := range life.Hooks {
			if slices.Contains(h.Hook.Events, e) {
				hooks = append(hooks, h.Ref.String())
			}
		}
		if len(hooks) > 0 && !slices.Contains(life.Done, e) {
			return fmt.Sprintf("the %s is not done: its %s hooks did not end well (%s)", life.Step, e, strings.Join(hooks, ", "))
		}
	}
	return ""
}

// Missing is the finding that a bundle requires another one, which is not installed well: at is where that is written, rec its record, nil for none.
func Missing(bundle, need string, at diag.Pos, rec *Record) diag.Finding {
	f := diag.Errorf("missing-bundle", "bundle %s requires %s, which is not installed here", bundle, need)
	if rec != nil {
		f.What = fmt.Sprintf("bundle %s requires %s, whose last run here is %s", bundle, need, rec.Shown())
	}
	f.Pos, f.Fix = at, "apply it first, or both in one run: the same files without --bundle"
	if rec != nil && rec.Phase == Written {
		f.Because("it was applied with --wait=false, or nobody could look at it after its soak, so that nobody knows whether it got ready")
		f.Fix = "leave --wait=false out: apply it first, or both in one run, the same files without --bundle"
	}
	return f
}

// Unawaited is the finding that a bundle requires another one that the same run changes and does not wait for; at is where that is written.
func Unawaited(bundle, need string, at diag.Pos) diag.Finding {
	f := diag.Errorf("missing-bundle", "bundle %s requires %s, which this run would not wait for", bundle, need)
	f.Pos, f.Why = at, "with --wait=false nobody knows whether it got ready"
	f.Fix = "leave --wait=false out, or apply " + need + " first and wait: --bundle " + need
	return f
}

// Damaged is the finding that a bundle's record cannot be read; why is the error in words.
func Damaged(why string) diag.Finding {
	f := diag.Errorf("damaged-record", "the record of the bundle is damaged")
	f.Why = why
	f.Fix = "apply the bundle with --take-over: the record is made again from the objects that carry its marks, and nothing is deleted by that"
	return f
}

// Record stands for one that cannot be read: it knows what is said beside it, and nothing else.
func (e *DamagedError) Record(owner string) *Record {
	return &Record{V: V, Owner: owner, Bundle: e.Bundle, Revision: e.Revision, Phase: Failed}
}
