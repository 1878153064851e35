package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/staleplan"
	"hawser.dev/hawser/internal/testfleet"
)

// one is the cluster of this package: with workload controllers and simulated nodes.
const one = "w1"

func TestMain(m *testing.M) {
	testfleet.Main(m, testfleet.Options{Clusters: []string{one}, Workloads: true})
}

// config reaches the cluster through one of the sandbox's contexts.
func config(kubeconfig, kubeContext string) cluster.Config {
	return cluster.Config{Config: kubeapi.Config{Name: "test", Access: fleet.Access{KubeconfigPaths: []string{kubeconfig}, Context: kubeContext},
		UserAgent: "hawser-test"}}
}

func connect(t *testing.T) *cluster.Session {
	t.Helper()
	return connectTo(t, config(testfleet.Get().Kubeconfig(), one))
}

// connectFaulty goes through the fault-injecting proxy.
func connectFaulty(t *testing.T) *cluster.Session {
	t.Helper()
	return connectTo(t, config(testfleet.Get().Kubeconfig(), one+"-fault"))
}

func connectTo(t *testing.T, c cluster.Config) *cluster.Session {
	t.Helper()
	s, err := cluster.Connect(t.Context(), c)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// asUser is a session with only the rights that RBAC grants the user.
func asUser(t *testing.T, user string) *cluster.Session {
	t.Helper()
	return connectTo(t, config(testfleet.Get().UserKubeconfig(t, user), one))
}

// bundle is what a run needs from one run to the next.
type bundle struct {
	name  string
	owned []plan.InventoryEntry
	opts  plan.Options
	// adjust changes the request before it is executed.
	adjust func(*cluster.ExecuteRequest)
	events []cluster.Event
	policy v1alpha1.Instance // what the instance says of its objects
	obs    cluster.Observation
	// applied is what was declared last, as the record has it.
	applied map[object.Ref]object.Object
}

var lastBundle atomic.Int64 // clocks may show one time twice

func newBundle(t *testing.T) *bundle {
	t.Helper()
	// names of bundles are owners of cluster-scoped objects too: one per test and run
	return &bundle{name: fmt.Sprintf("b%s-%d", time.Now().Format("150405.000000000"), lastBundle.Add(1))}
}

func (b *bundle) owner() string { return object.OwnerID("", "", b.name) }

// plan is the whole way to a plan: observe, preview, compute.
func (b *bundle) plan(t *testing.T, s *cluster.Session, objs []object.Object) (*plan.Plan, map[object.Ref]object.Object) {
	t.Helper()
	defined := object.DefinedKinds(objs)
	scoped, fs := object.Scope(objs, "default", func(gvk schema.GroupVersionKind) (bool, bool) {
		k, ok := s.Kind(gvk)
		return k.Namespaced, ok
	}, defined)
	if err := fs.Err(); err != nil {
		t.Fatalf("scope: %v", err)
	}
	bodies := map[object.Ref]object.Object{}
	in := plan.Input{Cluster: "test", Bundle: b.name, Owner: b.owner(), Inventory: b.owned, Options: b.opts}
	for _, o := range scoped {
		o.Object = o.Object.Marked(b.owner(), b.name)
		d, fs := plan.Declared(o, b.policy, nil)
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		bodies[d.Ref] = o.Object
		in.Desired = append(in.Desired, d)
	}
	ctx := context.WithoutCancel(t.Context()) // also used to clean up
	obs, fs := s.Observe(ctx, cluster.ObserveRequest{Owner: b.owner(), Desired: in.Desired, Inventory: b.owned, Defined: defined})
	if err := fs.Err(); err != nil {
		t.Fatalf("observe: %v", err)
	}
	b.obs = obs
	in.Live, in.Schema, in.NamespaceExists = obs.Live, obs.Schema, obs.NamespaceExists
	plan.Previewed(&in, func(needs, all []plan.Change) map[object.Ref]plan.Preview {
		var reqs []cluster.PreviewRequest
		for _, ch := range needs {
			req := cluster.PreviewRequest{Change: ch, Body: bodies[ch.Ref]}
			if base, ok := b.applied[ch.Ref]; ok {
				req.Base = base.Body
			}
			reqs = append(reqs, req)
		}
		return s.Preview(ctx, reqs, all, bodies)
	})
	p := plan.Compute(in)
	if holders := plan.Holders(p); len(holders) > 0 {
		in.Contents = s.Contents(ctx, b.owner(), holders)
		p = plan.Compute(in)
	}
	foreign, err := s.Foreign(ctx, b.owner(), staleplan.Goes(p), bodies)
	if err != nil {
		t.Fatalf("what others have: %v", err)
	}
	staleplan.Keep(p, foreign)
	return p, bodies
}

// request is what carries a plan out.
func (b *bundle) request(p *plan.Plan, bodies map[object.Ref]object.Object) cluster.ExecuteRequest {
	owned := slices.Clone(b.owned)
	known := map[object.Ref]bool{}
	for _, o := range owned {
		known[o.Ref] = true
	}
	for _, ch := range p.Changes {
		if body, ok := bodies[ch.Ref]; ok && !known[ch.Ref] {
			owned = append(owned, plan.EntryFor(plan.DesiredOf(object.Scoped{Object: body}), ""))
		}
	}
	req := cluster.ExecuteRequest{Plan: p, Bodies: bodies, Inventory: owned, Schema: b.obs.Schema, Wait: true,
		Timeout: 3 * time.Minute, StalledAfter: 2 * time.Second, Deleting: b.opts.Deleting,
		OnEvent: func(e cluster.Event) { b.events = append(b.events, e) }}
	if b.adjust != nil {
		b.adjust(&req)
	}
	return req
}

// execute carries a plan out and takes over its inventory.
func (b *bundle) execute(ctx context.Context, s *cluster.Session, p *plan.Plan, bodies map[object.Ref]object.Object) cluster.ExecuteResult {
	r := s.Execute(ctx, b.request(p, bodies))
	b.owned = r.Inventory
	if b.applied == nil {
		b.applied = map[object.Ref]object.Object{}
	}
	maps.Copy(b.applied, bodies)
	return r
}

// when lets somebody do something in the midst of the next execution, once, at the first event that fits.
func (b *bundle) when(t *testing.T, fits func(cluster.Event) bool, do func()) {
	t.Helper()
	var once sync.Once
	var begun sync.WaitGroup
	t.Cleanup(begun.Wait)
	before := b.adjust
	b.adjust = func(r *cluster.ExecuteRequest) {
		if before != nil {
			before(r)
		}
		on := r.OnEvent
		r.OnEvent = func(e cluster.Event) {
			if on(e); fits(e) {
				once.Do(func() { begun.Go(do) })
			}
		}
	}
}

// waitsFor fits the first event that tells of an object of a kind which was seen and is waited for.
func waitsFor(kind string) func(cluster.Event) bool {
	return func(e cluster.Event) bool { return e.Type == cluster.Waiting && e.Ref.Kind == kind }
}

// apply plans and executes and fails the test when anything goes wrong.
func (b *bundle) apply(t *testing.T, s *cluster.Session, objs ...object.Object) cluster.ExecuteResult {
	t.Helper()
	p, bodies := b.plan(t, s, objs)
	if err := p.Findings.Err(); err != nil {
		t.Fatalf("plan: %v", err)
	}
	r := b.execute(t.Context(), s, p, bodies)
	mustOK(t, r)
	return r
}

// unchanged fails the test unless a new plan has nothing to do.
func (b *bundle) unchanged(t *testing.T, s *cluster.Session, objs ...object.Object) {
	t.Helper()
	p, _ := b.plan(t, s, objs)
	if err := p.Findings.Err(); err != nil || !p.Empty() {
		t.Fatalf("the plan is not empty: %+v (%v)", p.Changes, err)
	}
}

// delete removes everything the bundle has.
func (b *bundle) delete(t *testing.T, s *cluster.Session) cluster.ExecuteResult {
	t.Helper()
	b.opts.Deleting = true
	p, _ := b.plan(t, s, nil)
	r := b.execute(context.WithoutCancel(t.Context()), s, p, nil)
	b.opts.Deleting = false
	return r
}

func mustOK(t *testing.T, r cluster.ExecuteResult) {
	t.Helper()
	if r.OK() && r.Ready && r.Pruned {
		return
	}
	for _, p := range r.Problems {
		t.Logf("problem: %s: %s %v (%v)", p.Ref, p.Status.Reason, p.Status.Details, p.Err)
	}
	t.Fatalf("not done: ready %v, pruned %v, timed out %v, not started %v, findings %v", r.Ready, r.Pruned, r.TimedOut, r.NotStarted, r.Findings)
}

// objs reads YAML documents; NS stands for the namespace.
func objs(t *testing.T, ns, text string) []object.Object {
	t.Helper()
	var out []object.Object
	for _, doc := range strings.Split(strings.ReplaceAll(text, "NS", ns), "\n---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		data, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatalf("yaml: %v\n%s", err, doc)
		}
		var body map[string]any
		if err := utiljson.Unmarshal(data, &body); err != nil {
			t.Fatal(err)
		}
		out = append(out, object.Object{Body: body, Instance: "app"})
	}
	return out
}

// others is a client for everybody else: other managers, administrators, controllers.
func others(t *testing.T) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(testfleet.Get().RESTConfig(one))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// foreignApply is a server-side apply by another manager.
func foreignApply(t *testing.T, manager, resource string, force bool, o object.Object) *unstructured.Unstructured {
	t.Helper()
	ref := o.Ref()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		out, err := others(t).Resource(o.GVK().GroupVersion().WithResource(resource)).Namespace(ref.Namespace).
			Apply(t.Context(), ref.Name, o.Unstructured(), metav1.ApplyOptions{FieldManager: manager, Force: force})
		if err == nil {
			return out
		}
		if !kubeapi.IsNotFound(err) || time.Now().After(end) { // a kind that was just defined is served a moment later
			t.Fatalf("foreign apply: %v", err)
		}
	}
}

// patch is a merge patch by another manager; subresource may be "".
func patch(t *testing.T, manager string, gvr schema.GroupVersionResource, ns, name, body string, subresource ...string) *unstructured.Unstructured {
	t.Helper()
	out, err := others(t).Resource(gvr).Namespace(ns).Patch(t.Context(), name, types.MergePatchType, []byte(body),
		metav1.PatchOptions{FieldManager: manager}, subresource...)
	if err != nil {
		t.Fatalf("patch %s: %v", name, err)
	}
	return out
}

// rewrite changes an object by reading and writing all of it, again where its controllers wrote in between.
func rewrite(t *testing.T, manager string, gvr schema.GroupVersionResource, ns, name string, change func(map[string]any)) {
	t.Helper()
	for {
		live := get(t, gvr, ns, name)
		change(live.Object)
		_, err := others(t).Resource(gvr).Namespace(ns).Update(t.Context(), live, metav1.UpdateOptions{FieldManager: manager})
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
	}
}

// discovered waits until a new session knows a kind, or does not know it.
func discovered(t *testing.T, group, kind string, is bool) {
	t.Helper()
	eventually(t, func() bool {
		_, ok := connect(t).ByGroupKind(schema.GroupKind{Group: group, Kind: kind})
		return ok == is
	})
}

func get(t *testing.T, gvr schema.GroupVersionResource, ns, name string) *unstructured.Unstructured {
	t.Helper()
	out, err := others(t).Resource(gvr).Namespace(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("get %s: %v", name, err)
	}
	return out
}

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// only returns the single change of a plan.
func only(t *testing.T, p *plan.Plan) plan.Change {
	t.Helper()
	if len(p.Changes) != 1 {
		t.Fatalf("changes: %+v", p.Changes)
	}
	return p.Changes[0]
}

func hasFinding(fs diag.Findings, code string) bool {
	return slices.ContainsFunc(fs, func(f diag.Finding) bool { return f.Code == code })
}

func isStale(err error) bool {
	_, ok := errors.AsType[*cluster.StaleError](err)
	return ok
}
