package engine

import (
	"errors"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
)

// List reads records and no object; who may not read them is told that nobody knows.
func TestList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	r.applied(r.request())
	req := r.request()
	docs(&req).Files, req.Bundle = nil, r.name
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
