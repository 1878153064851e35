package fleetplan_test

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
)

// What stands against going back is said of each cluster that it is about, and the others go; where it is about none of them it is about all.
func TestNotBack(t *testing.T) {
	t.Parallel()
	of := func(cluster, what string) diag.Finding {
		f := diag.Errorf("x", "%s", what)
		f.Cluster = cluster
		return f
	}
	for name, c := range map[string]struct {
		found diag.Findings
		left  string
		said  string
	}{
		"one":                  {diag.Findings{of("b", "locked")}, "a c", "b: locked"},
		"the same twice":       {diag.Findings{of("b", "locked"), of("b", "gone")}, "a c", "b: locked"},
		"all":                  {diag.Findings{of("a", "x"), of("b", "y"), of("c", "z")}, "", "a: x|b: y|c: z"},
		"of no cluster":        {diag.Findings{of("", "no release before")}, "", "a: no release before|b: no release before|c: no release before"},
		"of another's":         {diag.Findings{of("elsewhere", "gone")}, "", "a: gone|b: gone|c: gone"},
		"of one and of no one": {diag.Findings{of("", "many"), of("c", "z")}, "a b", "c: z"},
	} {
		said, left := fleetplan.NotBack([]string{"a", "b", "c"}, c.found)
		var lines []string
		for _, f := range said {
			if f.Code != fleetplan.CodeNotBack || f.Severity != diag.Warning {
				t.Errorf("%s: %+v", name, f)
			}
			lines = append(lines, f.Cluster+": "+f.Why)
		}
		if strings.Join(left, " ") != c.left || strings.Join(lines, "|") != c.said {
			t.Errorf("%s: left %v, said %v", name, left, lines)
		}
	}
}

// The outcome says which clusters are back, and of each that is not why, with the command that tries it once more.
func TestUndone(t *testing.T) {
	t.Parallel()
	o := &fleetplan.Outcome{Bundle: "shop"}
	back := &fleetplan.Outcome{Rollout: "R", Clusters: []fleetplan.ClusterOutcome{{Cluster: "a", Result: fleetplan.Succeeded}, {Cluster: "b", Result: fleetplan.UpToDate},
		{Cluster: "c", Result: fleetplan.Failed, Reason: "api not ready"}, {Cluster: "d", Result: fleetplan.Unreachable}}}
	o.Undone(back, "4 (X)")
	var lines []string
	for _, f := range o.Findings {
		lines = append(lines, f.Code+" "+f.Cluster+" "+f.What+" / "+f.Why+" / "+f.Fix)
	}
	want := []string{
		"not-gone-back c it did not come back to release 4 (X) / failed: api not ready / hawser rollback shop --cluster c",
		"not-gone-back d it did not come back to release 4 (X) / not reached / hawser rollback shop --cluster d",
	}
	if said := o.WentBack.Said(); said != "Back at release 4 (X): a, b (rollout R)" || (*fleetplan.WentBack)(nil).Said() != "" {
		t.Error(said)
	}
	if o.WentBack == nil || o.WentBack.To != "4 (X)" || len(o.WentBack.Clusters) != 4 || !slices.Equal(lines, want) {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
}
