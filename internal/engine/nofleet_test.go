package engine

import (
	"strings"
	"testing"
)

// TestNoFleetGiven: without a fleet it is said which cluster is meant: where a fact is missing, and in status and list.
func TestNoFleetGiven(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", strings.Replace(r.bundle(r.configMap("app", "key: one")), "namespace: "+r.name, "namespace: {$cluster: labels.region}", 1))
	req := r.request()
	r.write("clusters.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters: {one: {kubeContext: "+here+"}}\n")
	_, err := r.Plan(t.Context(), req)
	if err == nil || !strings.Contains(err.Error(), "no fleet is given, so the context "+here+" (https://") || strings.Contains(err.Error(), "is null") ||
		!strings.Contains(err.Error(), "clusters.yaml looks like a fleet") {
		t.Errorf("%v", err)
	}
	docs(&req).Files, req.Bundle = nil, r.name
	report, _ := r.Status(t.Context(), req)
	if report == nil || !strings.HasPrefix(report.Clusters[0].Chosen, "the context "+here+" (https://") || !report.Nothing() {
		t.Errorf("%+v", report)
	}
	if list, err := r.List(t.Context(), req); err != nil || !list.Nothing() || list.Clusters[0].Chosen == "" || len(list.Findings) > 0 {
		t.Errorf("somebody named the context, and is warned: %v, %+v", err, list)
	}
}
