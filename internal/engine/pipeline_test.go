package engine

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/fleetplan"
)

// The whole pipeline in this process: a first apply makes what is declared, the next plan has nothing to do, and a
// delete takes it away again.
func TestPipeline(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	out := r.applied(r.request())
	if out.Result != fleetplan.Succeeded || out.Clusters[0].Done.Create != 2 || out.Clusters[0].Revision != 1 {
		t.Fatalf("first apply: %+v", out)
	}
	cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "app", metav1.GetOptions{})
	if err != nil || cm.Data["key"] != "one" {
		t.Fatalf("in the cluster: %v, %v", cm.Data, err)
	}
	if fp := r.plan(r.request()); !fp.settled() || fp.Stats.Renders != 0 {
		t.Errorf("second plan: %+v after %d renders", fp.Counts(), fp.Stats.Renders)
	}
	req := r.request()
	req.Bundle, docs(&req).Files = r.name, nil
	fp, err := r.Plan(t.Context(), req.For(Delete))
	if err != nil || fp.Counts().Delete != 1 {
		t.Fatalf("delete: %+v, %v", fp, err)
	}
	if _, err := r.Apply(t.Context(), fp, req); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := r.Plan(t.Context(), req.For(Delete)); err == nil {
		t.Error("a second delete finds something")
	}
}
