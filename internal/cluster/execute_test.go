package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

const cmA = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {x: ours, w: ours}"

func data(t *testing.T, ns, name string) string {
	t.Helper()
	d, _, _ := unstructured.NestedStringMap(get(t, configMaps, ns, name).Object, "data")
	return fmt.Sprint(d)
}

func TestInventoryIsWrittenFromTheReplies(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	r := b.apply(t, s, objs(t, ns, twoKinds)...)
	if len(r.Inventory) != 3 || r.Done.Create != 3 {
		t.Fatalf("%+v", r)
	}
	for _, o := range r.Inventory {
		if o.UID == "" || o.ResourceVersion == "" || o.ApplyHash == "" || o.Digest == "" || o.Schema == "" || o.Instance != "app" {
			t.Errorf("incomplete: %+v", o)
		}
	}
	// dropping one prunes it
	r = b.apply(t, s, objs(t, ns, cmA)...)
	if r.Done.Delete != 2 || r.Done.Update != 1 || len(r.Inventory) != 1 {
		t.Errorf("%+v", r)
	}
	if r := b.delete(t, s); !r.OK() || len(r.Inventory) != 0 || r.Done.Delete != 1 {
		t.Errorf("%+v", r)
	}
}

func TestTwoBundlesNeverTakeEachOthersObjects(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	first, second := newBundle(t), newBundle(t)
	second.name += "-second"
	first.apply(t, s, objs(t, ns, cmA)...)
	// a plan made before the other bundle's object appeared: the create answers 409 and changes nothing
	p := &plan.Plan{Owner: second.owner(), Changes: []plan.Change{{Action: plan.Create, Ref: object.Ref{Kind: "ConfigMap", Namespace: ns, Name: "a"}, Instance: "app"}}}
	body := objs(t, ns, strings.ReplaceAll(cmA, "ours", "second"))[0].Marked(second.owner(), second.name)
	r := second.execute(t.Context(), s, p, map[object.Ref]object.Object{body.Ref(): body})
	if len(r.Problems) != 1 || !isStale(r.Problems[0].Err) {
		t.Fatalf("%+v", r)
	}
	if got := data(t, ns, "a"); got != "map[w:ours x:ours]" {
		t.Errorf("data %s", got)
	}
	first.unchanged(t, s, objs(t, ns, cmA)...)
}

func TestCreateThatFindsAnObject(t *testing.T) { // 200 instead of 201
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	p, bodies := b.plan(t, s, objs(t, ns, cmA))
	foreignApply(t, "someone", "configmaps", false, objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {z: theirs}")[0])
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 || !isStale(r.Problems[0].Err) || r.Problems[0].Written {
		t.Fatalf("%+v", r)
	}
	if got := data(t, ns, "a"); got != "map[z:theirs]" {
		t.Errorf("our fields stayed in somebody else's object: %s", got)
	}
	if labels := get(t, configMaps, ns, "a").GetLabels(); labels[object.LabelOwner] != "" {
		t.Errorf("our label stayed: %v", labels)
	}
	if len(r.Inventory) != 0 {
		t.Errorf("inventory: %+v", r.Inventory)
	}
}

func TestUpdatePreconditions(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	for _, c := range []struct {
		name, reason string
		meanwhile    func(ns string)
		stale        bool
		want         string
	}{
		{"status and foreign fields moved", "only the resourceVersion moved: goes on with the new one",
			func(ns string) { patch(t, "someone", configMaps, ns, "a", `{"data":{"z":"theirs"}}`) }, false, "map[w:ours x:new z:theirs]"},
		{"a field of ours was changed", "our entry moved: the plan is stale",
			func(ns string) { patch(t, "someone", configMaps, ns, "a", `{"data":{"x":"theirs"}}`) }, true, "map[w:ours x:theirs]"},
		{"deleted", "an apply with a uid never creates",
			func(ns string) {
				_ = others(t).Resource(configMaps).Namespace(ns).Delete(t.Context(), "a", metav1.DeleteOptions{})
			}, true, ""},
		{"replaced", "same name, other uid", func(ns string) {
			_ = others(t).Resource(configMaps).Namespace(ns).Delete(t.Context(), "a", metav1.DeleteOptions{})
			foreignApply(t, "someone", "configmaps", false, objs(t, ns, strings.ReplaceAll(cmA, "ours", "theirs"))[0])
		}, true, "map[w:theirs x:theirs]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := f.Namespace(t, one)
			b := newBundle(t)
			b.apply(t, s, objs(t, ns, cmA)...)
			p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(cmA, "x: ours", "x: new", 1)))
			c.meanwhile(ns)
			r := b.execute(t.Context(), s, p, bodies)
			if c.stale != (len(r.Problems) == 1 && isStale(r.Problems[0].Err)) || c.stale == r.OK() {
				t.Fatalf("%s: %+v", c.reason, r)
			}
			if c.want != "" && data(t, ns, "a") != c.want {
				t.Errorf("data %s, want %s", data(t, ns, "a"), c.want)
			}
		})
	}
}

func TestDeletePreconditions(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, cmA)...)
	b.opts.Deleting = true
	p, _ := b.plan(t, s, nil)
	patch(t, "someone", configMaps, ns, "a", `{"data":{"x":"theirs"}}`)
	r := b.execute(t.Context(), s, p, nil)
	if len(r.Problems) != 1 || !isStale(r.Problems[0].Err) || len(r.Inventory) != 1 {
		t.Fatalf("%+v", r)
	}
	p, _ = b.plan(t, s, nil)
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"annotations":{"hawser.dev/prune":"disabled"}}}`)
	if r := b.execute(t.Context(), s, p, nil); len(r.Problems) != 1 || !isStale(r.Problems[0].Err) || len(r.Inventory) != 1 {
		t.Fatalf("to be kept since the plan was made: %+v", r)
	}
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"annotations":{"hawser.dev/prune":null}}}`)
	p, _ = b.plan(t, s, nil)
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"annotations":{"z":"theirs"}}}`)
	if r := b.execute(t.Context(), s, p, nil); len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Status.Reason, "metadata.annotations.z was changed by someone since") || len(r.Inventory) != 1 {
		t.Fatalf("somebody who took fields of it has written more: %+v", r)
	}
	p, _ = b.plan(t, s, nil)
	patch(t, "kube-controller-manager", configMaps, ns, "a", `{"metadata":{"annotations":{"y":"1"}}}`)
	if r := b.execute(t.Context(), s, p, nil); !r.OK() || len(r.Inventory) != 0 {
		t.Fatalf("only the resourceVersion moved: %+v", r)
	}
}

// What others wrote since the plan was made is not undone, right up to the write: neither a drifted value, nor what is in an
// object that is made again. What the write does not undo, and the same value again, changes nothing.
func TestNothingUnforeseenIsUndone(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.opts.Recreate = true
	const ours = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {x: ours}\n"
	const frozen = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: rec, namespace: NS}\nimmutable: true\ndata: {x: ours}\n"
	b.apply(t, s, objs(t, ns, ours+frozen)...)
	patch(t, "alice", configMaps, ns, "a", `{"data":{"x":"alice1"}}`)
	again := objs(t, ns, ours+strings.ReplaceAll(frozen, "x: ours", "x: new"))
	p, bodies := b.plan(t, s, again)
	for _, c := range []struct{ by, name, write, back, want string }{
		{"alice", "a", `{"data":{"x":"alice2"}}`, `{"data":{"x":"alice1"}}`, "data.x was changed by alice since"},
		{"bob", "a", `{"data":{"x":null}}`, `{"data":{"x":"alice1"}}`, "data.x was removed since"},
		{"bob", "rec", `{"metadata":{"annotations":{"note":"keep"}}}`, `{"metadata":{"annotations":{"note":null}}}`, "metadata.annotations.note was changed by bob since"},
		{"carol", "a", `{"data":{"hers":"1"}}`, "", ""},
	} {
		patch(t, c.by, configMaps, ns, c.name, c.write)
		if c.want == "" {
			continue
		}
		before := get(t, configMaps, ns, c.name)
		one := *p
		one.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(ch plan.Change) bool { return ch.Ref.Name != c.name })
		owned := b.owned
		if r := b.execute(t.Context(), s, &one, bodies); len(r.Problems) != 1 || !isStale(r.Problems[0].Err) || !strings.Contains(r.Problems[0].Status.Reason, c.want) {
			t.Errorf("%s: %+v", c.write, r)
		}
		b.owned = owned
		if now := get(t, configMaps, ns, c.name); now.GetResourceVersion() != before.GetResourceVersion() || now.GetUID() != before.GetUID() {
			t.Errorf("%s: it was written", c.write)
		}
		patch(t, c.by, configMaps, ns, c.name, c.back)
	}
	if r := b.execute(t.Context(), s, p, bodies); !r.OK() {
		t.Fatalf("%+v", r)
	}
	if got := data(t, ns, "a"); got != "map[hers:1 x:ours]" {
		t.Errorf("data %s", got)
	}
}

func TestFieldConflictWithoutForce(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {x: ours}")...)
	patch(t, "kubectl-edit", configMaps, ns, "a", `{"data":{"w":"theirs"}}`)
	for _, diff := range []bool{true, false} {
		b.opts.Diff = diff
		p, _ := b.plan(t, s, objs(t, ns, cmA))
		if ch := only(t, p); ch.Action != plan.Conflict || !strings.Contains(ch.Why, "data.w (owned by kubectl-edit)") {
			t.Fatalf("%+v", ch)
		}
	}
	p, bodies := b.plan(t, s, objs(t, ns, cmA)) // what was nobody's when the plan was made
	p.Changes[0].Action = plan.Update
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Status.Reason, "kubectl-edit") {
		t.Fatalf("%+v", r)
	}
	if got := data(t, ns, "a"); got != "map[w:theirs x:ours]" {
		t.Errorf("data %s", got)
	}
}

const scaled = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: NS}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: api, image: "registry.example/api:1"}]}
`

func replicas(t *testing.T, ns string) int64 {
	t.Helper()
	n, _, _ := unstructured.NestedInt64(get(t, deployments, ns, "api").Object, "spec", "replicas")
	return n
}

func TestReplicasUnderScaleAreCeded(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	foreignApply(t, "somebody", "horizontalpodautoscalers", false, objs(t, ns, autoscaler)[0])
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, scaled)...)
	patch(t, "hpa", deployments, ns, "api", `{"spec":{"replicas":3}}`, "scale")
	b.opts.Diff = true
	p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(scaled, "api:1", "api:2", 1)))
	ch := only(t, p)
	if ch.Action != plan.Update || !slices.Equal(ch.OmitFields, []string{"spec.replicas"}) {
		t.Fatalf("%+v", ch)
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	if n := replicas(t, ns); n != 3 {
		t.Errorf("replicas %d, want those of the autoscaler", n)
	}
	b.unchanged(t, s, objs(t, ns, strings.Replace(scaled, "api:1", "api:2", 1))...)
}

func TestDroppedReplicasAreHandedOver(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, scaled)...)
	without := strings.Replace(scaled, "  replicas: 2\n", "", 1)
	p, bodies := b.plan(t, s, objs(t, ns, without))
	if ch := only(t, p); !ch.Handover {
		t.Fatalf("%+v", ch)
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	if n := replicas(t, ns); n != 2 {
		t.Errorf("replicas %d, want 2", n)
	}
	b.unchanged(t, s, objs(t, ns, without)...)
}

func TestAdopt(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	for _, c := range []struct {
		name string
		make func(ns string)
	}{
		{"kubectl create and client-side apply", func(ns string) {
			o := objs(t, ns, cmA)[0].Unstructured()
			o.SetAnnotations(map[string]string{object.LastApplied: "{}"})
			if _, err := others(t).Resource(configMaps).Namespace(ns).Create(t.Context(), o, metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"}); err != nil {
				t.Fatal(err)
			}
		}},
		{"Helm's server-side apply", func(ns string) {
			o := objs(t, ns, cmA)[0]
			o.Unstructured().SetAnnotations(map[string]string{"meta.helm.sh/release-name": "api", "meta.helm.sh/release-namespace": ns})
			foreignApply(t, "helm", "configmaps", false, o)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ns := f.Namespace(t, one)
			c.make(ns)
			b := newBundle(t)
			b.opts.Adopt = true
			text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {x: mine}"
			p, bodies := b.plan(t, s, objs(t, ns, text))
			if ch := only(t, p); ch.Action != plan.Adopt {
				t.Fatalf("%+v", ch)
			}
			mustOK(t, b.execute(t.Context(), s, p, bodies))
			b.opts.Adopt = false
			if got := data(t, ns, "a"); got != "map[x:mine]" {
				t.Errorf("data %s: what the former owner declared and we do not must go", got)
			}
			live := get(t, configMaps, ns, "a")
			if len(live.GetAnnotations()) != 0 || len(live.GetManagedFields()) != 1 {
				t.Errorf("annotations %v, managed fields %v", live.GetAnnotations(), live.GetManagedFields())
			}
			b.unchanged(t, s, objs(t, ns, text)...)
		})
	}
}

func TestImmutableFieldIsRecreatedOnDemand(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, strings.Replace(scaled, "namespace: NS", "namespace: NS, annotations: {owner: me}", 1))...)
	other := strings.ReplaceAll(scaled, "app: api", "app: other")
	b.opts.Diff = true
	p, _ := b.plan(t, s, objs(t, ns, other))
	if ch := only(t, p); ch.Action != plan.Recreate || !hasFinding(p.Findings, "immutable") || !strings.Contains(p.Findings[0].Why, "field is immutable") {
		t.Fatalf("%+v %v", ch, p.Findings)
	}
	if ch := only(t, p); !slices.ContainsFunc(ch.Fields, func(f plan.FieldChange) bool {
		return f.Path == "metadata.annotations.owner" && f.Old == `"me"` && f.New == ""
	}) {
		t.Errorf("what is declared no longer is not shown: %+v", ch.Fields)
	}
	uid := get(t, deployments, ns, "api").GetUID()
	b.opts.Recreate = true
	r := b.apply(t, s, objs(t, ns, other)...)
	if r.Done.Recreate != 1 || get(t, deployments, ns, "api").GetUID() == uid {
		t.Errorf("%+v", r.Done)
	}
	b.unchanged(t, s, objs(t, ns, other)...)
}

func TestTerminalErrorsAreNotSentAgain(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	for _, c := range []struct{ name, text string }{
		{"unknown field", strings.Replace(scaled, "replicas: 2", "replikas: 2", 1)},
		{"duplicate list keys", strings.Replace(scaled, `image: "registry.example/api:1"`, `image: x, env: [{name: A, value: "1"}, {name: A, value: "2"}]`, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBundle(t)
			p, bodies := b.plan(t, s, objs(t, ns, c.text))
			before := s.Requests()
			r := b.execute(t.Context(), s, p, bodies)
			if len(r.Problems) != 1 || s.Requests()-before != 1 {
				t.Errorf("%d requests, %+v", s.Requests()-before, r.Problems)
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	var text []string
	for i := range 20 {
		text = append(text, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%02d, namespace: NS}", i))
	}
	p, bodies := b.plan(t, s, objs(t, ns, strings.Join(text, "\n---\n")))
	ctx, cancel := context.WithCancel(t.Context())
	b.adjust = func(r *cluster.ExecuteRequest) {
		on := r.OnEvent
		r.OnEvent = func(e cluster.Event) {
			on(e)
			if e.Done >= 5 {
				cancel()
			}
		}
	}
	slow := config(f.Kubeconfig(), one)
	slow.Parallel = 1
	r := b.execute(ctx, connectTo(t, slow), p, bodies)
	if !r.Cancelled || r.OK() || r.Done.Create+len(r.NotStarted) != 20 || r.Done.Create < 5 || len(r.Problems) != 0 {
		t.Fatalf("cancelled %v, %d created, %d not started, problems %+v", r.Cancelled, r.Done.Create, len(r.NotStarted), r.Problems)
	}
	stored, err := others(t).Resource(configMaps).Namespace(ns).List(t.Context(), metav1.ListOptions{LabelSelector: object.LabelOwner})
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, o := range r.Inventory {
		if o.UID != "" {
			known++
		}
	}
	if len(stored.Items) != known || known != r.Done.Create {
		t.Errorf("%d stored, %d in the inventory with uid, %d counted: what was in flight must be known", len(stored.Items), known, r.Done.Create)
	}
	b.adjust = nil
	b.apply(t, s, objs(t, ns, strings.Join(text, "\n---\n"))...) // going on does nothing twice
}

func TestDependencyFailureStopsOnlyDependents(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	bad := objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad, namespace: NS}\ndata: {x: {not: text}}")[0]
	dependent, free := objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dependent, namespace: NS}")[0], objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: free, namespace: NS}")[0]
	bad.Instance, dependent.Instance, free.Instance = "db", "api", "web"
	b := newBundle(t)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Depends = map[string][]string{"api": {"db"}} }
	p, bodies := b.plan(t, s, []object.Object{bad, dependent, free})
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 || r.Problems[0].Ref.Name != "bad" || len(r.NotStarted) != 1 || r.NotStarted[0].Ref.Name != "dependent" ||
		r.NotStarted[0].Because.Name != "bad" || r.Done.Create != 1 {
		t.Errorf("%+v", r)
	}
}

func TestNothingIsPrunedAfterAFailure(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, cmA)...)
	p, bodies := b.plan(t, s, objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad, namespace: NS}\ndata: {x: {not: text}}"))
	r := b.execute(t.Context(), s, p, bodies)
	if r.OK() || r.Pruned || data(t, ns, "a") == "" {
		t.Errorf("%+v", r)
	}
	if !slices.ContainsFunc(r.Inventory, func(o plan.InventoryEntry) bool { return o.Ref.Name == "a" && o.UID != "" }) {
		t.Errorf("inventory: %+v", r.Inventory)
	}
}

func TestFinalizerThatResists(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, cmA)...)
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	b.adjust = func(r *cluster.ExecuteRequest) { r.Timeout = 4 * time.Second }
	r := b.delete(t, s)
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Status.Reason, "held by finalizer example.com/hold (set by someone)") || !r.TimedOut || len(r.Inventory) != 1 {
		t.Fatalf("%+v", r)
	}
	// released while waiting: noticed by the watch, also on a second delete
	b.adjust = nil
	released := make(chan struct{})
	go func() {
		defer close(released)
		time.Sleep(700 * time.Millisecond)
		_, err := others(t).Resource(configMaps).Namespace(ns).Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err != nil {
			t.Error(err)
		}
	}()
	r = b.delete(t, s)
	<-released // the deletion is often seen before its own answer
	if !r.OK() || len(r.Inventory) != 0 {
		t.Fatalf("%+v", r)
	}
}

// A recreate that a finalizer holds names it when the time is over, as a deletion does.
func TestFinalizerThatHoldsARecreate(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	immutable := strings.Replace(cmA, "kind: ConfigMap", "kind: ConfigMap\nimmutable: true", 1)
	b.apply(t, s, objs(t, ns, immutable)...)
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	defer func() { patch(t, "someone", configMaps, ns, "a", `{"metadata":{"finalizers":null}}`) }()
	b.opts.Recreate = true
	b.adjust = func(r *cluster.ExecuteRequest) { r.Timeout = 4 * time.Second }
	p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(immutable, "x: ", "x: other-", 1)))
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Status.Reason, "held by finalizer example.com/hold (set by someone)") || !r.TimedOut {
		t.Fatalf("%+v", r)
	}
}
