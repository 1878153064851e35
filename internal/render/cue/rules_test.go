package cue

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hawser.dev/hawser/api/v1alpha1"
)

// A module brings health rules in CEL along, beside what Timoni reads.
func TestModuleHealthRules(t *testing.T) {
	module := func(rules string) string {
		return "-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [" + configMap + "]}\nhawser: health: " + rules + "\n"
	}
	res, err := New(Options{}).Render(t.Context(), inline(t, module(`[{group: "example.com", kind: "Widget", name: "a*", ready: "self.up", failed: "self.down", message: "self.why"}, {kind: "ConfigMap", ready: "true"}]`), ""))
	if err != nil {
		t.Fatal(err)
	}
	want := []v1alpha1.HealthRule{{Group: "example.com", Kind: "Widget", Name: "a*", Ready: "self.up", Failed: "self.down", Message: "self.why"}, {Kind: "ConfigMap", Ready: "true"}}
	if diff := cmp.Diff(want, res.Health, cmpopts.IgnoreFields(v1alpha1.HealthRule{}, "Pos")); diff != "" {
		t.Error(diff)
	}
	for _, r := range res.Health {
		if !strings.HasSuffix(r.Pos.File, "timoni.cue") || r.Pos.Line != 3 {
			t.Errorf("a rule without its place: %+v", r.Pos)
		}
	}
	for rules, want := range map[string]string{
		`[{kind: "Widget", redy: "true"}]`:        "a health rule has no field redy",
		`[{kind: "Widget"}]`:                      "a health rule needs kind and ready",
		`{kind: "Widget", ready: "true"}`:         "hawser.health",
		`[{kind: "Widget", ready: true}]`:         "hawser.health.0.ready",
		`[{kind: "Widget", ready: string}]`:       "hawser.health.0.ready",
		`[{kind: "Widget", ready: "a" & "b"}, 1]`: "conflicting values",
	} {
		if _, err := New(Options{}).Render(t.Context(), inline(t, module(rules), "")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", rules, err, want)
		}
	}
}
