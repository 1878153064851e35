package staleplan

import (
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// atMost lists what may be done where an action was shown: the same, or less of it.
var atMost = map[plan.Action][]plan.Action{
	plan.Create:    {plan.Create},
	plan.Update:    {plan.Update},
	plan.Adopt:     {plan.Adopt, plan.Update},
	plan.Recreate:  {plan.Recreate, plan.Update, plan.Create},
	plan.Delete:    {plan.Delete, plan.Release},
	plan.Release:   {plan.Release},
	plan.Unknown:   {plan.Unknown, plan.Create, plan.Update},
	plan.Unchanged: {},
	plan.Conflict:  {},
}

// Allows compares the plan of a step, computed once its values are known, with the plan that was shown and confirmed:
// the step may do what was shown or less, to the same objects. Anything else is an Error (stale-plan) for each object:
// one that was not shown or has been replaced since, an action that goes further, taking fields that was not shown, a field that is
// otherwise than shown and does not hold the values that came.
func Allows(shown, now *plan.Plan) diag.Findings {
	before := map[object.Ref][]plan.Change{}
	for _, ch := range shown.Changes {
		before[ch.Ref] = append(before[ch.Ref], ch)
	}
	var fs diag.Findings
	for _, ch := range now.Changes {
		if ch.Action == plan.Unchanged {
			continue
		}
		why, fields := "nothing was shown for it", []string(nil)
		for _, was := range before[ch.Ref] {
			if why, fields = further(was, ch), beyond(was.Late, ch.Late); why == "" && len(fields) == 0 {
				break
			}
		}
		if why == "" && len(fields) == 0 {
			continue
		}
		f := diag.Errorf("stale-plan", "the plan is stale: now it would %s %s", ch.Action, ch.Ref)
		if ch.Action == plan.Conflict {
			f.What = "the plan is stale: somebody else owns " + ch.Ref.String() + " now"
		}
		if why == "" {
			f = diag.Errorf(CodeStale, "the plan is stale: the values that came change %s of %s, which it did not show", diag.Few(fields), ch.Ref)
			why = "instance " + ch.Instance + " takes " + diag.Few(told(ch.Late))
		}
		f.Cluster, f.Object, f.Instance, f.Pos = now.Cluster, ch.Ref.String(), ch.Instance, ch.Pos
		f.Why, f.Fix = why, "plan again: the values are known now"
		fs = append(fs, f)
	}
	return fs
}

// Rendered finds what would be written otherwise than it was shown, though none of its values was to come: where there is no
// digest of what was shown, nothing is known of it. Objects that were not shown are not looked at.
func Rendered(shown, now *plan.Plan) diag.Findings {
	before := byRef(shown.Changes)
	var fs diag.Findings
	for _, ch := range now.Changes {
		same := func(was plan.Change) bool {
			return was.Digest == "" || was.Digest == ch.Digest || was.Late != nil && len(was.Late.Open) > 0
		}
		if was := before[ch.Ref]; len(was) > 0 && ch.Action.Writes() && ch.Action != plan.Delete && !slices.ContainsFunc(was, same) {
			fs = append(fs, staleObject(ch.Ref, "renders differently now"))
		}
	}
	return fs
}

// further says in what a change goes further than the one that was shown, "" when it does not.
func further(was, ch plan.Change) string {
	switch {
	case !slices.Contains(atMost[was.Action], ch.Action):
		return "the plan showed: " + string(was.Action)
	case was.UID != "" && ch.UID != "" && was.UID != ch.UID && ch.Action != plan.Release: // nothing is done to what is let go
		return "it was replaced since"
	case ch.Force && !was.Force:
		return "taking fields from others was not shown"
	case ch.Reclaim != "" && was.Reclaim == "":
		return "dropping fields whose managed fields were missing was not shown"
	case ch.Force && was.Force && object.Unforeseen(was.Foreign, ch.Foreign) != nil:
		return object.Unforeseen(was.Foreign, ch.Foreign).Since()
	case ch.Handover && !was.Handover:
		return "handing spec.replicas over was not shown"
	}
	return ""
}
