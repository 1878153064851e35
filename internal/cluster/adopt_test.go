package cluster_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

func managedFields(t *testing.T, u *unstructured.Unstructured) string {
	t.Helper()
	data, err := json.Marshal(u.GetManagedFields())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// helms is an object as Helm 3 wrote it.
func helms(t *testing.T, gvr schema.GroupVersionResource, ns, text string) {
	t.Helper()
	u := objs(t, ns, text)[0].Unstructured()
	u.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "api", "meta.helm.sh/release-namespace": ns})
	if _, err := others(t).Resource(gvr).Namespace(ns).Create(t.Context(), u, metav1.CreateOptions{FieldManager: "helm"}); err != nil {
		t.Fatal(err)
	}
}

// An object to adopt whose immutable field differs is found before anything is written, and recreated when that is
// allowed.
func TestAdoptWithAnImmutableFieldThatDiffers(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	helms(t, deployments, ns, strings.ReplaceAll(scaled, "app: api", "app: theirs"))
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.opts.Adopt = true
	before := get(t, deployments, ns, "api")
	p, _ := b.plan(t, s, objs(t, ns, scaled))
	if ch := only(t, p); ch.Action != plan.Recreate || !hasFinding(p.Findings, "immutable") || !strings.Contains(ch.Why, "Helm release") ||
		!slices.ContainsFunc(ch.Fields, func(f plan.FieldChange) bool { return f.Path == "spec.selector.matchLabels.app" }) {
		t.Fatalf("%+v %v", ch, p.Findings)
	}
	// a plan that does not know it (made before the field changed) changes nothing of the former owner either
	blind := *p
	blind.Findings, blind.Changes = nil, slices.Clone(p.Changes)
	blind.Changes[0].Action, blind.Changes[0].Force = plan.Adopt, true
	_, bodies := b.plan(t, s, objs(t, ns, scaled))
	r := b.execute(t.Context(), s, &blind, bodies)
	after := get(t, deployments, ns, "api")
	if len(r.Problems) != 1 || entryOf(t, before, "helm") != entryOf(t, after, "helm") || entryOf(t, after, "hawser:") != "" || after.GetAnnotations()["meta.helm.sh/release-name"] == "" {
		t.Fatalf("half taken: %v\n%s\n%s", r.Problems, managedFields(t, before), managedFields(t, after))
	}
	b.owned = nil
	b.opts.Recreate = true
	b.apply(t, s, objs(t, ns, scaled)...)
	b.opts.Adopt, b.opts.Recreate = false, false
	b.unchanged(t, s, objs(t, ns, scaled)...)
	if get(t, deployments, ns, "api").GetUID() == before.GetUID() {
		t.Error("not recreated")
	}
}

// entryOf is what a manager (by the start of its name) owns, "" when nothing.
func entryOf(t *testing.T, u *unstructured.Unstructured, manager string) string {
	t.Helper()
	out := ""
	for _, e := range u.GetManagedFields() {
		if strings.HasPrefix(e.Manager, manager) && e.Subresource == "" {
			out += string(e.Operation) + " " + string(e.FieldsV1.GetRawBytes()) + "\n"
		}
	}
	return out
}

const testJob = `
apiVersion: batch/v1
kind: Job
metadata: {name: test, namespace: NS, annotations: {PREFIX/force: enabled}}
spec:
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: t, image: "registry.example/t:1"}]}}
`

// A test Job with the force annotation is recreated without a flag: adopted, and when its image changes, with and
// without field changes shown.
func TestForceAnnotationRecreates(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	jobs := schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	for _, prefix := range []string{"action.timoni.sh", "hawser.dev"} {
		for _, diff := range []bool{true, false} {
			t.Run(prefix, func(t *testing.T) {
				ns := f.Namespace(t, one)
				text := strings.Replace(testJob, "PREFIX", prefix, 1)
				foreignApply(t, "timoni", "jobs", false, objs(t, ns, strings.Replace(text, "t:1", "t:0", 1))[0])
				b := newBundle(t)
				b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
				b.opts.Diff, b.opts.Adopt = diff, true
				for _, image := range []string{"t:1", "t:2"} {
					uid := get(t, jobs, ns, "test").GetUID()
					now := objs(t, ns, strings.Replace(text, "t:1", image, 1))
					if r := b.apply(t, s, now...); r.Done.Recreate != 1 || get(t, jobs, ns, "test").GetUID() == uid {
						t.Fatalf("%s: %+v", image, r.Done)
					}
					b.unchanged(t, s, now...)
					b.opts.Adopt = false
				}
			})
		}
	}
}

// What only the former owner had goes, also where it does not go together with ours, in a list of keys or of values.
func TestAdoptTakesTheWholeOfTheFormerOwner(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	const containers = `{containers: [{name: api, image: "registry.example/api:1"}]}`
	theirs := strings.Replace(scaled, containers, `
      containers:
      - {name: api, image: "registry.example/api:1", env: [{name: A, value: theirs}, {name: B, value: theirs}], ports: [{containerPort: 80}, {containerPort: 81}], volumeMounts: [{name: v, mountPath: /v}]}
      - {name: sidecar, image: "registry.example/sidecar:1"}
      volumes: [{name: v, emptyDir: {}}]`, 1)
	helms(t, deployments, ns, theirs)
	patch(t, "mesh-injector", deployments, ns, "api", `{"spec":{"template":{"metadata":{"annotations":{"mesh.example/injected":"yes"}}}}}`)
	ours := strings.Replace(scaled, containers, `
      containers:
      - {name: api, image: "registry.example/api:1", env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], ports: [{containerPort: 80}], volumeMounts: [{name: v, mountPath: /v}]}
      volumes: [{name: v, configMap: {name: v}}]`, 1)
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.opts.Adopt = true
	p, bodies := b.plan(t, s, objs(t, ns, ours))
	ch := only(t, p)
	gone := func(path string) bool {
		return slices.ContainsFunc(ch.Fields, func(f plan.FieldChange) bool { return strings.HasPrefix(f.Path, path) && f.New == "" && f.Old != "" })
	}
	if ch.Action != plan.Adopt || !ch.Checked || !gone("spec.template.spec.containers[sidecar]") || !gone("spec.template.spec.containers[api].env[B]") {
		t.Fatalf("%+v %v", ch, p.Findings)
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	live := get(t, deployments, ns, "api")
	spec, _, _ := unstructured.NestedMap(live.Object, "spec", "template", "spec")
	list := spec["containers"].([]any)
	api := list[0].(map[string]any)
	volume := spec["volumes"].([]any)[0].(map[string]any)
	if len(list) != 1 || len(api["env"].([]any)) != 1 || len(api["ports"].([]any)) != 1 || volume["emptyDir"] != nil || volume["configMap"] == nil {
		t.Errorf("%v", spec)
	}
	if notes, _, _ := unstructured.NestedStringMap(live.Object, "spec", "template", "metadata", "annotations"); notes["mesh.example/injected"] != "yes" {
		t.Errorf("a third party's field is gone: %v", notes)
	}
	if entryOf(t, live, "helm") != "" || strings.Count(entryOf(t, live, "hawser:"), "\n") != 1 {
		t.Errorf("%s", managedFields(t, live))
	}
	b.opts.Adopt = false
	b.unchanged(t, s, objs(t, ns, ours)...)
}

// Adopting takes nothing of third parties, and never finalizers.
func TestAdoptLeavesThirdParties(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	helms(t, configMaps, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS, finalizers: [example.com/hold]}\ndata: {x: theirs, y: theirs}")
	defer func() { patch(t, "cleanup", configMaps, ns, "a", `{"metadata":{"finalizers":null}}`) }()
	patch(t, "cainjector", configMaps, ns, "a", `{"data":{"ca.crt":"injected"}}`)
	patch(t, "kubectl-edit", configMaps, ns, "a", `{"data":{"x":"edited"}}`)
	b := newBundle(t)
	b.opts.Adopt = true
	p, _ := b.plan(t, s, objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {x: ours, ca.crt: placeholder}"))
	if ch := only(t, p); ch.Action != plan.Conflict || !strings.Contains(ch.Why, `data."ca.crt" (owned by cainjector)`) || strings.Contains(ch.Why, "kubectl") {
		t.Fatalf("%+v", ch)
	}
	text := objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {x: ours}")
	p, bodies := b.plan(t, s, text)
	if err := p.Findings.Err(); err != nil {
		t.Fatal(err)
	}
	patch(t, "status-writer", configMaps, ns, "a", `{"metadata":{"annotations":{"seen":"yes"}}}`) // moved, and nothing of ours
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	live := get(t, configMaps, ns, "a")
	if got := data(t, ns, "a"); got != "map[ca.crt:injected x:ours]" || !slices.Equal(live.GetFinalizers(), []string{"example.com/hold"}) {
		t.Errorf("%s %v", got, live.GetFinalizers())
	}
	b.opts.Adopt = false
	b.unchanged(t, s, text...)
	b.apply(t, s, objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {x: later}")...)
	if live := get(t, configMaps, ns, "a"); len(live.GetFinalizers()) != 1 || data(t, ns, "a") != "map[ca.crt:injected x:later]" {
		t.Errorf("%v", live.Object)
	}
}

// What the owner changes between plan and apply was in no plan: it is neither overwritten nor removed.
func TestAdoptIsStaleWhenTheOwnerChangedIt(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	helms(t, configMaps, ns, strings.ReplaceAll(cmA, "ours", "theirs"))
	b := newBundle(t)
	b.opts.Adopt = true
	p, bodies := b.plan(t, s, objs(t, ns, cmA))
	time.Sleep(1100 * time.Millisecond) // managed fields count seconds
	patch(t, "helm", configMaps, ns, "a", `{"data":{"x":"edited","only":"here"}}`)
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 || !isStale(r.Problems[0].Err) || !strings.Contains(r.Problems[0].Status.Reason, "its owner has changed it since") {
		t.Fatalf("%+v", r.Problems)
	}
	if got := data(t, ns, "a"); got != "map[only:here w:theirs x:edited]" {
		t.Errorf("data %s", got)
	}
}

// What a third party takes between plan and apply is not taken from it.
func TestAdoptIsStaleWhenAThirdPartyCame(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	helms(t, configMaps, ns, strings.ReplaceAll(cmA, "ours", "theirs"))
	b := newBundle(t)
	b.opts.Adopt = true
	p, bodies := b.plan(t, s, objs(t, ns, cmA))
	patch(t, "injector", configMaps, ns, "a", `{"data":{"x":"injected"}}`)
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 || !isStale(r.Problems[0].Err) || !strings.Contains(r.Problems[0].Status.Reason, "injector has taken data.x") {
		t.Fatalf("%+v", r.Problems)
	}
	if got := data(t, ns, "a"); got != "map[w:theirs x:injected]" {
		t.Errorf("data %s", got)
	}
}

// Replicas that an autoscaler sets stay with it when the object is adopted.
func TestAdoptLeavesReplicasToTheAutoscaler(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	helms(t, deployments, ns, scaled)
	foreignApply(t, "helm", "horizontalpodautoscalers", false, objs(t, ns, autoscaler)[0])
	setReplicas(t, "kube-controller-manager", ns, 4, "scale")
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.opts.Adopt = true
	b.apply(t, s, objs(t, ns, scaled)...)
	if n := replicas(t, ns); n != 4 {
		t.Errorf("replicas %d", n)
	}
	b.opts.Adopt = false
	b.unchanged(t, s, objs(t, ns, scaled)...)
}

// The object to adopt has its environment in another order, and an entry that we do not declare: the password it has, which
// nobody told us, is hidden as ours is, and what stands beside it is shown.
func TestAdoptHidesSecretsInListsOfOtherOrder(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	workload := func(env string) string { return strings.Replace(scaled, "image:", "env: ["+env+"], image:", 1) }
	helms(t, deployments, ns, workload("{name: ADDED, value: by hand}, {name: LEVEL, value: debug}, {name: PASSWORD, value: hunter2-theirs}"))
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.opts.Adopt = true
	ours := objs(t, ns, workload("{name: PASSWORD, value: hunter2-ours}, {name: LEVEL, value: info}"))
	for i, o := range ours {
		ours[i].Sensitive = object.SensitivePaths(o.Body, func(s string) bool { return s == "hunter2-ours" })
	}
	p, _ := b.plan(t, s, ours)
	ch, hidden, level := only(t, p), false, false
	for _, f := range ch.Fields {
		if strings.Contains(f.Path+f.Old+f.New, "hunter2") {
			t.Errorf("shown: %+v", f)
		}
		hidden = hidden || strings.HasSuffix(f.Path, "env[PASSWORD].value") && f.Hidden
		level = level || strings.HasSuffix(f.Path, "env[LEVEL].value") && f.Old == `"debug"` && f.New == `"info"`
	}
	if ch.Action != plan.Adopt || !hidden || !level {
		t.Errorf("%s: %+v", ch.Action, ch.Fields)
	}
}

// A former owner that wrote without apply (Helm 3, kubectl) owns the server's defaults too. They come back when its fields
// go: the plan of an adoption shows what the object will be, what is lost and what changes, and nothing else.
func TestAdoptShowsNoDefaultsAsLost(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	helms(t, deployments, ns, strings.NewReplacer("  replicas: 2\n", "  replicas: 2\n  minReadySeconds: 5\n  revisionHistoryLimit: 3\n",
		"[{name: api, ", "[{name: api, imagePullPolicy: Always, workingDir: /srv, ").Replace(scaled))
	service := "apiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: NS}\nspec: {selector: {app: api}, ports: [{port: 80}]}"
	helms(t, schema.GroupVersionResource{Version: "v1", Resource: "services"}, ns, service)
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.opts.Adopt = true
	p, bodies := b.plan(t, s, objs(t, ns, scaled+"---\n"+service))
	var got []string
	for _, ch := range p.Changes {
		for _, f := range ch.Fields {
			if !strings.HasPrefix(f.Path, "metadata.") {
				got = append(got, strings.Join([]string{ch.Ref.Kind, f.Path, f.Old, "->", f.New}, " "))
			}
		}
	}
	const container = "Deployment spec.template.spec.containers[api]."
	want := []string{"Deployment spec.minReadySeconds 5 -> ", "Deployment spec.revisionHistoryLimit 3 -> 10",
		container + `imagePullPolicy "Always" -> "IfNotPresent"`, container + `workingDir "/srv" -> `}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("shown:\n%s", strings.Join(got, "\n"))
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	live := get(t, deployments, ns, "api").Object
	limit, _, _ := unstructured.NestedInt64(live, "spec", "revisionHistoryLimit")
	if _, there, _ := unstructured.NestedInt64(live, "spec", "minReadySeconds"); there || limit != 10 {
		t.Errorf("done is something else: %v", live["spec"])
	}
}
