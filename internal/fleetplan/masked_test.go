package fleetplan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// TestOutcomeIsMasked: the table and the JSON of an outcome hide what the events of the same run hide, a common word in
// what is said of the instance that takes it alone.
func TestOutcomeIsMasked(t *testing.T) {
	r := &redact.Redactor{}
	r.AddFor("web", "hunter")
	r.AddFor("web", "kX93-pass-word")
	status := health.Status{State: health.Failed, Reason: "login of \"hunter\" failed", Details: []string{"kX93-pass-word is wrong, \"hunter\""}}
	out := &Outcome{Clusters: []ClusterOutcome{
		{Reason: "web: login of \"hunter\" failed", Problems: []Problem{{Instance: "web", Status: status}}},
		{Reason: "other: \"hunter\" and kX93-pass-word", Problems: []Problem{{Instance: "other", Status: status}}},
	}}
	out.Redact(r)
	web, other := out.Clusters[0], out.Clusters[1]
	for _, text := range append(web.Problems[0].Status.Details, web.Reason, web.Problems[0].Status.Reason) {
		if strings.Contains(text, "hunter") || strings.Contains(text, "kX93") {
			t.Errorf("web says %q", text)
		}
	}
	if other.Reason != "other: \"hunter\" and ***" || other.Problems[0].Status.Details[0] != "*** is wrong, \"hunter\"" {
		t.Errorf("other says %+v", other)
	}
	if status.Details[0] != "kX93-pass-word is wrong, \"hunter\"" {
		t.Error("what others hold was changed")
	}
}

// TestEndIsMasked: what a server says of an instance's short number is hidden in the end of the cluster too: an event
// of a cluster names no instance.
func TestEndIsMasked(t *testing.T) {
	r := redact.New()
	r.AddFor("q2", "4711")
	r.AddGenerated("q2", "563435")
	said := "Service q2: spec.ports[0].nodePort: Invalid value: 4711; PIN 563435 is taken"
	row := &ClusterOutcome{Cluster: "eu", Result: Failed, Reason: said, Done: plan.Counts{Create: 2},
		Problems: []Problem{{Instance: "q2", Status: health.Status{State: health.Failed, Reason: said, Details: []string{said}}}}}
	ev := row.Ended(r, "R", "shop", 3)
	for _, text := range []string{ev.Message, row.Reason, row.Problems[0].Status.Reason, row.Problems[0].Status.Details[0]} {
		if text != "Service q2: spec.ports[0].nodePort: Invalid value: ***; PIN *** is taken" {
			t.Error(text)
		}
	}
	if ev.Type != EventClusterEnd || ev.Cluster != "eu" || ev.Wave != 3 || ev.Rollout != "R" || ev.Bundle != "shop" || ev.Status != "failed" || ev.Counts.Create != 2 {
		t.Errorf("%+v", ev)
	}
}
