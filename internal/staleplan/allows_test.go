package staleplan

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// What is done in a step is what was shown, or less of it.
func TestAllows(t *testing.T) {
	ch := func(a plan.Action, edit ...func(*plan.Change)) plan.Change {
		c := plan.Change{Action: a, Ref: object.Ref{Kind: "Secret", Namespace: "ns", Name: "x"}, Instance: "api", UID: "u"}
		for _, e := range edit {
			e(&c)
		}
		return c
	}
	force := func(c *plan.Change) { c.Force = true }
	handover := func(c *plan.Change) { c.Handover = true }
	uid := func(c *plan.Change) { c.UID = "other" }
	other := func(c *plan.Change) { c.Ref.Name = "y" }
	for _, c := range []struct {
		shown, now []plan.Change
		why        string // "" = allowed
	}{
		{[]plan.Change{ch(plan.Create)}, []plan.Change{ch(plan.Create)}, ""},
		{[]plan.Change{ch(plan.Create)}, nil, ""},
		{[]plan.Change{ch(plan.Create)}, []plan.Change{ch(plan.Unchanged)}, ""},
		{[]plan.Change{ch(plan.Update)}, []plan.Change{ch(plan.Update)}, ""},
		{[]plan.Change{ch(plan.Update, force)}, []plan.Change{ch(plan.Update, force)}, ""},
		{[]plan.Change{ch(plan.Recreate)}, []plan.Change{ch(plan.Update)}, ""},
		{[]plan.Change{ch(plan.Adopt, force)}, []plan.Change{ch(plan.Adopt, force)}, ""},
		{[]plan.Change{ch(plan.Delete)}, []plan.Change{ch(plan.Release)}, ""},
		{[]plan.Change{ch(plan.Release)}, []plan.Change{ch(plan.Release, uid)}, ""},
		{[]plan.Change{ch(plan.Delete)}, []plan.Change{ch(plan.Release, uid)}, ""},
		{[]plan.Change{ch(plan.Delete)}, []plan.Change{ch(plan.Delete, uid)}, "it was replaced since"},
		{[]plan.Change{ch(plan.Recreate)}, []plan.Change{ch(plan.Recreate, uid)}, "it was replaced since"},
		{[]plan.Change{ch(plan.Unknown)}, []plan.Change{ch(plan.Create)}, ""},
		{[]plan.Change{ch(plan.Unknown)}, []plan.Change{ch(plan.Update)}, ""},
		{[]plan.Change{ch(plan.Delete), ch(plan.Create)}, []plan.Change{ch(plan.Create)}, ""},
		{nil, []plan.Change{ch(plan.Create)}, "nothing was shown for it"},
		{[]plan.Change{ch(plan.Create, other)}, []plan.Change{ch(plan.Create)}, "nothing was shown for it"},
		{nil, []plan.Change{ch(plan.Delete)}, "nothing was shown for it"},
		{nil, []plan.Change{ch(plan.Release)}, "nothing was shown for it"},
		{[]plan.Change{ch(plan.Create)}, []plan.Change{ch(plan.Update)}, "the plan showed: create"},
		{[]plan.Change{ch(plan.Update)}, []plan.Change{ch(plan.Create)}, "the plan showed: update"},
		{[]plan.Change{ch(plan.Update)}, []plan.Change{ch(plan.Recreate)}, "the plan showed: update"},
		{[]plan.Change{ch(plan.Update)}, []plan.Change{ch(plan.Delete)}, "the plan showed: update"},
		{[]plan.Change{ch(plan.Create)}, []plan.Change{ch(plan.Adopt)}, "the plan showed: create"},
		{[]plan.Change{ch(plan.Unknown)}, []plan.Change{ch(plan.Recreate)}, "the plan showed: unknown"},
		{[]plan.Change{ch(plan.Conflict)}, []plan.Change{ch(plan.Conflict)}, "the plan showed: conflict"},
		{[]plan.Change{ch(plan.Unchanged)}, []plan.Change{ch(plan.Update)}, "the plan showed: unchanged"},
		{[]plan.Change{ch(plan.Release)}, []plan.Change{ch(plan.Delete)}, "the plan showed: release"},
		{[]plan.Change{ch(plan.Update)}, []plan.Change{ch(plan.Update, force)}, "taking fields from others was not shown"},
		{[]plan.Change{ch(plan.Update)}, []plan.Change{ch(plan.Update, handover)}, "handing spec.replicas over was not shown"},
		{[]plan.Change{ch(plan.Update)}, []plan.Change{ch(plan.Update, uid)}, "it was replaced since"},
	} {
		got := ""
		if fs := Allows(&plan.Plan{Changes: c.shown}, &plan.Plan{Cluster: "c", Changes: c.now}); len(fs) > 0 {
			got = fs[0].Why
			if fs[0].Code != "stale-plan" || fs[0].Cluster != "c" || fs[0].Instance != "api" || !fs.HasErrors() {
				t.Errorf("finding %+v", fs[0])
			}
		}
		if got != c.why {
			t.Errorf("shown %v, now %v: %q, want %q", c.shown, c.now, got, c.why)
		}
	}
}

// TestAllowsAnyPlan: a plan allows itself and every part of it, but for conflicts.
func TestAllowsAnyPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		part := plan.Plan{Changes: rapid.Permutation(p.Changes).Draw(rt, "order")}
		part.Changes = part.Changes[:rapid.IntRange(0, len(part.Changes)).Draw(rt, "n")]
		conflicts := slices.ContainsFunc(part.Changes, func(ch plan.Change) bool { return ch.Action == plan.Conflict })
		if fs := Allows(p, &part); (len(fs) > 0) != conflicts {
			rt.Fatalf("%+v: %v", part.Changes, fs)
		}
	})
}
