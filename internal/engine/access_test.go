package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/testserver"
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

// A context that the kubeconfig lacks is the matter of its cluster: vet, build and fleet check ask the others, and name that one alone.
func TestContextThatIsMissing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", "fleet: {apiVersion: v1alpha1, name: f, clusters: {one: {group: a, kubeContext: "+here+"}, two: {group: a, kubeContext: nowhere}}}")
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	vet, err := r.Vet(t.Context(), r.request())
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, f := range vet.Findings {
		if f.Code == "not-asked" {
			if named = append(named, f.Cluster+": "+f.Why); f.Fix == "" || f.Pos.Line != 1 {
				t.Errorf("vet: %+v", f)
			}
		}
	}
	if len(named) != 1 || !strings.HasPrefix(named[0], "two: ") || !strings.Contains(named[0], `"nowhere"`) {
		t.Errorf("vet: %q", named)
	}
	if _, err := r.Build(t.Context(), r.request()); err != nil {
		t.Errorf("build: %v", err)
	}
	req := r.request()
	docs(&req).Files = nil
	report, err := r.Check(t.Context(), req)
	if fs := diag.From(err, ""); len(fs) != 1 || fs[0].Cluster != "two" || report.Clusters[0].Version == "" || report.Clusters[0].Problem != "" || report.Clusters[1].Problem == "" {
		t.Errorf("fleet check: %v, %+v", err, report.Clusters)
	}
}

// Two clusters of a fleet that are one are told by fleet check, as by a plan.
func TestCheckTellsClustersThatAreOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("fleet.yaml", "fleet: {apiVersion: v1alpha1, name: f, clusters: {one: {group: a, kubeContext: "+here+"}, two: {group: a, kubeContext: "+here+"}}}")
	req := r.request()
	docs(&req).Files = nil
	report, err := r.Check(t.Context(), req)
	if fs := diag.From(err, ""); len(fs) != 1 || fs[0].Code != "same-cluster" || fs[0].Fix == "" || len(report.Clusters) != 2 {
		t.Errorf("%v, %+v", err, report)
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

// TestInsecureAndAway: that a cluster's certificate is not verified is said in plans of files and of records also where the cluster does
// not answer, once, and keeps nothing.
func TestInsecureAndAway(t *testing.T) {
	t.Parallel()
	s := newServed(t, "    eu: {kubeContext: eu}\n    us: {kubeContext: us}\n", func(cfg *clientcmdapi.Config) {
		cfg.Clusters["us"].CertificateAuthorityData, cfg.Clusters["us"].InsecureSkipTLSVerify = nil, true
	}, "eu", "us")
	req := s.request()
	s.applied(req)
	s.servers["us"].Fault(testserver.Cut)
	named := s.request()
	named.Bundle, docs(&named).Files = "shop", nil
	for name, req := range map[string]Request{"of files": req, "of records": named.For(Correct), "delete": named.For(Delete)} {
		fp, err := s.Plan(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var said int
		for _, f := range fp.Findings {
			if f.Code == "insecure-tls" && f.Cluster == "us" {
				said++
			}
		}
		if said != 1 || fp.Cluster("us").Unreachable == "" {
			t.Errorf("%s: %d times, %+v", name, said, fp.Findings)
		}
	}
}
