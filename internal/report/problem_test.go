package report

import (
	"bytes"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// What is gone does not stay in the cluster, also when it was a hook's; what is let go does.
func TestWhyOfWhatIsLetGo(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "n", Name: "a"}
	for want, c := range map[string]plan.Change{
		"already gone": {Action: plan.Release, Ref: ref, Code: plan.CodeGone, Why: "already gone"},
		"let go, stays in the cluster; annotated to be kept": {Action: plan.Release, Ref: ref, Code: plan.CodeKept, Why: "annotated to be kept"},
		"is being deleted (since then)":                      {Action: plan.Release, Ref: ref, Code: plan.CodeEjected, Leaving: true, Why: "is being deleted (since then)"},
		"let go, stays in the cluster":                       {Action: plan.Release, Ref: ref, Code: plan.CodeEjected},
		"its fields are left to others no longer": {Action: plan.Update, Ref: ref, Code: plan.CodeChanged, Why: "its fields are left to others no longer",
			Fields: []plan.FieldChange{{Path: "data.k", Old: `"hand"`, New: `"v"`}}},
	} {
		if got := objectWhy(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A problem of an instance as a whole says what is wrong, and where.
func TestProblemWithoutObject(t *testing.T) {
	p := fleetplan.Problem{Instance: "app", Status: health.Status{State: health.Failed, Reason: "invalid value",
		Details: []string{"shop.yaml:11:9: values.message: invalid value"}}}
	groups := problemGroups(&fleetplan.Outcome{Clusters: []fleetplan.ClusterOutcome{
		{Cluster: "a", Result: fleetplan.Failed, Problems: []fleetplan.Problem{p}}, {Cluster: "b", Result: fleetplan.Failed, Problems: []fleetplan.Problem{p}}}})
	var b bytes.Buffer
	o := newOut(&b, wideStyle)
	for _, g := range groups {
		g.write(o)
	}
	if err := o.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "  a, b: shop.yaml:11:9: values.message: invalid value\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
