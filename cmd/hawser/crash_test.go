package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testfleet"
	"hawser.dev/hawser/internal/testseed"
)

// crashBundle has more than thirty objects of many kinds: CRDs with their objects, RBAC, configuration, Services. n is
// the part of names that makes it unique among the cluster-scoped ones, v what changes between two versions.
func crashBundle(n string, v int) string {
	var b strings.Builder
	doc := func(format string, args ...any) { fmt.Fprintf(&b, "---\n"+format, args...) }
	for _, kind := range []string{"Widget", "Gadget"} {
		plural := strings.ToLower(kind) + "s"
		doc(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s.crash.example.com}
spec:
  group: %[2]s.crash.example.com
  names: {kind: %[3]s, plural: %[1]s, singular: %[4]s, listKind: %[3]sList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`, plural, n, kind, strings.ToLower(kind))
		for i := range 3 {
			doc("apiVersion: %s.crash.example.com/v1\nkind: %s\nmetadata: {name: w%d}\nspec: {size: %d}\n", n, kind, i, v)
		}
	}
	doc("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: crash-%s}\nrules: [{apiGroups: [\"\"], resources: [configmaps], verbs: [get]}]\n", n)
	doc("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: app}\n")
	doc("apiVersion: v1\nkind: Secret\nmetadata: {name: app}\nstringData: {password: \"secret-%d\"}\n", v)
	for i := range 3 {
		doc("apiVersion: v1\nkind: Service\nmetadata: {name: s%d}\nspec: {ports: [{port: 80}], selector: {app: a}}\n", i)
	}
	for i := range 20 {
		if i == 19 && v == 2 {
			continue // pruned by the second version
		}
		doc("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata: {v: \"%d\"}\n", i, v)
	}
	return b.String()
}

// crashObjects is the number of objects of a version, without the instance's namespace.
func crashObjects(v int) int { return strings.Count(crashBundle("n", v), "---\n") }

// TestKilledAtEveryRequest kills the process (SIGKILL) before and after every single request of a first apply and of an
// upgrade, and runs it again: it converges, nothing is there twice, nothing is orphaned, and the lock is taken over.
func TestKilledAtEveryRequest(t *testing.T) {
	t.Parallel()
	step, first := testseed.Deaths(t, 36)
	var points atomic.Int64
	var wg sync.WaitGroup
	for lane, cluster := range clusters {
		wg.Go(func() {
			t.Run(cluster, func(t *testing.T) {
				points.Add(int64(newCrashLane(t, cluster, lane).try(step, first)))
			})
		})
	}
	wg.Wait()
	t.Logf("%d points of death", points.Load())
	if points.Load() < 10 {
		t.Errorf("only %d points were tried", points.Load())
	}
}

// crashLane tries every third of the points, on one cluster.
type crashLane struct {
	*bench
	cluster string
	lane    int
	name    string
	proxy   *killer
	config  string
	client  *rest.RESTClient
	// lanes share the points; objects is the number of a version's objects, without the namespace; look checks them.
	lanes int
	// ends is the exit code of a command that is not killed.
	ends    int
	objects func(v int) int
	look    func(v int, where string)
}

func newCrashLane(t *testing.T, cluster string, lane int) *crashLane {
	l := emptyLane(t, cluster, fmt.Sprintf("crash%d", lane))
	l.lane, l.lanes, l.objects = lane, len(clusters), crashObjects
	for v := 1; v <= 2; v++ {
		l.write(fmt.Sprintf("v%d/all.yaml", v), crashBundle(l.name, v))
		l.write(fmt.Sprintf("v%d.yaml", v), fmt.Sprintf("bundle:\n  apiVersion: v1alpha1\n  name: %s\n  instances:\n    all: {manifests: {paths: [./v%d]}, namespace: %s}\n", l.name, v, l.name))
	}
	return l
}

func emptyLane(t *testing.T, cluster, name string) *crashLane {
	l := &crashLane{bench: newBench(t), cluster: cluster, name: name, lanes: 1, look: func(int, string) {}}
	l.proxy = newKiller(t, cluster)
	l.config = l.kubeconfig(cluster, l.proxy.URL, l.proxy.ca())
	l.client = restClient(t, cluster)
	return l
}

func (l *crashLane) apply(v int) []string {
	return []string{"apply", "-f", fmt.Sprintf("v%d.yaml", v), "--kubeconfig", l.config, "--kube-context", l.cluster, "--yes"}
}

// try tries the lane's points and returns how many there were.
func (l *crashLane) try(step, first int) int {
	n := 0
	for at := 1 + l.lane; ; at += l.lanes {
		if step > 1 && ((at-1)/l.lanes)%step != first {
			if at > 400 {
				break
			}
			continue
		}
		reached := false
		for _, after := range []bool{false, true} {
			for v := 1; v <= 2; v++ {
				if l.dies(v, at, after) {
					reached = true
					n++
				}
				l.converges(v, at, after)
			}
			l.want(0, "delete", l.name, "--kubeconfig", l.config, "--kube-context", l.cluster, "--yes")
			l.nothingLeft(at)
		}
		if !reached {
			break
		}
	}
	return n
}

// dies runs an apply and kills it at one request; false when the apply ended before that.
func (l *crashLane) dies(v, at int, after bool) bool { return l.diesAt(l.apply(v), at, after) }

// diesAt is dies for any command.
func (l *crashLane) diesAt(args []string, at int, after bool) bool {
	return l.proxy.kills(l.bench, args, at, after, l.ends)
}

// converges runs the apply again and looks at everything it should have left behind.
func (l *crashLane) converges(v, at int, after bool) {
	l.t.Helper()
	l.proxy.arm(0, false, nil)
	where := fmt.Sprintf("v%d killed at request %d (after=%t)", v, at, after)
	began := testfleet.Get().AuditOffset(l.t, l.cluster)
	r := l.bench.run(l.apply(v)...)
	worked := len(l.ours(writes(testfleet.Get().Audit(l.t, l.cluster, began)))) > 0
	if r.Code != 0 {
		l.t.Fatalf("%s: run again: %s", where, r)
	}
	if after { // killed before the request or after it, what was converged to is the same
		l.quiet(v, where)
	}
	if got := l.managed(); got != l.objects(v)+1 {
		l.t.Fatalf("%s: %d objects carry our label, want %d", where, got, l.objects(v)+1)
	}
	l.look(v, where)
	// killed between the closing of the record and the lock: what is left is the lock of a dead process, for the next writer
	if got := l.leases(); got != 0 && worked {
		l.t.Fatalf("%s: %d locks left", where, got)
	}
}

// quiet runs the apply once more: it writes nothing.
func (l *crashLane) quiet(v int, where string) {
	l.t.Helper()
	offset := testfleet.Get().AuditOffset(l.t, l.cluster)
	if again := l.bench.run(l.apply(v)...); again.Code != 0 {
		l.t.Fatalf("%s: third run: %s", where, again)
	}
	if w := l.ours(writes(testfleet.Get().Audit(l.t, l.cluster, offset))); len(w) > 0 {
		l.t.Fatalf("%s: the run after convergence writes:\n%s", where, show(w))
	}
}

// ours leaves the entries that concern this lane's bundle (other tests use the cluster too).
func (l *crashLane) ours(entries []testfleet.AuditEntry) []testfleet.AuditEntry {
	owner := object.OwnerID("", "", l.name)
	return slices.DeleteFunc(entries, func(e testfleet.AuditEntry) bool {
		return e.Namespace != l.name && !strings.Contains(e.Path, owner) && !strings.Contains(e.Path, l.name)
	})
}

var crashLists = []string{"api/v1/configmaps", "api/v1/secrets", "api/v1/services", "api/v1/serviceaccounts", "api/v1/namespaces",
	"apis/rbac.authorization.k8s.io/v1/clusterroles", "apis/apiextensions.k8s.io/v1/customresourcedefinitions",
	"apis/%s.crash.example.com/v1/widgets", "apis/%s.crash.example.com/v1/gadgets"}

// managed counts the objects with the bundle's owner label, records apart.
func (l *crashLane) managed() int {
	total := 0
	for _, path := range crashLists {
		if strings.Contains(path, "%s") {
			path = fmt.Sprintf(path, l.name)
		}
		for _, item := range list(l.t, l.client, path, object.LabelOwner+"="+object.OwnerID("", "", l.name)) {
			if item.Metadata.Namespace != object.SystemNamespace {
				total++
			}
		}
	}
	return total
}

func (l *crashLane) leases() int {
	n := 0
	for _, item := range list(l.t, l.client, "apis/coordination.k8s.io/v1/namespaces/"+object.SystemNamespace+"/leases", "") {
		if strings.Contains(item.Metadata.Name, object.OwnerID("", "", l.name)) && item.Spec.HolderIdentity != "" {
			n++
		}
	}
	return n
}

// nothingLeft: after a delete only the instance's own namespace stays, and no record.
func (l *crashLane) nothingLeft(at int) {
	l.t.Helper()
	if got := l.managed(); got > 1 {
		l.t.Fatalf("request %d: %d objects left after delete", at, got)
	}
	if got := l.leases(); got != 0 {
		l.t.Fatalf("request %d: the delete took over no lock: %d left", at, got)
	}
	for _, item := range list(l.t, l.client, "api/v1/namespaces/"+object.SystemNamespace+"/secrets",
		object.LabelOwner+"="+object.OwnerID("", "", l.name)) {
		l.t.Fatalf("request %d: record %s left after delete", at, item.Metadata.Name)
	}
}

// item is what the tests read of any object.
type item struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		DeletionTimestamp                     string
		Generation                            int64
		Labels, Annotations                   map[string]string
		ManagedFields                         []struct{ Manager, Operation string }
	}
	Spec struct {
		HolderIdentity string
		Replicas       int
		Ports          []struct{ Name string }
	}
	Data map[string]string
}

func list(t *testing.T, c *rest.RESTClient, path, selector string) []item {
	t.Helper()
	req := c.Get().AbsPath("/" + path)
	if selector != "" {
		req = req.Param("labelSelector", selector)
	}
	data, err := req.DoRaw(t.Context())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatalf("list %s: %v", path, err)
	}
	var out struct{ Items []item }
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out.Items
}

func restClient(t *testing.T, cluster string) *rest.RESTClient {
	t.Helper()
	return restClientOf(t, testfleet.Get(), cluster)
}

func restClientOf(t *testing.T, f *testfleet.Fleet, cluster string) *rest.RESTClient {
	t.Helper()
	cfg := rest.CopyConfig(f.RESTConfig(cluster))
	cfg.QPS, cfg.Burst = -1, 0
	cfg.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	c, err := rest.UnversionedRESTClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
