package fleetplan

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/health"
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
