package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

const autoscaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: api, namespace: NS}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}
  minReplicas: 1
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`

const dotted = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NS, annotations: {example.com/note.a: ours}, labels: {example.com/part.b: ours}}
data: {app.yaml: ours, mode: a}
`

// Keys with a dot are fields like others: what somebody changed of ours is taken back, and is no conflict.
func TestKeysWithDotsAreOurs(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, dotted)...)
	patch(t, "kubectl-edit", configMaps, ns, "settings",
		`{"data": {"app.yaml": "theirs"}, "metadata": {"annotations": {"example.com/note.a": "theirs"}, "labels": {"example.com/part.b": "theirs"}}}`)
	changed := strings.Replace(dotted, "mode: a", "mode: b", 1)
	p, bodies := b.plan(t, s, objs(t, ns, changed))
	ch := only(t, p)
	var paths []string
	for _, f := range ch.Fields {
		paths = append(paths, f.Path+" "+f.Manager)
	}
	want := []string{`data."app.yaml" kubectl-edit`, "data.mode ", `metadata.annotations."example.com/note.a" kubectl-edit`, `metadata.labels."example.com/part.b" kubectl-edit`}
	if ch.Action != plan.Update || !ch.Force || !ch.Checked || !slices.Equal(paths, want) {
		t.Fatalf("%q %+v %v", paths, ch, p.Findings)
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	if got := data(t, ns, "settings"); got != "map[app.yaml:ours mode:b]" {
		t.Errorf("data %s", got)
	}
	b.unchanged(t, s, objs(t, ns, changed)...)
}

// A field inside a list of ours that another manager brought is not ours because the list is.
func TestFieldsOfOthersInKeyedListsAreNotTaken(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.apply(t, s, objs(t, ns, scaled)...)
	theirs := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: NS}
spec: {template: {spec: {containers: [{name: api, env: [{name: REGION, value: theirs}], workingDir: /theirs}]}}}`
	foreignApply(t, "injector", "deployments", false, objs(t, ns, theirs)[0])
	want := strings.Replace(scaled, "image:", "workingDir: /ours, env: [{name: REGION, value: ours}], image:", 1)
	p, bodies := b.plan(t, s, objs(t, ns, want))
	ch := only(t, p)
	if ch.Action != plan.Conflict || !strings.Contains(ch.Why, "containers[api].workingDir (owned by injector)") || !strings.Contains(ch.Why, "env[REGION].value (owned by injector)") {
		t.Fatalf("%+v", ch)
	}
	b.execute(t.Context(), s, p, bodies)
	list, _, _ := unstructured.NestedSlice(get(t, deployments, ns, "api").Object, "spec", "template", "spec", "containers")
	if dir := list[0].(map[string]any)["workingDir"]; dir != "/theirs" {
		t.Errorf("taken by force: %v", dir)
	}
	b.opts.Adopt = true // taken over on purpose
	b.apply(t, s, objs(t, ns, want)...)
	list, _, _ = unstructured.NestedSlice(get(t, deployments, ns, "api").Object, "spec", "template", "spec", "containers")
	if dir := list[0].(map[string]any)["workingDir"]; dir != "/ours" {
		t.Errorf("not taken over: %v", dir)
	}
}

func setReplicas(t *testing.T, manager, ns string, n int, sub ...string) {
	t.Helper()
	patch(t, manager, deployments, ns, "api", fmt.Sprintf(`{"spec":{"replicas":%d}}`, n), sub...)
}

// A person's kubectl scale is drift: shown with who, and put back. What follows it does not end in a conflict.
func TestReplicasOfAPersonArePutBack(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.apply(t, s, objs(t, ns, scaled)...)
	setReplicas(t, "kubectl-scale", ns, 5, "scale")
	p, bodies := b.plan(t, s, objs(t, ns, scaled))
	ch := only(t, p)
	if ch.Code != plan.CodeDrift || len(ch.Fields) != 1 || ch.Fields[0].Path != "spec.replicas" || ch.Fields[0].Manager != "kubectl-scale" || len(ch.OmitFields) != 0 {
		t.Fatalf("%+v", ch)
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	if n := replicas(t, ns); n != 2 {
		t.Errorf("replicas %d", n)
	}
	b.unchanged(t, s, objs(t, ns, scaled)...)
	// scaled, patched, and then a new image: the plan shows what it takes back, and the apply does it
	setReplicas(t, "kubectl-scale", ns, 5, "scale")
	setReplicas(t, "kubectl-patch", ns, 7)
	next := strings.Replace(scaled, "api:1", "api:2", 1)
	p, bodies = b.plan(t, s, objs(t, ns, next))
	if ch := only(t, p); !strings.Contains(ch.Why, "takes back spec.replicas from kubectl-patch") || !ch.Checked || len(ch.Fields) != 2 {
		t.Fatalf("%+v", ch)
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	if n := replicas(t, ns); n != 2 {
		t.Errorf("replicas %d", n)
	}
	b.unchanged(t, s, objs(t, ns, next)...)
	// to 0 the field has no owner: it is put back all the same
	setReplicas(t, "kubectl-scale", ns, 0, "scale")
	b.apply(t, s, objs(t, ns, next)...)
	if n := replicas(t, ns); n != 2 {
		t.Errorf("replicas %d", n)
	}
}

// Replicas ceded to an autoscaler are ours again when it is gone, and stay with KEDA, also at zero.
func TestReplicasFollowTheAutoscaler(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.apply(t, s, objs(t, ns, scaled)...)
	hpa := objs(t, ns, autoscaler)[0]
	foreignApply(t, "somebody", "horizontalpodautoscalers", false, hpa)
	setReplicas(t, "kube-controller-manager", ns, 4, "scale")
	b.apply(t, s, objs(t, ns, scaled)...) // nothing but the record learns
	b.unchanged(t, s, objs(t, ns, scaled)...)
	next := strings.Replace(scaled, "api:1", "api:2", 1)
	b.apply(t, s, objs(t, ns, next)...)
	if n := replicas(t, ns); n != 4 {
		t.Fatalf("replicas %d, want the autoscaler's", n)
	}
	if err := others(t).Resource(schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}).
		Namespace(ns).Delete(t.Context(), "api", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	p, bodies := b.plan(t, s, objs(t, ns, next))
	if ch := only(t, p); ch.Code != plan.CodeDrift || len(ch.Fields) != 1 {
		t.Fatalf("%+v", ch)
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	if n := replicas(t, ns); n != 2 {
		t.Errorf("replicas %d", n)
	}
	setReplicas(t, "keda-operator", ns, 3, "scale")
	b.unchanged(t, s, objs(t, ns, next)...)
	b.apply(t, s, objs(t, ns, scaled)...)
	if n := replicas(t, ns); n != 3 {
		t.Errorf("replicas %d, want KEDA's", n)
	}
	hpa.Unstructured().SetName("keda-hpa-api")
	foreignApply(t, "keda-operator", "horizontalpodautoscalers", false, hpa)
	setReplicas(t, "keda-operator", ns, 0, "scale")
	b.unchanged(t, s, objs(t, ns, scaled)...)
	b.apply(t, s, objs(t, ns, next)...)
	if n := replicas(t, ns); n != 0 {
		t.Errorf("replicas %d, want KEDA's", n)
	}
}

// Where autoscalers may not be listed, the field manager tells.
func TestAutoscalersThatMayNotBeListed(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.apply(t, s, objs(t, ns, scaled)...)
	grant(t, ns, "no-autoscalers", "get, list, patch")
	user := asUser(t, "no-autoscalers")
	for manager, want := range map[string]string{"kube-controller-manager": "kube-controller-manager", "kubectl-scale": ""} {
		setReplicas(t, manager, ns, 3, "scale")
		setReplicas(t, manager, ns, 4, "scale")
		obs, _ := user.Observe(t.Context(), cluster.ObserveRequest{Owner: b.owner(), Inventory: b.owned})
		if got := obs.Live[b.owned[0].Ref].Autoscaler; got != want {
			t.Errorf("%s: %q", manager, got)
		}
	}
}

// Dropped replicas are handed over; declared again they are ours, also when they change.
func TestReplicasDeclaredAgain(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	without := strings.Replace(scaled, "  replicas: 2\n", "", 1)
	b.apply(t, s, objs(t, ns, scaled)...)
	for _, n := range []string{"3", "3", "4"} {
		b.apply(t, s, objs(t, ns, without)...)
		b.unchanged(t, s, objs(t, ns, without)...)
		now := strings.Replace(scaled, "replicas: 2", "replicas: "+n, 1)
		b.apply(t, s, objs(t, ns, now)...)
		if got := replicas(t, ns); fmt.Sprint(got) != n {
			t.Errorf("replicas %d, want %s", got, n)
		}
		b.unchanged(t, s, objs(t, ns, now)...)
		later := strings.Replace(scaled, "replicas: 2", "replicas: 6", 1) // with the handover manager beside us
		b.apply(t, s, objs(t, ns, later)...)
		b.unchanged(t, s, objs(t, ns, later)...)
	}
}

// Keys that are dropped go also when somebody stripped the managed fields: in the next apply or in a later one. What
// others put there stays.
func TestDroppedKeysGoWithStrippedManagedFields(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	for _, repaired := range []bool{false, true} {
		for _, diff := range []bool{false, true} {
			t.Run(fmt.Sprintf("repaired %v, fields %v", repaired, diff), func(t *testing.T) {
				ns := f.Namespace(t, one)
				b := newBundle(t)
				b.opts.Diff = diff
				b.apply(t, s, objs(t, ns, dotted)...)
				patch(t, "kubectl-edit", configMaps, ns, "settings", `{"data":{"theirs":"x"}}`)
				patch(t, "kubectl-edit", configMaps, ns, "settings", `{"metadata":{"managedFields":[{}]}}`)
				if repaired {
					b.apply(t, s, objs(t, ns, dotted)...)
					b.unchanged(t, s, objs(t, ns, dotted)...)
				}
				dropped := strings.NewReplacer("app.yaml: ours, mode: a", "mode: b", ", labels: {example.com/part.b: ours}", "").Replace(dotted)
				p, bodies := b.plan(t, s, objs(t, ns, dropped))
				var gone []string
				for _, fc := range only(t, p).Fields {
					if fc.Old != "" && fc.New == "" {
						gone = append(gone, fc.Path)
					}
				}
				if !slices.Equal(gone, []string{`data."app.yaml"`, `metadata.labels."example.com/part.b"`}) {
					t.Errorf("the plan shows %q: %+v", gone, p.Changes[0])
				}
				mustOK(t, b.execute(t.Context(), s, p, bodies))
				live := get(t, configMaps, ns, "settings")
				if got := data(t, ns, "settings"); got != "map[mode:b theirs:x]" || live.GetLabels()["example.com/part.b"] != "" {
					t.Errorf("%s %v", got, live.GetLabels())
				}
				b.unchanged(t, s, objs(t, ns, dropped)...)
			})
		}
	}
}
