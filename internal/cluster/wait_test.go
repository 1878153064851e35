package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rights"
	"hawser.dev/hawser/internal/testfleet"
)

func TestWaitsByWatching(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	var ns string
	var b *bundle
	count := map[string]int{}
	for range 5 { // with more time than a rollout that goes well takes, it looks by itself and asks for pods
		ns, b = f.Namespace(t, one), newBundle(t)
		from, start := f.AuditOffset(t, one), time.Now()
		b.apply(t, s, objs(t, ns, scaled+"---"+strings.ReplaceAll(scaled, "name: api", "name: web"))...)
		quick := time.Since(start) < time.Second
		clear(count)
		for _, e := range mine(f.Audit(t, one, from)) {
			if quick && (e.Resource == "deployments" || e.Resource == "pods") {
				count[e.Verb+" "+e.Resource]++
			}
		}
		if quick {
			break
		}
	}
	if !slices.ContainsFunc(b.events, func(e cluster.Event) bool { return e.Type == cluster.Ready }) {
		t.Errorf("events: %+v", b.events)
	}
	if len(count) == 0 {
		t.Log("the machine is too busy for a look at the requests")
	} else if count["watch deployments"] > 1 || count["list deployments"] != 1 || count["list pods"] != 0 || count["get deployments"] > 4 {
		t.Errorf("requests: %v; want one LIST and one watch for both, no pods while all goes well", count)
	}
	// an unchanged bundle is waited for too, and is ready
	r := b.apply(t, s, objs(t, ns, scaled+"---"+strings.ReplaceAll(scaled, "name: api", "name: web"))...)
	if r.Done != (plan.Counts{}) {
		t.Errorf("done: %+v", r.Done)
	}
}

func TestHopelessFailsEarlyAndSaysWhy(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	for _, c := range []struct{ image, want string }{
		{"registry.example/unpullable:1", "ImagePullBackOff"}, {"registry.example/crashing:1", "CrashLoopBackOff"},
	} {
		t.Run(c.want, func(t *testing.T) {
			ns := f.Namespace(t, one)
			b := newBundle(t)
			p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(scaled, "registry.example/api:1", c.image, 1)))
			r := b.execute(t.Context(), s, p, bodies)
			if len(r.Problems) != 1 || !r.Problems[0].Written || r.Ready || r.TimedOut {
				t.Fatalf("%+v", r)
			}
			st := r.Problems[0].Status
			if st.Reason != "0 of 2 pods ready" || !strings.Contains(strings.Join(st.Details, "\n"), c.want) || !st.Stalled {
				t.Errorf("%+v", st)
			}
			states, fs := s.Health(t.Context(), b.owner(), b.owned, nil)
			if got := states[r.Problems[0].Ref]; got.State != health.Progressing || !got.Stalled || fs != nil {
				t.Errorf("health: %+v %v", got, fs)
			}
		})
	}
}

// What ends by its time says why all the same: the pods are asked before it is given up.
func TestGivenUpInTimeSaysWhy(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	all := objs(t, ns, strings.Replace(scaled, "registry.example/api:1", "registry.example/unpullable:1", 1))
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	b.apply(t, s, all...)
	eventually(t, func() bool {
		pods, err := others(t).Resource(podResource).Namespace(ns).List(t.Context(), metav1.ListOptions{})
		return err == nil && strings.Contains(fmt.Sprint(pods.Items), "ImagePull")
	})
	b.adjust = func(r *cluster.ExecuteRequest) { r.StalledAfter, r.Timeout = 20*time.Second, 2*time.Second } // before they are asked by themselves
	var r cluster.ExecuteResult
	for range 5 { // on a busy machine the Deployment itself may not have been seen in that time
		p, bodies := b.plan(t, s, all)
		if r = b.execute(t.Context(), s, p, bodies); len(r.Problems) == 1 && r.TimedOut && strings.Contains(r.Problems[0].Status.Line(), "ImagePull") {
			return
		}
	}
	t.Errorf("%+v", r)
}

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// Pods that had nothing to say when they were asked are asked again before the time is over.
func TestGivenUpAfterPodsWereAskedSaysWhy(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	var r cluster.ExecuteResult
	for range 5 { // on a busy machine what comes late may come too late
		ns := f.Namespace(t, one)
		b := newBundle(t)
		p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(scaled, "  replicas: 2\n", "  replicas: 2\n  minReadySeconds: 500\n", 1)))
		b.adjust = func(r *cluster.ExecuteRequest) { r.StalledAfter, r.Timeout = time.Second, 5*time.Second } // asked after half a second, and after 5.5
		late := objs(t, ns, "apiVersion: v1\nkind: Pod\nmetadata: {name: late, namespace: NS, labels: {app: api}}\nspec: {containers: [{name: api, image: \"registry.example/unpullable:1\"}]}")[0].Unstructured()
		from := f.AuditOffset(t, one)
		ended := make(chan struct{})
		var somebody sync.WaitGroup
		somebody.Go(func() {
			for !slices.ContainsFunc(mine(f.Audit(t, one, from)), func(e testfleet.AuditEntry) bool {
				return e.Verb == "list" && e.Resource == "pods" && e.Namespace == ns
			}) {
				select {
				case <-ended:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
			if _, err := others(t).Resource(podResource).Namespace(ns).Create(t.Context(), late, metav1.CreateOptions{}); err != nil {
				t.Error(err)
			}
		})
		r = b.execute(t.Context(), s, p, bodies)
		close(ended)
		somebody.Wait()
		if len(r.Problems) == 1 && r.TimedOut && strings.Contains(r.Problems[0].Status.Line(), "pod late, container api: ImagePull") {
			return
		}
	}
	t.Errorf("%+v", r)
}

func TestQuotaIsNamed(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	foreignApply(t, "admin", "resourcequotas", false, objs(t, ns, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: none, namespace: NS}\nspec: {hard: {pods: '0'}}")[0])
	eventually(t, func() bool { // until the quota controller has counted
		quota := get(t, schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}, ns, "none")
		used, _, _ := unstructured.NestedString(quota.Object, "status", "used", "pods")
		return used == "0"
	})
	b := newBundle(t)
	p, bodies := b.plan(t, s, objs(t, ns, scaled))
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 || !strings.Contains(strings.Join(r.Problems[0].Status.Details, "\n"), "exceeded quota") {
		t.Errorf("%+v", r)
	}
}

func TestLabelRemovedWhileWaiting(t *testing.T) { // it arrives as DELETED
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(scaled, "registry.example/api:1", "registry.example/unpullable:1", 1)))
	b.adjust = func(r *cluster.ExecuteRequest) { r.StalledAfter = 3 * time.Minute }
	b.when(t, waitsFor("Deployment"), func() {
		for _, body := range []string{`{"metadata":{"labels":{"hawser.dev/owner":null}}}`, `{"spec":{"replicas":0}}`} {
			_, err := others(t).Resource(deployments).Namespace(ns).Patch(t.Context(), "api", types.MergePatchType, []byte(body), metav1.PatchOptions{FieldManager: "someone"})
			if err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second) // the one is seen before the other comes, but need not be
		}
	})
	mustOK(t, b.execute(t.Context(), s, p, bodies))
}

func TestTimeOut(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(scaled, "registry.example/api:1", "registry.example/unpullable:1", 1)))
	b.adjust = func(r *cluster.ExecuteRequest) { r.Timeout, r.StalledAfter = 3*time.Second, time.Minute }
	r := b.execute(t.Context(), s, p, bodies)
	if !r.TimedOut || r.Ready || r.Cancelled || len(r.Problems) != 1 || r.Problems[0].After < 500*time.Millisecond {
		t.Errorf("%+v", r)
	}
	b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = false }
	p, bodies = b.plan(t, s, objs(t, ns, strings.Replace(scaled, "registry.example/api:1", "registry.example/unpullable:2", 1)))
	mustOK(t, b.execute(t.Context(), s, p, bodies)) // not waiting is not failing
}

const limited = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: deployer, namespace: NS}
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [VERBS]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [VERBS]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: deployer, namespace: NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: USER}]
`

// grant gives a user rights on ConfigMaps and Deployments of one namespace.
func grant(t *testing.T, ns, user, verbs string) {
	t.Helper()
	text := strings.NewReplacer("VERBS", verbs, "USER", user).Replace(limited)
	for _, o := range objs(t, ns, text) {
		foreignApply(t, "admin", strings.ToLower(o.GVK().Kind)+"s", true, o)
	}
	for resource, group := range map[string]string{"configmaps": "", "deployments": "apps"} {
		for _, verb := range strings.Split(verbs, ", ") {
			review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
				"spec": map[string]any{"user": user, "resourceAttributes": map[string]any{"namespace": ns, "verb": verb, "group": group, "resource": resource}}}}
			eventually(t, func() bool { // the API server learns of it by watching
				got, err := others(t).Resource(schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}).
					Create(t.Context(), review, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				allowed, _, _ := unstructured.NestedBool(got.Object, "status", "allowed")
				return allowed
			})
		}
	}
}

func TestNarrowRights(t *testing.T) {
	f := testfleet.Get()
	for _, c := range []struct {
		user, verbs, finding string
		watches              bool
		reason               string
	}{
		{"per-namespace", "get, list, watch, create, patch, delete", "", true, "one LIST per namespace"},
		{"no-watch", "get, list, create, patch, delete", "", false, "reads again with growing pauses"},
		{"no-list", "get, create, patch, delete", "no-list", false, "reads objects one by one and says so"},
	} {
		t.Run(c.user, func(t *testing.T) {
			ns := f.Namespace(t, one)
			grant(t, ns, c.user, c.verbs)
			s := asUser(t, c.user)
			b := newBundle(t)
			all := objs(t, ns, cmA+"\n---\n"+scaled)
			b.apply(t, s, all...)
			from := f.AuditOffset(t, one)
			b.unchanged(t, s, all...)
			for _, e := range mine(f.Audit(t, one, from)) {
				if e.Verb == "watch" {
					continue // of the apply before, logged late
				}
				if e.Status == 403 && e.Namespace != "" && c.finding == "" {
					t.Errorf("forbidden: %s: %s", c.reason, lines([]testfleet.AuditEntry{e}))
				}
			}
			var found []string
			_, fs := s.Observe(t.Context(), cluster.ObserveRequest{Owner: b.owner(), Inventory: b.owned})
			for _, x := range fs {
				found = append(found, x.Code)
			}
			if c.finding != "" && !slices.Contains(found, c.finding) || c.finding == "" && len(found) > 0 {
				t.Errorf("findings %v: %s", fs, c.reason)
			}
			if r := b.delete(t, s); !r.OK() {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestReview(t *testing.T) {
	f := testfleet.Get()
	ns := f.Namespace(t, one)
	grant(t, ns, "reader", "get, list, patch")
	s := asUser(t, "reader")
	b := newBundle(t)
	p := &plan.Plan{Cluster: "test", Owner: b.owner(), Changes: []plan.Change{
		{Action: plan.Create, Ref: object.Ref{Kind: "ConfigMap", Namespace: ns, Name: "a"}},
		{Action: plan.Update, Ref: object.Ref{Group: "apps", Kind: "Deployment", Namespace: ns, Name: "api"}},
		{Action: plan.Create, Ref: object.Ref{Kind: "Namespace", Name: "fresh"}},
	}}
	before := s.Requests()
	fs := s.Review(t.Context(), p, nil)
	if n := s.Requests() - before; n != 3 {
		t.Errorf("%d requests, want 3: for the namespace, the cluster and the records' namespace", n)
	}
	want := []string{"create on configmaps in namespace " + ns, "create, delete, get, list, update on secrets in namespace hawser-system",
		"create, delete, get, update on leases.coordination.k8s.io in namespace hawser-system", "create, patch on namespaces in the cluster"}
	if got := rights.Texts(fs); len(fs) != 1 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q in one finding", got, want)
	}
	whole := rights.Texts(s.ReviewWhole(t.Context(), p.Owner, []object.Ref{p.Changes[0].Ref}, nil))
	if want := []string{want[1], want[2], "create, delete, watch on configmaps in namespace " + ns}; !slices.Equal(whole, want) {
		t.Errorf("the whole bundle: %q, want %q", whole, want)
	}
	if fs := connect(t).Review(t.Context(), p, nil); fs != nil {
		t.Errorf("an administrator: %v", fs)
	}
}

func TestFaultsAreSurvived(t *testing.T) {
	f := testfleet.Get()
	for _, c := range []struct {
		name string
		spec testfleet.FaultSpec
	}{
		{"429 with Retry-After", testfleet.FaultSpec{Match: "PATCH", Count: 2, Status: []int{429}}},
		{"500, 502, 503 and 504", testfleet.FaultSpec{Match: "PATCH", Count: 4, Status: []int{500, 502, 503, 504}, RetryAfter: -1}},
		{"cut before the server saw it", testfleet.FaultSpec{Match: "PATCH", Count: 2, Cut: testfleet.CutBefore}},
		{"cut after the server did it", testfleet.FaultSpec{Match: "PATCH", Count: 1, Cut: testfleet.CutAfter}},
		{"dropped in the answer", testfleet.FaultSpec{Match: "PATCH", Count: 1, Drop: true}},
		{"slow", testfleet.FaultSpec{Match: "PATCH", Count: 2, Latency: 300 * time.Millisecond}},
		{"the watch is too old", testfleet.FaultSpec{Match: "watch=1", Count: 2, Status: []int{410}}},
		{"the watch is too busy", testfleet.FaultSpec{Match: "watch=1", Count: 1, Status: []int{429}}},
		{"the watch breaks", testfleet.FaultSpec{Match: "watch=1", Count: 1, Drop: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := connectFaulty(t)
			ns := f.Namespace(t, one)
			b := newBundle(t)
			f.Fault(t, one, c.spec)
			b.apply(t, s, objs(t, ns, cmA+"\n---\n"+scaled)...)
			f.ClearFault(t, one)
			b.unchanged(t, s, objs(t, ns, cmA+"\n---\n"+scaled)...)
			changed := strings.ReplaceAll(cmA, "x: ours", "x: more")
			f.Fault(t, one, c.spec)
			b.apply(t, s, objs(t, ns, changed+"\n---\n"+scaled)...)
			f.ClearFault(t, one)
			b.unchanged(t, s, objs(t, ns, changed+"\n---\n"+scaled)...)
			if strings.HasPrefix(c.spec.Match, "watch") {
				return
			}
			deletes := c.spec
			deletes.Match = "DELETE"
			f.Fault(t, one, deletes)
			if r := b.delete(t, s); !r.OK() || len(r.Inventory) != 0 {
				t.Errorf("delete: %+v", r)
			}
			f.ClearFault(t, one)
		})
	}
}

func TestSilentWatch(t *testing.T) {
	f := testfleet.Get()
	t.Cleanup(cluster.ShortenSilence(time.Second))
	s := connectFaulty(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	f.Fault(t, one, testfleet.FaultSpec{Match: "watch=1", Count: 1, Hang: true})
	b.adjust = func(r *cluster.ExecuteRequest) { r.Timeout = time.Minute } // less than a watch may be silent otherwise
	start := time.Now()
	b.apply(t, s, objs(t, ns, scaled)...)
	if took := time.Since(start); took < time.Second {
		t.Errorf("it took %s: no watch was silent", took)
	}
	if !slices.ContainsFunc(b.events, func(e cluster.Event) bool { return e.Type == cluster.Ready }) {
		t.Errorf("nothing got ready: %+v", b.events)
	}
}

func TestConnectionLostWhileWaiting(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(scaled, "registry.example/api:1", "registry.example/unpullable:1", 1)))
	b.adjust = func(r *cluster.ExecuteRequest) { r.StalledAfter = 3 * time.Minute }
	waiting := make(chan struct{})
	b.when(t, waitsFor("Deployment"), func() { close(waiting) })
	done := make(chan cluster.ExecuteResult, 1)
	go func() { done <- b.execute(t.Context(), s, p, bodies) }()
	select {
	case <-waiting:
	case r := <-done:
		t.Fatalf("%+v", r)
	}
	f.Stop(t, one)
	time.Sleep(time.Second)
	f.Start(t, one)
	patch(t, "someone", deployments, ns, "api", `{"spec":{"replicas":0}}`)
	mustOK(t, <-done)
}

func TestRetriesAreBounded(t *testing.T) {
	f := testfleet.Get()
	s := connectFaulty(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	p, bodies := b.plan(t, s, objs(t, ns, cmA))
	f.Fault(t, one, testfleet.FaultSpec{Match: "PATCH", Status: []int{503}, RetryAfter: -1})
	before := s.Requests()
	r := b.execute(t.Context(), s, p, bodies)
	if n := s.Requests() - before; n != 5 || len(r.Problems) != 1 {
		t.Errorf("%d requests, %+v", n, r)
	}
}

func TestNamespaceAndItsObjectsInOneSet(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t)
	b := newBundle(t)
	all := objs(t, ns, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NS}\n---\n"+cmA)
	b.apply(t, s, all...)
	b.unchanged(t, s, all...)
	if r := b.delete(t, s); !r.OK() || len(r.Inventory) != 0 {
		t.Fatalf("%+v", r)
	}
	if _, err := others(t).Resource(namespaces).Get(t.Context(), ns, metav1.GetOptions{}); !kubeapi.IsNotFound(err) {
		t.Errorf("the namespace is still there: %v", err)
	}
}

func TestRemovedCRDVersionIsRepaired(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	old := strings.ReplaceAll(crontabs, "name: v1\n", "name: v1alpha1\n") + strings.ReplaceAll(crontab, "example.com/v1\n", "example.com/v1alpha1\n")
	b.apply(t, s, objs(t, ns, old)...)
	t.Cleanup(func() { b.delete(t, s) })
	crd := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	name := "crontabs." + ns + ".example.com"
	// somebody adds v1, makes it the stored one, and removes v1alpha1
	both := `{"spec":{"versions":[
	 {"name":"v1alpha1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
	 {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"schedule":{"type":"string"},"extra":{"type":"string"}}}}}}}]}}`
	patch(t, "someone", crd, "", name, both)
	gvr := schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: "crontabs"}
	eventually(t, func() bool {
		_, err := others(t).Resource(gvr).Namespace(ns).Patch(t.Context(), "one", types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"stored":"as v1"}}}`), metav1.PatchOptions{FieldManager: "someone"})
		return err == nil
	})
	time.Sleep(time.Second) // every handler of the API server knows the stored version now
	patch(t, "someone", gvr, ns, "one", `{"metadata":{"annotations":{"stored":"as v1 for sure"}}}`)
	patch(t, "someone", crd, "", name, `{"status":{"storedVersions":["v1"]}}`, "status")
	patch(t, "someone", crd, "", name, strings.Replace(both, both[strings.Index(both, ` {"name":"v1alpha1"`):strings.Index(both, ` {"name":"v1","`)], "", 1))
	eventually(t, func() bool {
		_, err := others(t).Resource(gvr).Namespace(ns).Get(t.Context(), "one", metav1.GetOptions{})
		return err == nil
	})
	s = connect(t)
	b.opts.Adopt = true // the CRD itself was changed by somebody
	b.apply(t, s, objs(t, ns, crontabs+strings.Replace(crontab, "daily", "hourly", 1))...)
	b.opts.Adopt = false
	if !slices.ContainsFunc(b.events, func(e cluster.Event) bool {
		return e.Type == cluster.Notice && strings.Contains(e.Message, "removed version")
	}) {
		t.Errorf("nothing was repaired: %+v", b.events)
	}
	spec := get(t, gvr, ns, "one").Object["spec"].(map[string]any)
	if spec["schedule"] != "hourly" {
		t.Errorf("spec: %v", spec)
	}
}

// eventually waits until something holds that comes by itself, with a bound that no machine reaches.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come true")
		}
	}
}
