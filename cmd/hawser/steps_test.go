package main

import (
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testfleet"
)

// stepsFleet has a wave with a canary that soaks, and one after it.
const stepsFleet = `fleet:
  apiVersion: v1alpha1
  name: $B
  clusters:
    production-eu: {group: first, kubeContext: production-eu}
    production-us: {group: first, kubeContext: production-us}
    staging: {group: last, kubeContext: staging}
  rollout:
    waves:
    - {groups: [first], canary: 1, soak: 3s}
    - {groups: [last]}
`

// TestPipelineInSteps: the step of a pipeline after the one that delivered the first wave goes on as the whole rollout would,
// without another soak.
func TestPipelineInSteps(t *testing.T) {
	t.Parallel()
	b, ns := newBench(t), testfleet.Get().Namespace(t, clusters...)
	b.write("fleet.yaml", strings.ReplaceAll(stepsFleet, "$B", ns))
	b.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: "+ns+", instances: {app: {namespace: "+ns+", manifests: {paths: [app.yaml]}}}}\n")
	b.write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: v}\n")
	early := b.want(5, "plan", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--group", "last")
	if all := early.Stdout + early.Stderr; !strings.Contains(all, "+ ConfigMap "+ns+"/app") || strings.Count(all, "leaves out wave 1") != 1 {
		t.Errorf("the plan of a later wave: %s", early)
	}
	first := b.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y", "--until-wave", "1")
	if !strings.Contains(first.Stdout+first.Stderr, "Applied "+ns+" on 2 of 3 clusters, up to wave 1, in ") {
		t.Errorf("%s", first)
	}
	b.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y", "--group", "last")
	// one release, done in two steps
	shown := b.want(0, "history", ns, "--fleet", "fleet.yaml", "-o", "json")
	if n := strings.Count(shown.Stdout, `"release": 1,`); n == 0 || strings.Contains(shown.Stdout, `"release": 2,`) {
		t.Errorf("%s", shown)
	}
	b.want(0, "history", "show", "1", "--bundle", ns, "--fleet", "fleet.yaml")
}

// TestLockOnALaterCluster: another run's lock on a cluster of the last wave refuses a run before the first wave is written.
func TestLockOnALaterCluster(t *testing.T) {
	t.Parallel()
	b, ns := newBench(t), testfleet.Get().Namespace(t, clusters...)
	b.write("fleet.yaml", strings.NewReplacer("$B", ns, "soak: 3s", "soak: 1s").Replace(stepsFleet))
	b.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: "+ns+", instances: {app: {namespace: "+ns+", manifests: {paths: [app.yaml]}}}}\n")
	b.write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: v}\n")
	apply := []string{"apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y"}
	b.want(0, apply...)
	b.write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: w}\n")
	leases := kubernetes.NewForConfigOrDie(testfleet.Get().RESTConfig("staging")).CoordinationV1().Leases(object.SystemNamespace)
	holder, seconds, at := "alice pid 7", int32(60), metav1.NowMicro()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "hawser-" + object.OwnerID("", "", ns)},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &at, RenewTime: &at}}
	if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r := b.want(5, apply...)
	_, said, _ := strings.Cut(r.Stderr, "Error: ")
	if strings.Count(said, "staging") != 1 || !strings.Contains(said, "locked by alice pid 7") || !strings.Contains(said, "wait until that run has ended") {
		t.Errorf("%s", r)
	}
	eu, err := kubernetes.NewForConfigOrDie(testfleet.Get().RESTConfig("production-eu")).CoreV1().ConfigMaps(ns).Get(t.Context(), "app", metav1.GetOptions{})
	if err != nil || eu.Data["k"] != "v" {
		t.Errorf("the first wave was written: %v %v", eu.Data, err)
	}
	if err := leases.Delete(t.Context(), lease.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	b.want(0, apply...)
}
