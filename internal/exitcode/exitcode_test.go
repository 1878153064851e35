package exitcode

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// TestRefusalsHaveTheirCode: what is well formed and not done on purpose ends with 5, whoever refuses.
func TestRefusalsHaveTheirCode(t *testing.T) {
	for _, code := range []string{"signature-missing", "missing-rights", "untold-bundle", "kept-values-lost", "rotate-suspended", "lookup-failed", "stale-lock",
		"deletion-brake", "damaged-record", "lost-record", "kind-not-served", "hook-lost", "missing-bundle"} {
		err := fmt.Errorf("x: %w", diag.Findings{{Severity: diag.Error, Code: code, What: "x"}}.Err())
		if got := Of(err); got != Refused {
			t.Errorf("%s: %d", code, got)
		}
	}
}

func TestExitCodes(t *testing.T) {
	refusal := diag.Findings{{Severity: diag.Error, Code: "locked", What: "x"}}
	mistake := diag.Findings{{Severity: diag.Error, Code: "unknown-field", What: "x"}}
	for _, c := range []struct {
		reason string
		err    error
		want   int
	}{
		{"nothing", nil, 0},
		{"anything", errors.New("x"), 1},
		{"a mistake", mistake.Err(), 1},
		{"a refusal by policy", refusal.Err(), 5},
		{"a mistake beside a refusal", append(refusal, mistake...).Err(), 1},
		{"a refused plan", &fleetplan.RefusedError{Findings: mistake}, 5},
		{"partly done", fmt.Errorf("x: %w", fleetplan.ErrPartial), 3},
		{"not ready", fmt.Errorf("x: %w", fleetplan.ErrNotReady), 4},
		{"failed", fleetplan.ErrFailed, 1},
		{"interrupted", fmt.Errorf("x: %w", context.Canceled), 130},
		{"a code of its own", &Exit{Code: 2, Err: fleetplan.ErrPartial}, 2},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%s: %d, want %d", c.reason, got, c.want)
		}
	}
}

// Some bundles done and others not is partly done, whatever the others ended with; else the worst counts.
func TestOfBundles(t *testing.T) {
	refused, interrupted := &fleetplan.RefusedError{}, context.Canceled
	for reason, c := range map[string]struct {
		errs []error
		want int
	}{
		"all done":                       {[]error{nil, nil}, Done},
		"one refused, one done":          {[]error{nil, refused}, Partial},
		"one failed, one done":           {[]error{fleetplan.ErrFailed, nil}, Partial},
		"the only one that was begun":    {[]error{fleetplan.ErrNotReady}, NotReady},
		"refused and failed":             {[]error{refused, fleetplan.ErrFailed}, Error},
		"partly done and not ready":      {[]error{fleetplan.ErrNotReady, fleetplan.ErrPartial}, Partial},
		"interrupted after one was done": {[]error{nil, interrupted}, Interrupted},
	} {
		if got := OfBundles(c.errs); got != c.want {
			t.Errorf("%s: %d, want %d", reason, got, c.want)
		}
	}
}

// A plan that is shown ends with 2 where an apply has something to do, with or without a write; a diff with 1 where objects differ.
func TestOfPlan(t *testing.T) {
	changes := &plan.Plan{Changes: []plan.Change{{Action: plan.Update}}}
	for name, c := range map[string]struct {
		cluster               fleetplan.ClusterPlan
		plain, detailed, diff int
	}{
		"nothing":            {fleetplan.ClusterPlan{Plan: &plan.Plan{}, Left: release.Succeeded}, Done, Done, 0},
		"changes":            {fleetplan.ClusterPlan{Plan: changes, Left: release.Succeeded}, Done, Changes, 1},
		"the last failed":    {fleetplan.ClusterPlan{Plan: &plan.Plan{}, Left: release.Failed}, Done, Changes, 0},
		"a lost record":      {fleetplan.ClusterPlan{Plan: &plan.Plan{Rebuilt: true}}, Done, Changes, 0},
		"it does not answer": {fleetplan.ClusterPlan{Unreachable: "i/o timeout"}, Partial, Partial, Partial},
		"a conflict":         {fleetplan.ClusterPlan{Plan: &plan.Plan{Changes: []plan.Change{{Action: plan.Conflict}}}}, Refused, Refused, Refused},
	} {
		p := &fleetplan.FleetPlan{Clusters: []*fleetplan.ClusterPlan{&c.cluster}}
		if got, detailed := OfPlan(p, false), OfPlan(p, true); got != c.plain || detailed != c.detailed {
			t.Errorf("%s: %d, detailed %d", name, got, detailed)
		}
		if got := OfDiff(OfPlan(p, false), p.Writes()); got != c.diff {
			t.Errorf("%s: diff %d", name, got)
		}
	}
	if OfDiff(Error, true) != 2 {
		t.Error("a diff that cannot be made ends with 2")
	}
}
