package fleetplan_test

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
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

// waved is a plan to apply to clusters of two waves, with what their records say; nil for none.
func waved(records map[string]*release.Record) *fleetplan.FleetPlan {
	p := &fleetplan.FleetPlan{Verb: "apply", Bundle: "shop"}
	for i, name := range []string{"a", "b", "c"} {
		cp := &fleetplan.ClusterPlan{Cluster: name, Wave: 1 + min(i, 1)}
		cp.Describe(records[name], nil, func(s string) string { return s })
		p.Clusters = append(p.Clusters, cp)
		p.Schedule.Members = append(p.Schedule.Members, rollout.Member{Cluster: name, Wave: cp.Wave})
	}
	return p
}

// A go-back that ended half-way is told by the next run, with what finishes it: of those of the wave that it did not come to, and of one
// that was on its way. Clusters of other waves stay on purpose, and who is back is no matter any more.
func TestHalfBack(t *testing.T) {
	t.Parallel()
	to := &release.Name{Release: 1, Rollout: "ONE"}
	failed := &release.Record{Release: 2, Revision: 2, Rollout: "TWO", Phase: release.Failed}
	back := &release.Record{Release: 3, Revision: 3, Rollout: "BACK", Phase: release.Succeeded, Undoes: "TWO", RollbackTo: to}
	open := &release.Record{Release: 3, Revision: 3, Rollout: "BACK", Phase: release.Applying, Undoes: "TWO", RollbackTo: to}
	since := &release.Record{Release: 4, Revision: 4, Rollout: "FOUR", Phase: release.Succeeded}
	for name, c := range map[string]struct {
		b, c *release.Record
		want string
	}{
		"nothing went back":      {failed, failed, ""},
		"both are back":          {back, back, ""},
		"one is back":            {back, failed, "c it has release 2 (TWO) still"},
		"one was on its way":     {open, failed, "b it was on its way back from rollout TWO|c it has release 2 (TWO) still"},
		"the last was":           {back, open, "c it was on its way back from rollout TWO"},
		"another came there":     {back, since, ""},
		"nothing is there":       {back, nil, ""},
		"that is long forgotten": {since, failed, ""},
	} {
		p := waved(map[string]*release.Record{"a": failed, "b": c.b, "c": c.c})
		var got []string
		for _, f := range p.HalfBack() {
			what, _, _ := strings.Cut(f.What, ",")
			got = append(got, f.Cluster+" "+what)
			if f.Severity != diag.Warning || f.Fix != "hawser rollback shop --to ONE --cluster "+f.Cluster+" takes it back" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
	p := waved(map[string]*release.Record{"b": back, "c": failed})
	if p.Verb = "rollback"; len(p.HalfBack()) > 0 {
		t.Error("who goes back is told to go back")
	}
}

// After a wave that failed went back whole, nothing is offered to go back; where a cluster did not, or one of an earlier wave has the
// release, it is.
func TestGoesBackAfterWentBack(t *testing.T) {
	t.Parallel()
	one := &release.Record{Release: 1, Revision: 1, Rollout: "ONE", Phase: release.Succeeded}
	p := waved(map[string]*release.Record{"a": one, "b": one, "c": one})
	row := func(cluster string, revision int, result fleetplan.Result) fleetplan.ClusterOutcome {
		return fleetplan.ClusterOutcome{Cluster: cluster, Revision: revision, Result: result}
	}
	for name, c := range map[string]struct {
		a    int
		back []fleetplan.ClusterOutcome
		want bool
	}{
		"all are back":           {1, []fleetplan.ClusterOutcome{row("b", 3, fleetplan.Succeeded), row("c", 3, fleetplan.Succeeded)}, false},
		"one is not":             {1, []fleetplan.ClusterOutcome{row("b", 3, fleetplan.Succeeded), row("c", 3, fleetplan.Failed)}, true},
		"an earlier wave has it": {2, []fleetplan.ClusterOutcome{row("b", 3, fleetplan.Succeeded), row("c", 3, fleetplan.Succeeded)}, true},
		"none went back":         {1, nil, true},
	} {
		out := &fleetplan.Outcome{Verb: "apply", Result: fleetplan.Failed, Clusters: []fleetplan.ClusterOutcome{row("a", c.a, fleetplan.UpToDate), row("b", 2, fleetplan.Succeeded), row("c", 2, fleetplan.Failed)}}
		if c.back != nil {
			out.WentBack = &fleetplan.WentBack{Clusters: c.back}
		}
		if got := p.GoesBack(out); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
