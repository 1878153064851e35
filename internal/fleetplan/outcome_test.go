package fleetplan

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

func deployment(name string) object.Ref {
	return object.Ref{Kind: "Deployment", Group: "apps", Namespace: "x", Name: name}
}

// What is not ready at the end of a soak is what somebody would have waited for.
func TestUnready(t *testing.T) {
	ref := deployment
	inventory := []plan.InventoryEntry{{Ref: ref("ready")}, {Ref: ref("slow"), NoWait: true}, {Ref: ref("bad"), Instance: "app"}, {Ref: ref("unknown")}}
	got := Unready(inventory, map[object.Ref]health.Status{
		ref("ready"): {State: health.Ready}, ref("slow"): {State: health.Progressing}, ref("bad"): {State: health.Failed, Reason: "crashes"}})
	if len(got) != 1 || got[0].Object != ref("bad") || got[0].Name() != "app" || got[0].Status.Reason != "crashes" {
		t.Errorf("%+v", got)
	}
	if names := []string{Problem{Object: ref("bad")}.Name()}; !slices.Equal(names, []string{ref("bad").String()}) {
		t.Error(names)
	}
}

// TestOutcomeResult: what the rows make of the whole, and of the error that faces turn into exit codes.
func TestOutcomeResult(t *testing.T) {
	fails := func(change func(*ClusterOutcome)) *ClusterOutcome {
		row := &ClusterOutcome{Result: Failed}
		if change != nil {
			change(row)
		}
		return row
	}
	ok, same, failed := &ClusterOutcome{Result: Succeeded}, &ClusterOutcome{Result: UpToDate}, fails(nil)
	slow, refused := fails(func(r *ClusterOutcome) { r.TimedOut = true }), fails(func(r *ClusterOutcome) { r.Refused = true })
	interrupted := fails(func(r *ClusterOutcome) { r.Result = Interrupted })
	for _, c := range []struct {
		name    string
		rows    []*ClusterOutcome // of a, b, c; nil never began
		stopped string
		until   int
		down    string
		want    Result
		err     error
		results []Result
	}{
		{"all succeeded", []*ClusterOutcome{ok, ok, ok}, "", 0, "", Succeeded, nil, []Result{Succeeded, Succeeded, Succeeded}},
		{"nothing to do", []*ClusterOutcome{same, same, same}, "", 0, "", UpToDate, nil, []Result{UpToDate, UpToDate, UpToDate}},
		{"one changed", []*ClusterOutcome{same, ok, same}, "", 0, "", Succeeded, nil, []Result{UpToDate, Succeeded, UpToDate}},
		{"up to wave 2", []*ClusterOutcome{ok, same, nil}, "", 2, "", Succeeded, nil, []Result{Succeeded, UpToDate, NotStarted}},
		{"nothing to do up to wave 2", []*ClusterOutcome{same, same, nil}, "", 2, "", UpToDate, nil, []Result{UpToDate, UpToDate, NotStarted}},
		{"stopped before wave 2 is done", []*ClusterOutcome{ok, failed, nil}, "too many", 2, "", Failed, ErrPartial, []Result{Succeeded, Failed, NotStarted}},
		{"one failed", []*ClusterOutcome{ok, failed, nil}, "too many", 0, "", Failed, ErrPartial, []Result{Succeeded, Failed, NotStarted}},
		{"one does not answer", []*ClusterOutcome{ok, ok, nil}, "", 0, "c", Failed, ErrPartial, []Result{Succeeded, Succeeded, Unreachable}},
		{"none succeeded", []*ClusterOutcome{failed, slow, nil}, "too many", 0, "", Failed, ErrFailed, []Result{Failed, Failed, NotStarted}},
		{"none got ready", []*ClusterOutcome{slow, slow, nil}, "too many", 0, "", Failed, ErrNotReady, []Result{Failed, Failed, NotStarted}},
		{"all refused", []*ClusterOutcome{refused, refused, nil}, "too many", 0, "", Failed, ErrRefused, []Result{Failed, Failed, NotStarted}},
		{"refused and not ready", []*ClusterOutcome{refused, slow, nil}, "too many", 0, "", Failed, ErrFailed, []Result{Failed, Failed, NotStarted}},
		{"interrupted", []*ClusterOutcome{ok, interrupted, nil}, "interrupted", 0, "", Interrupted, context.Canceled, []Result{Succeeded, Interrupted, NotStarted}},
		{"interrupted, and all was done", []*ClusterOutcome{ok, ok, ok}, "interrupted", 0, "", Succeeded, nil, []Result{Succeeded, Succeeded, Succeeded}},
	} {
		p := &FleetPlan{Schedule: scheduleOf(3)}
		p.Schedule.UntilWave = c.until
		rows := map[string]*ClusterOutcome{}
		for i, name := range []string{"a", "b", "c"} {
			cp := &ClusterPlan{Cluster: name, Wave: i + 1, Canary: i == 0}
			if name == c.down {
				cp.Unreachable = "no answer"
			}
			p.Clusters = append(p.Clusters, cp)
			if row := c.rows[i]; row != nil {
				rows[name] = &ClusterOutcome{Cluster: name, Result: row.Result, TimedOut: row.TimedOut, Refused: row.Refused}
			}
		}
		out := &Outcome{Stopped: c.stopped}
		out.Finish(p, rows)
		var results []Result
		for i, row := range out.Clusters {
			results = append(results, row.Result)
			if row.Wave != i+1 || row.Canary != (i == 0) || row.Later != (c.until > 0 && i == 2 && c.stopped == "") {
				t.Errorf("%s: %+v", c.name, row)
			}
		}
		if out.Result != c.want || !slices.Equal(results, c.results) || !errors.Is(out.Err(), c.err) || c.err == nil && out.Err() != nil {
			t.Errorf("%s: %s %v %v, want %s %v %v", c.name, out.Result, results, out.Err(), c.want, c.results, c.err)
		}
	}
}

// TestRowsEnd: what ends a row says what was being done, and a refusal says all of it.
func TestRowsEnd(t *testing.T) {
	row := ClusterOutcome{Result: Succeeded}
	row.Fail("record", errors.New("no space"))
	if row.Result != Failed || row.Reason != "record: no space" || row.OK() {
		t.Errorf("%+v", row)
	}
	row = ClusterOutcome{}
	row.Refuse(diag.Findings{diag.Warnf("w", "a warning"), {Severity: diag.Error, What: "stale", Instance: "app"}, diag.Errorf("b", "and more")})
	if row.Result != Failed || !row.Refused || row.Reason != "stale" || len(row.Problems) != 2 || row.Problems[0].Name() != "app" || row.Problems[1].Status.Reason != "and more" {
		t.Errorf("%+v", row)
	}
}

// TestOutcomeThatWaits: a rollout that ended before a wave which nobody has approved, or whose window is closed, has not failed unless a
// cluster has; it is partial, also where nothing was done before.
func TestOutcomeThatWaits(t *testing.T) {
	opens := time.Date(2026, 9, 1, 9, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		first *ClusterOutcome
		want  Result
	}{
		"after a wave":               {&ClusterOutcome{Result: Succeeded}, Waiting},
		"before all":                 {nil, Waiting},
		"after one that was in sync": {&ClusterOutcome{Result: UpToDate}, Waiting},
		"something failed":           {&ClusterOutcome{Result: Failed}, Failed},
	} {
		for _, stopped := range []Outcome{{Unapproved: true}, {Opens: &opens}} {
			p, rows := &FleetPlan{Schedule: scheduleOf(2), Clusters: []*ClusterPlan{{Cluster: "a", Wave: 1}, {Cluster: "b", Wave: 2}}}, map[string]*ClusterOutcome{}
			if c.first != nil {
				row := *c.first
				row.Cluster, rows["a"] = "a", &row
			}
			stopped.Stopped, stopped.StoppedWave = "it waits", 2
			if stopped.Finish(p, rows); stopped.Result != c.want || c.want == Waiting && !errors.Is(stopped.Err(), ErrPartial) {
				t.Errorf("%s: %s, %v", name, stopped.Result, stopped.Err())
			}
		}
	}
	if got := (&Outcome{Opens: &opens}).Resuming(false); got != "resumes from Tue 2026-09-01 09:00 UTC; before that with --skip-windows" {
		t.Error(got)
	}
}

// TestCompare: whether the same declaration is ready elsewhere, and on how many clusters it fails.
func TestCompare(t *testing.T) {
	ref := deployment("api")
	fails := []Problem{{Object: ref}}
	for _, c := range []struct {
		name          string
		digests       map[string]string
		ready, failed []string
		want          string
		on, off       int
	}{
		{"ready with the same declaration", map[string]string{"a": "1", "b": "1", "c": "1"}, []string{"b", "c"}, []string{"a"}, "only here", 2, 1},
		{"another declaration is ready", map[string]string{"a": "1", "b": "2"}, []string{"b"}, []string{"a"}, "", 0, 1},
		{"it fails everywhere", map[string]string{"a": "1", "b": "1"}, nil, []string{"a", "b"}, "everywhere", 0, 2},
		{"it fails on two, and is ready on one", map[string]string{"a": "1", "b": "1", "c": "1"}, []string{"c"}, []string{"a", "b"}, "only here", 1, 2},
		{"nobody else got there", map[string]string{"a": "1", "b": "1"}, nil, []string{"a"}, "", 0, 1},
		{"no longer declared", nil, []string{"b"}, []string{"a"}, "", 0, 0},
	} {
		out := &Outcome{}
		for _, name := range c.failed {
			out.Clusters = append(out.Clusters, ClusterOutcome{Cluster: name, Result: Failed, Problems: slices.Clone(fails)})
		}
		for _, name := range c.ready {
			out.Clusters = append(out.Clusters, ClusterOutcome{Cluster: name, Result: Succeeded})
		}
		hidden := &Outcome{Clusters: []ClusterOutcome{{Cluster: "a", Problems: slices.Clone(fails)}}}
		if hidden.Compare(map[string]map[string]string{ref.String(): c.digests}, nil); hidden.Clusters[0].Problems[0].Digest != "" {
			t.Errorf("%s: the digest of what may hold a secret is told", c.name)
		}
		out.Compare(map[string]map[string]string{ref.String(): c.digests}, map[string]bool{ref.String(): true})
		p := out.Clusters[0].Problems[0]
		if p.Elsewhere != c.want || p.ReadyOn != c.on || p.FailedOn != c.off || p.Digest != c.digests["a"] {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// A run whose release somebody paused or aborted meanwhile ends as waiting or aborted, unless something failed; what the same command
// does then is said as it is.
func TestOutcomeOfAWord(t *testing.T) {
	ann := &release.Word{By: "ann@laptop", At: time.Unix(0, 0)}
	paused, aborted := &release.Hold{Release: 5, Rollout: "E", Paused: ann}, &release.Hold{Release: 5, Rollout: "E", Aborted: ann}
	for name, c := range map[string]struct {
		first    Result
		holds    []*release.Hold
		want     Result
		resuming string
	}{
		"paused":                     {Succeeded, []*release.Hold{paused, nil}, Waiting, "resumes after that: finished clusters cost no write"},
		"aborted":                    {Succeeded, []*release.Hold{aborted, nil}, Aborted, "is another release: this one was aborted, and its approvals with it"},
		"aborted here, paused there": {Succeeded, []*release.Hold{paused, aborted}, Aborted, "is another release: this one was aborted, and its approvals with it"},
		"something failed":           {Failed, []*release.Hold{aborted, nil}, Failed, "is another release: this one was aborted, and its approvals with it"},
	} {
		p, rows := &FleetPlan{Schedule: scheduleOf(3)}, map[string]*ClusterOutcome{"a": {Cluster: "a", Result: c.first}}
		for i, cluster := range []string{"a", "b", "c"} {
			p.Clusters = append(p.Clusters, &ClusterPlan{Cluster: cluster, Wave: i + 1})
			if i > 0 && c.holds[i-1] != nil {
				rows[cluster] = &ClusterOutcome{Cluster: cluster}
				if !rows[cluster].Keep(c.holds[i-1], "E", nil) {
					t.Errorf("%s: %s begins", name, cluster)
				}
			}
		}
		o := Outcome{Rollout: "E", StoppedWave: 2, Stopped: "release 5 (E) was stopped by ann@laptop"}
		o.Finish(p, rows)
		if got := o.Resuming(false); o.Result != c.want || got != c.resuming || o.Err() == nil {
			t.Errorf("%s: %s, %q, %v", name, o.Result, got, o.Err())
		}
	}
	row := ClusterOutcome{}
	if row.Keep(nil, "E", nil) || row.Keep(&release.Hold{Rollout: "D", Aborted: ann}, "E", nil) || row.Result != "" || !row.Keep(nil, "E", errors.New("forbidden")) || row.Result != NotStarted {
		t.Errorf("%+v", row)
	}
}
