package report

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/plan"
)

// A field that stays although it is declared no longer says so, and who has it; its value is not in the way.
func TestFieldsThatStay(t *testing.T) {
	p := onePlan(plan.Change{Action: plan.Update, Ref: ref("ConfigMap", "web"), Instance: "web", Code: plan.CodeChanged,
		Fields: []plan.FieldChange{{Path: "data.level", Old: `"debug"`, New: `"debug"`, Stays: true, Manager: "kubectl-edit"},
			{Path: "data.token", Hidden: true, Stays: true, Manager: "other"}, {Path: "data.key", Hidden: true, Undeclared: true}, {Path: "spec.nodePort", Old: "30124", Undeclared: true},
			{Path: "spec.port", Old: "1", New: "1", Stays: true}}})
	for name, st := range map[string]Style{"wide": wideStyle, "narrow": narrowStyle} {
		got := strings.Join(strings.Fields(text(t, func(b *bytes.Buffer) error { return Plan(b, p, st) })), " ")
		for _, want := range []string{"data.level stays as it is declared no longer; kubectl-edit has it", "data.token stays as it is declared no longer; other has it", "spec.port stays as it is declared no longer; the cluster has it",
			"data.key declared no longer (hidden)", "spec.nodePort 30124 -> declared no longer"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: without %q:\n%s", name, want, got)
			}
		}
	}
}
