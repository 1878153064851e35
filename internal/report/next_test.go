package report

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// What goes on from a failure is named as it is: a wave that does not answer is not passed by the same command, and what
// was not reached is rotated by itself.
func TestWhatComesNext(t *testing.T) {
	rows := func(verb string, results ...fleetplan.Result) *fleetplan.Outcome {
		oc := &fleetplan.Outcome{V: diag.DocumentVersion, Verb: verb, Bundle: "shop", Result: fleetplan.Failed}
		for i, r := range results {
			oc.Clusters = append(oc.Clusters, fleetplan.ClusterOutcome{Cluster: string(rune('a' + i)), Wave: i + 1, Result: r})
		}
		return oc
	}
	hook := rows("rollback", fleetplan.Failed)
	hook.Clusters[0].Problems = []fleetplan.Problem{{Hook: object.PreRollback}}
	const skip, rotate = "hawser apply --skip-unreachable", "hawser apply --rotate=db"
	dead := rows("apply", fleetplan.Unreachable, fleetplan.NotStarted)
	for name, tt := range map[string]struct {
		oc        *fleetplan.Outcome
		h         Hints
		want, not string
	}{
		"the first wave does not answer": {dead, Hints{Resume: skip}, "resumes when a cluster of wave 1 answers; past that wave: --cluster or --group, with --skip-waves", "cost no write"},
		"the same of a delete":           {rows("delete", fleetplan.Unreachable, fleetplan.NotStarted), Hints{Resume: skip}, "past that wave: --cluster or --group", "--skip-waves"},
		"it was not to be skipped":       {dead, Hints{Resume: "hawser apply"}, "resumes: finished clusters cost no write", "past that wave"},
		"a hook failed":                  {hook, Hints{Resume: "hawser rollback shop"}, "hawser rollback shop --no-hooks goes on without hooks", "--skip"},
		"it ran without hooks":           {hook, Hints{Resume: "hawser rollback shop --no-hooks"}, "resumes", "goes on without hooks"},
		"of a saved plan":                {hook, Hints{Resume: "hawser apply x.plan"}, "resumes", "--no-hooks"},
		"something else failed":          {rows("rollback", fleetplan.Failed), Hints{Resume: "hawser rollback shop"}, "resumes", "--no-hooks"},
		"rotated everywhere":             {rows("apply", fleetplan.Succeeded, fleetplan.Failed), Hints{Resume: "hawser apply", Rotate: rotate}, "resumes: finished clusters cost no write", "--rotate"},
		"rotated, and stopped before c":  {rows("apply", fleetplan.Succeeded, fleetplan.Failed, fleetplan.NotStarted), Hints{Resume: "hawser apply", Rotate: rotate}, rotate + " --cluster c", "--cluster a"},
	} {
		got := strings.Join(strings.Fields(text(t, func(b *bytes.Buffer) error { return OutcomeVerdict(b, tt.oc, tt.h, wideStyle) })), " ")
		if !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// A delete that was killed is told as one, in status and in the plan of the next apply.
func TestAfterAKilledDelete(t *testing.T) {
	if got := (fleetplan.ClusterStatus{Phase: release.Deleting}).LastRun(); !strings.HasPrefix(got, "the last run ended while deleting; deleting again resumes it") {
		t.Error(got)
	}
	for _, phase := range []release.Phase{release.Deleting, release.Failed} {
		if got := (fleetplan.ClusterStatus{Bundle: "shop", Phase: phase, Ejecting: true}).LastRun(); got != "the last run did not end ejecting it; hawser eject shop goes on, applying with --adopt takes it back" {
			t.Error(got)
		}
	}
	p := shopPlan()
	for _, c := range p.Clusters {
		c.Resumes, c.Last = true, release.Deleting
	}
	print := func(b *bytes.Buffer) error { return Plan(b, p, wideStyle) }
	if got := text(t, print); !strings.Contains(got, "A run that was to delete or eject everything ended in the middle on") || strings.Contains(got, "Resumes a run") {
		t.Error(got)
	}
	p.Verb = "delete"
	if got := text(t, print); !strings.Contains(got, "Resumes a run that ended in the middle on") {
		t.Error(got)
	}
}

// A cluster on which nothing is written, and whose last run failed, is not told as one that is well: in text, Markdown and JSON.
func TestWaitsForWhatFailed(t *testing.T) {
	p := shopPlan()
	p.Clusters[0].Plan, p.Clusters[0].Waits = &plan.Plan{Unchanged: 3}, "the last run failed (api)"
	want := "Nothing to write on 1 cluster: " + p.Clusters[0].Cluster + ", but the last run failed (api): an apply waits for it"
	for name, print := range map[string]func(b *bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return Plan(b, p, wideStyle) },
		"markdown": func(b *bytes.Buffer) error { return Markdown(b, p, false) },
	} {
		if got := text(t, print); strings.Count(got, want) != 1 {
			t.Errorf("%s:\n%s", name, got)
		}
	}
	if got := text(t, func(b *bytes.Buffer) error { return JSON(b, p) }); !strings.Contains(got, `"waits":"the last run failed (api)"`) && !strings.Contains(got, `"waits": "the last run failed (api)"`) {
		t.Error("JSON does not say it")
	}
	for _, c := range p.Clusters[1:] {
		c.Plan = &plan.Plan{}
	}
	if got := text(t, func(b *bytes.Buffer) error { return Plan(b, p, wideStyle) }); !strings.Contains(got, "No changes") || !strings.Contains(got, want) {
		t.Error(got)
	}
}

// What --until-wave leaves for later was not applied.
func TestAppliedUpToAWave(t *testing.T) {
	later := fleetplan.ClusterOutcome{Result: fleetplan.NotStarted, Later: true, Wave: 2, Reason: "after wave 1"}
	oc := &fleetplan.Outcome{Bundle: "shop", Verb: "apply", Result: fleetplan.Succeeded, Seconds: 0.3, Clusters: []fleetplan.ClusterOutcome{{Cluster: "a", Wave: 1, Result: fleetplan.Succeeded}, later, later}}
	if got, want := success(oc), "Applied shop on 1 of 3 clusters, up to wave 1, in 0.3 s: "; !strings.HasPrefix(got, want) {
		t.Error(got)
	}
}

// What nobody waited for is not told as a success.
func TestNobodyWaited(t *testing.T) {
	oc := &fleetplan.Outcome{Bundle: "shop", Verb: "apply", Result: fleetplan.Succeeded, Clusters: []fleetplan.ClusterOutcome{{Cluster: "a", Wave: 1, Canary: true, Result: fleetplan.Succeeded, Reason: fleetplan.NotWaited}}}
	if got := text(t, func(b *bytes.Buffer) error { return Outcome(b, oc, Hints{}, wideStyle) }); !strings.Contains(got, "written, nobody waited (canary)") || strings.Contains(got, "succeeded") {
		t.Error(got)
	}
}

// TestOutcomeThatWaits: a run that ended before a wave that waits is told as one that waits, in the log and at its end, and what goes on
// with it is named with when it may.
func TestOutcomeThatWaits(t *testing.T) {
	oc := &fleetplan.Outcome{Bundle: "shop", Verb: "apply", Rollout: "7K2M", Result: fleetplan.Waiting, Stopped: "the window of wave 2 (prod) opens Tue", StoppedWave: 2, Opens: &noon,
		Clusters: []fleetplan.ClusterOutcome{{Cluster: "a", Wave: 1, Result: fleetplan.Succeeded}, {Cluster: "b", Wave: 2, Result: fleetplan.NotStarted}}}
	got := strings.Join(strings.Fields(text(t, func(b *bytes.Buffer) error { return OutcomeVerdict(b, oc, Hints{Resume: "hawser apply"}, wideStyle) })), " ")
	for _, want := range []string{"Waiting: rollout 7K2M ended before wave 2: the window of wave 2 (prod) opens Tue, 1 succeeded, 1 not started (untouched).", "resumes from " + noon.Format("Mon 2006-01-02 15:04")} {
		if !strings.Contains(got, want) || strings.Contains(got, "Error:") {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := PlainLine(fleetplan.Event{Type: fleetplan.EventSummary, Summary: oc}); !strings.HasSuffix(got, "rollout=7K2M ended result=waiting succeeded=1 notStarted=1") {
		t.Error(got)
	}
}
