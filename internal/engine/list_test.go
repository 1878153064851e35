package engine

import (
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
)

// List reads records and no object; who may not read them is told that nobody knows.
func TestList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	req := r.request()
	req.Files, req.Bundle = nil, r.name
	got, err := r.List(t.Context(), req)
	if err != nil || len(got.Clusters) != 1 || len(got.Clusters[0].Bundles) != 1 {
		t.Fatalf("%v %+v", err, got)
	}
	b := got.Clusters[0].Bundles[0]
	if b.Revision != 1 || b.Bundle != r.name || len(b.Instances) != 1 || b.Instances[0].Source.Kind != "manifests" || len(b.Instances[0].Objects) == 0 ||
		!strings.Contains(strings.Join(b.Instances[0].Namespaces, ","), r.name) {
		t.Errorf("%+v", b)
	}
	for _, name := range []string{r.name, ""} {
		req.Bundle = name
		req.Access.Kubeconfig = shared.fleet.UserKubeconfig(t, "nobody-in-particular")
		got, err := r.List(t.Context(), req)
		if !errors.Is(err, fleetplan.ErrPartial) || len(got.Clusters) != 1 || !strings.Contains(got.Clusters[0].Unknown, "the right to") {
			t.Errorf("%q: %v, %+v", name, err, got)
		}
	}
}

// A bundle's name that is nearly one of those on the clusters is answered with that, by every verb that takes one.
func TestMeantBundle(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	req := r.request()
	req.Files, req.Bundle = nil, r.name+"x"
	planned := func(fp *Prepared, err error) error {
		if err != nil {
			return err
		}
		defer fp.Close()
		return fp.Findings.Err()
	}
	_, ofHistory := r.History(t.Context(), req)
	_, ofDiff := r.Compare(t.Context(), req, "1", "1")
	status, ofStatus := r.Status(t.Context(), req)
	if ofStatus == nil {
		t.Error("status of a bundle that is not there")
	}
	for verb, err := range map[string]error{"history": ofHistory, "history diff": ofDiff, "status": status.Findings.Err(),
		"delete": planned(r.PlanDelete(t.Context(), req)), "rollback": planned(r.PlanRollback(t.Context(), req)), "eject": planned(r.PlanEject(t.Context(), req))} {
		refused(t, verb, err, plan.CodeNotInstalled, "did you mean "+r.name+"?")
	}
}
