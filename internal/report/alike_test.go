package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/group"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// foreign is a refused plan of so many objects of a Helm release, one of them with a field that somebody else owns.
func foreign(n int) *fleetplan.FleetPlan {
	p := &fleetplan.FleetPlan{Bundle: "shop", Verb: "apply", Clusters: []*fleetplan.ClusterPlan{{Cluster: "one", Plan: &plan.Plan{}}}}
	for i := range n {
		ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("app-%02d", i)}
		p.Clusters[0].Plan.Changes = append(p.Clusters[0].Plan.Changes, plan.Change{Action: plan.Conflict, Code: plan.CodeForeign, Ref: ref,
			Instance: "api", Why: "exists already, managed by Helm release shop/api"})
		f := diag.Errorf("foreign-owner", "the object is owned by somebody else")
		f.Object, f.Instance, f.Cluster, f.Pos = ref.String(), "api", "one", diag.Pos{File: "none/app.yaml", Line: 3 * i, Column: 1}
		f.Why, f.Fix = "exists already, managed by Helm release shop/api", "rename ours, remove theirs, or take it over with --adopt"
		p.Findings = append(p.Findings, f)
	}
	scaled := plan.Change{Action: plan.Conflict, Code: plan.CodeFields, Ref: object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "scaled"}, Instance: "api",
		Fields: []plan.FieldChange{{Path: "data.x", Old: "1", New: "2", Manager: "kubectl"}}}
	p.Clusters[0].Plan.Changes = append(p.Clusters[0].Plan.Changes, scaled)
	f := diag.Errorf("field-conflict", "fields of the object are owned by somebody else")
	f.Object, f.Cluster, f.Why = scaled.Ref.String(), "one", "data.x (owned by kubectl)"
	p.Findings = append(p.Findings, f)
	p.Groups = group.Equal([]group.Member{{Cluster: "one", Plan: p.Clusters[0].Plan}})
	return p
}

// TestConflictsOnceAndGrouped: 23 objects of somebody else are a line each, with what is the same of all of them said
// once; only a conflict whose fields tell more is shown among the changes too.
func TestConflictsOnceAndGrouped(t *testing.T) {
	got := text(t, func(b *bytes.Buffer) error { return Plan(b, foreign(23), wideStyle) })
	if n := strings.Count(got, "\n"); n > 45 {
		t.Errorf("%d lines:\n%s", n, got)
	}
	for want, times := range map[string]int{
		"the object is owned by somebody else (23 objects)": 1, "  ConfigMap shop/app-07 (none/app.yaml:21)\n": 1, "app-11": 1,
		"Why: exists already, managed by Helm release shop/api": 1, "--adopt": 1, "  instance api, cluster one\n": 1,
		"data.x (owned by kubectl)": 1, "! ConfigMap shop/scaled": 1, "! ": 1, "refused, 24 problems": 1,
	} {
		if n := strings.Count(got, want); n != times {
			t.Errorf("%q is there %d times, want %d", want, n, times)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	for _, st := range []Style{wideStyle, narrowStyle} {
		if one := text(t, func(b *bytes.Buffer) error { return Findings(b, foreign(1).Findings[:1], st) }); strings.Contains(one, "objects)") {
			t.Errorf("a single one is grouped:\n%s", one)
		}
	}
}

// TestGroupedReasons: reasons and instances that differ stand with their object; findings about fields, of other clusters
// and with another way out are not put together.
func TestGroupedReasons(t *testing.T) {
	of := func(object, instance, why string) diag.Finding {
		return diag.Finding{Severity: diag.Error, Code: "field-conflict", What: "fields are owned by somebody else", Object: object,
			Instance: instance, Why: why, Fix: "take them over"}
	}
	a, b, c := of("ConfigMap x/a", "one", "data.a (owned by k)"), of("ConfigMap x/b", "two", "data.b (owned by k)"), of("ConfigMap x/c", "one", "")
	c.Cluster = "elsewhere"
	field := of("ConfigMap x/d", "one", "")
	field.Path = "data.x"
	other := of("ConfigMap x/e", "one", "")
	other.Fix = "something else"
	got := text(t, func(w *bytes.Buffer) error { return Findings(w, diag.Findings{a, b, c, field, other}, wideStyle) })
	for _, want := range []string{"somebody else (2 objects)\n  ConfigMap x/a, instance one: data.a (owned by k)\n  ConfigMap x/b, instance two: data.b (owned by k)\n  Fix: take them over\n",
		"\n  ConfigMap x/c, instance one, cluster elsewhere\n", "\n  data.x\n", "Fix: something else"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
