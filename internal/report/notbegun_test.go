package report

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// What was not begun of instances stands in the outcome with its reason, once for all clusters where it is the same, and in what is shown of a release;
// an object that a problem's text names itself is named once.
func TestNotBegunIsTold(t *testing.T) {
	late := []plan.NotBegun{{Instance: "late", Objects: 2, After: []string{"app"}, Why: "it depends on app: app not ready"},
		{Instance: "two", Objects: 1, Partly: true, Why: "the time of the run was over"}}
	made := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "made"}
	row := func(name string) fleetplan.ClusterOutcome {
		return fleetplan.ClusterOutcome{Cluster: name, Result: fleetplan.Failed, Reason: "app not ready; not begun: late", NotBegun: late,
			Problems: []fleetplan.Problem{{Object: made, Instance: "app", Status: health.Status{State: health.Failed, Reason: "ConfigMap shop/made, which app takes a value of, is not there"}}}}
	}
	oc := &fleetplan.Outcome{Verb: "apply", Bundle: "shop", Result: fleetplan.Failed, Clusters: []fleetplan.ClusterOutcome{row("eu"), row("us")}}
	h := &history.History{Bundles: []history.Bundle{{Bundle: "shop", Releases: []history.Release{{Rollout: "R", Clusters: []history.Standing{
		{Cluster: "eu", In: true, Rollout: "R", Phase: release.Failed, NotBegun: late}}}}}}}
	var text, shown, doc strings.Builder
	if err := Outcome(&text, oc, Hints{}, Style{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if err := Shown(&shown, h, Style{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&doc, oc); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in, want string
		n        int
	}{
		{text.String(), "eu, us: instance late was not begun: it depends on app: app not ready\n", 1},
		{text.String(), "eu, us: 1 object of instance two not begun: the time of the run was over\n", 1},
		{text.String(), "failed: app not ready; not begun: late", 2},
		{text.String(), "eu, us: ConfigMap shop/made, which app takes a value of, is not there\n", 1},
		{text.String(), "ConfigMap shop/made", 1},
		{shown.String(), "instance late was not begun: it depends on app: app not ready\n", 1},
		{doc.String(), `"after"`, 2},
	} {
		if n := strings.Count(c.in, c.want); n != c.n {
			t.Errorf("%q stands %d times, want %d, in\n%s", c.want, n, c.n, c.in)
		}
	}
}
