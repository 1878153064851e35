package fleetplan

import (
	"testing"

	"hawser.dev/hawser/internal/plan"
)

// Each verb is one value, which says what is desired, what keeps it back, and what of a request counts for its plan.
func TestOperation(t *testing.T) {
	all := PlanOptions{Adopt: true, Recreate: true, LetUnserved: true, ShowDiff: true, ServerCheck: true, Tests: true}
	for verb, c := range map[string]struct {
		op                    Operation
		renders, ends, brings bool
		bare, full            plan.Options
	}{
		"apply": {Apply, true, false, true, plan.Options{},
			plan.Options{Adopt: true, Recreate: true, LetUnserved: true, Diff: true, ServerCheck: true, Tests: true}},
		"delete": {Delete, false, true, false, plan.Options{Deleting: true}, plan.Options{Deleting: true, LetUnserved: true}},
		"eject": {Eject, false, true, false, plan.Options{Deleting: true, Ejecting: true, NoHooks: true},
			plan.Options{Deleting: true, Ejecting: true, NoHooks: true, LetUnserved: true}},
		"rollback": {Rollback, false, false, true, plan.Options{RollingBack: true, ServerCheck: true},
			plan.Options{RollingBack: true, Adopt: true, Recreate: true, LetUnserved: true, Diff: true, ServerCheck: true}},
		"drift": {Correct, false, false, false, plan.Options{Diff: true, NoHooks: true, NoPrune: true},
			plan.Options{Adopt: true, Recreate: true, LetUnserved: true, Diff: true, NoHooks: true, NoPrune: true}},
	} {
		if o := c.op; o.Verb() != verb || Named(verb) != o || o.Renders() != c.renders || o.Ends() != c.ends || Ends(verb) != c.ends || o.Brings() != c.brings {
			t.Errorf("%s: %+v is named %s", verb, o, o.Verb())
		}
		if got := c.op.Options(PlanOptions{}); got != c.bare {
			t.Errorf("%s: %+v", verb, got)
		}
		if got := c.op.Options(all); got != c.full {
			t.Errorf("%s: %+v", verb, got)
		}
		if hooks := c.op.Options(PlanOptions{NoHooks: true}); !hooks.NoHooks {
			t.Errorf("%s: hooks run that must not", verb)
		}
	}
}
