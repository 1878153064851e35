package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
)

const brokenFleet = `fleet:
  apiVersion: v1alpha1
  name: broken
  clusters:
    engine: {group: a, kubeContext: engine}
    late: {group: a, kubeContext: expired}
    bare: {group: b, kubeContext: plugin}
`

// A credential that has expired and a plug-in that is not installed are the matter of their clusters: the plan is made for
// the others, --skip-unreachable goes on without them, and status of the others works.
func TestDeniedClusters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", brokenFleet)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	req := r.request()
	fp := r.plan(req)
	why := map[string]string{}
	for _, cp := range fp.Clusters {
		why[cp.Cluster] = cp.Unreachable
	}
	if why["engine"] != "" || !strings.Contains(why["late"], "Unauthorized") || !strings.Contains(why["bare"], `"no-such-plugin"`) {
		t.Fatalf("%q", why)
	}
	out, err := r.Apply(t.Context(), fp, req)
	if !errors.Is(err, fleetplan.ErrRefused) || !strings.Contains(out.Findings[0].Fix, "--skip-unreachable") || !strings.Contains(out.Findings[0].Why, "Unauthorized") {
		t.Fatalf("without a word: %v, %+v", err, out.Findings)
	}
	req.SkipUnreachable = true
	out, err = r.apply(req)
	if !errors.Is(err, fleetplan.ErrPartial) || out.Clusters[0].Result != fleetplan.Succeeded || out.Clusters[1].Result != fleetplan.Unreachable {
		t.Fatalf("skipped: %v, %+v", err, out)
	}
	docs(&req).Files, req.Bundle = nil, r.name
	status, err := r.Status(t.Context(), req)
	if !errors.Is(err, fleetplan.ErrPartial) || len(status.Clusters) != 3 || status.Clusters[0].Phase != "succeeded" || status.Clusters[1].Unreachable == "" {
		t.Errorf("status: %v, %+v", err, status)
	}
}

// Where no cluster lets us in it is an error, said of all of them at once.
func TestDeniedEverywhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", `fleet:
  apiVersion: v1alpha1
  name: broken
  clusters: {one: {group: a, kubeContext: plugin}, two: {group: a, kubeContext: plugin}, three: {group: a, kubeContext: expired}}
`)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	_, err := r.Plan(t.Context(), r.request())
	var fe *diag.FindingsError
	if !errors.As(err, &fe) || len(fe.Findings) != 3 {
		t.Fatalf("%v", err)
	}
	if a, b := fe.Findings[0], fe.Findings[1]; a.Code != "no-credentials" || a.What != b.What || a.Pos != b.Pos || a.Why != b.Why {
		t.Errorf("not said together:\n%+v\n%+v", a, b)
	}
}

// --until-wave needs nothing of later waves: their clusters are neither resolved, connected nor required to answer.
func TestUntilWaveAsksNobodyLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", `fleet:
  apiVersion: v1alpha1
  name: waves
  clusters:
    engine: {group: a, kubeContext: engine}
    hangs: {group: b, kubeContext: silent}
    nowhere: {group: b, kubeContext: no-such-context}
  rollout: {waves: [{groups: [a]}, {groups: [b]}]}
`)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	req := r.request()
	req.UntilWave = 1
	out := r.applied(req)
	if r.asked(100 * time.Millisecond) {
		t.Error("a cluster of a later wave was asked")
	}
	if out.Result != fleetplan.Succeeded || len(out.Clusters) != 3 || !out.Clusters[1].Later || !out.Clusters[2].Later {
		t.Errorf("%+v", out)
	}
	if again := r.applied(req); again.Result != fleetplan.UpToDate || again.Rollout != "" || len(again.Clusters) != 3 {
		t.Errorf("again: %+v", again)
	}
	docs(&req).Files, req.Bundle, req.UntilWave = nil, r.name, 1 // a delete begins with the last wave
	if _, err := r.Plan(t.Context(), req.For(Delete)); err == nil || !strings.Contains(err.Error(), "no-such-context") {
		t.Errorf("delete: %v", err)
	}
}
