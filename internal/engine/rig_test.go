package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleet/kubeconfig"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/passes"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/plain"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/testfleet"
	"hawser.dev/hawser/internal/workspace"
)

// The tests of the engine come in two kinds. Tables on FleetPlan, Outcome and StatusReport values need no cluster and
// start none. Tests with a rig drive a whole verb in this process against the one API server that the package shares:
//
//	r := newRig(t)
//	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
//	fp := r.plan(r.request())
//	out, err := r.Apply(t.Context(), fp, r.request())
//
// Bundle and namespace of a rig are its own, so tests run in parallel. The API server runs no controllers: workloads
// never get ready by themselves, ConfigMaps are ready at once, and a test that wants a ready Deployment writes its status.

// here is the context (and the cluster's name in fleets) of the API server.
const here = "engine"

// shared is the package's API server, started by the first test that wants it.
var shared struct {
	once  sync.Once
	fleet *testfleet.Fleet
	err   error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.fleet != nil {
		if err := shared.fleet.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// rig is an Engine with real leaves, and a directory for its documents.
type rig struct {
	*Engine
	t     *testing.T
	dir   string
	name  string // of the bundle, and of its namespace
	admin kubernetes.Interface

	// silent takes the connections to the context of that name, and nobody answers.
	silent *net.TCPListener

	// on sees every event as it comes; nil is nobody.
	on     func(fleetplan.Event)
	mu     sync.Mutex
	events []fleetplan.Event
}

func newRig(t *testing.T) *rig {
	t.Helper()
	shared.once.Do(func() { shared.fleet, shared.err = testfleet.Start(testfleet.Options{Clusters: []string{here}}) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	r := &rig{t: t, dir: t.TempDir(), name: shared.fleet.Namespace(t)}
	r.admin = kubernetes.NewForConfigOrDie(shared.fleet.RESTConfig(here))
	redactor := redact.New()
	r.Engine = &Engine{
		Resolve:   new(kubeconfig.Resolver).Resolve,
		Records:   inTheCluster,
		Renderers: map[string]render.Renderer{"manifests": plain.New(plain.Options{Redact: redactor.Redact})},
		Redactor:  redactor,
		Version:   "test",
		OnEvent: func(ev fleetplan.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, ev)
			if r.on != nil {
				r.on(ev)
			}
		},
	}
	return r
}

// narrow gives a session to the record store, as the wiring does.
type narrow struct{ *kubeapi.RESTClient }

func (n narrow) Delete(ctx context.Context, path string, body any) error {
	return n.RESTClient.Delete(ctx, path, nil, body, nil)
}

// write puts a file into the rig's directory and returns its path.
func (r *rig) write(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// bundle is a bundle file with one instance "app" of manifests in app.yaml, which it writes. More is added to the bundle
// as it is, indented by two.
func (r *rig) bundle(manifests string, more ...string) string {
	r.t.Helper()
	r.write("app.yaml", manifests)
	return fmt.Sprintf("bundle:\n  apiVersion: v1alpha1\n  name: %s\n  instances:\n    app:\n      namespace: %s\n      manifests: {paths: [app.yaml]}\n%s",
		r.name, r.name, strings.Join(more, "\n"))
}

// configMap is a manifest; data are lines of YAML.
func (r *rig) configMap(name string, data ...string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata:\n  " + strings.Join(data, "\n  ") + "\n"
}

// deployment is a manifest of one that gets ready when somebody writes its status.
func (r *rig) deployment(name string) string {
	return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: " +
		name + "}}\n  template:\n    metadata: {labels: {app: " + name + "}}\n    spec: {containers: [{name: main, image: example.com/web:1}]}\n"
}

// request is for bundle.yaml of the rig's directory, and for its fleet.yaml where there is one.
func (r *rig) request() Request {
	req := Request{Input: filesOf(r.dir, "bundle.yaml"), RunOptions: RunOptions{Wait: true, Author: "tester",
		Access: fleet.AccessOptions{Kubeconfig: r.kubeconfig(), Context: here}}}
	if path := filepath.Join(r.dir, "fleet.yaml"); exists(path) {
		docs(&req).FleetFiles, req.Access.Context = []string{path}, ""
	}
	return req
}

// filesOf are the files of a directory, with the directory itself as the one of modules.
func filesOf(dir string, names ...string) Input {
	at := fleetplan.Paths{Workdir: dir}
	for _, name := range names {
		at.Files = append(at.Files, filepath.Join(dir, name))
	}
	return Input{Documents: &workspace.Files{Paths: at, Dir: dir}}
}

// docs are the files that a request reads, for changing that request alone.
func docs(req *Request) *workspace.Files { return workspace.Of(&req.Documents) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// kubeconfig has the context of the API server and those of clusters that are broken in one way each: "down", where
// nobody listens; "silent", which takes connections and says nothing; "expired", whose token is not taken (any more);
// "plugin", whose credential plug-in is not installed.
func (r *rig) kubeconfig() string {
	r.t.Helper()
	path := filepath.Join(r.dir, "kubeconfig")
	if exists(path) {
		return path
	}
	cfg, err := clientcmd.LoadFromFile(shared.fleet.Kubeconfig())
	if err != nil {
		r.t.Fatal(err)
	}
	server := cfg.Contexts[here].Cluster
	cfg.Clusters["nobody"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1", CertificateAuthorityData: cfg.Clusters[server].CertificateAuthorityData}
	r.silent, err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = r.silent.Close() }) // connections wait in its queue, and nobody takes them
	cfg.Clusters["silent"] = &clientcmdapi.Cluster{Server: "https://" + r.silent.Addr().String(), CertificateAuthorityData: cfg.Clusters[server].CertificateAuthorityData}
	cfg.Contexts["silent"] = &clientcmdapi.Context{Cluster: "silent", AuthInfo: "expired"}
	cfg.AuthInfos["expired"] = &clientcmdapi.AuthInfo{Token: "expired"}
	cfg.AuthInfos["plugin"] = &clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1",
		Command: "no-such-plugin", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}}
	cfg.Contexts["down"] = &clientcmdapi.Context{Cluster: "nobody", AuthInfo: "expired"}
	cfg.Contexts["expired"] = &clientcmdapi.Context{Cluster: server, AuthInfo: "expired"}
	cfg.Contexts["plugin"] = &clientcmdapi.Context{Cluster: server, AuthInfo: "plugin"}
	if err := clientcmd.WriteToFile(*cfg, path); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// asked reports whether somebody connects to the silent context within a time, and takes the connection.
func (r *rig) asked(within time.Duration) bool {
	if err := r.silent.SetDeadline(time.Now().Add(within)); err != nil {
		r.t.Error(err)
	}
	c, err := r.silent.Accept()
	if err == nil {
		r.t.Cleanup(func() { _ = c.Close() })
	}
	return err == nil
}

// may waits until the API server lets a user do what the rules say in a namespace ("": everywhere): it learns of roles and
// bindings by watching them.
func (r *rig) may(user, namespace string, rules ...rbacv1.PolicyRule) {
	r.t.Helper()
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user,
						ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource}}}
					r.soon(func() bool {
						got, err := r.admin.AuthorizationV1().SubjectAccessReviews().Create(r.t.Context(), review, metav1.CreateOptions{})
						return err == nil && got.Status.Allowed
					})
				}
			}
		}
	}
}

// soon waits until something holds that comes by itself, with a bound that no machine reaches.
func (r *rig) soon(holds func() bool) {
	r.t.Helper()
	for end := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal("it did not come true")
		}
	}
}

// plan plans and fails the test where there is no plan; findings are the test's matter.
func (r *rig) plan(req Request) *Prepared {
	r.t.Helper()
	fp, err := r.Plan(r.t.Context(), req)
	if err != nil {
		r.t.Fatalf("plan: %v", err)
	}
	r.t.Cleanup(fp.run.close)
	return fp
}

// confirming gives a request the number of the deletions of its plan, where that can be made.
func (r *rig) confirming(req *Request) Request {
	r.t.Helper()
	if fp, err := r.Plan(r.t.Context(), *req); err == nil {
		n := fp.Counts().Delete + fp.Counts().Recreate
		req.ConfirmDelete = &n
		fp.Close()
	}
	return *req
}

// Apply carries a plan out as a command does: through its soaks, and not through windows and approvals.
func (r *rig) Apply(ctx context.Context, fp *Prepared, req Request) (*fleetplan.Outcome, error) {
	return driven(ctx, r.Engine, fp, req)
}

func driven(ctx context.Context, e *Engine, fp *Prepared, req Request) (*fleetplan.Outcome, error) {
	o, err := e.Begin(ctx, fp, req)
	if err != nil {
		return nil, err
	}
	for w := o.Pass(ctx); w != nil && ctx.Err() == nil; w = o.Pass(ctx) {
		if w.On != rollout.ForSoak && w.On != rollout.ForObjects {
			o.Stop(w.Why)
			continue
		}
		select {
		case <-time.After(time.Until(w.Wake)):
		case <-o.Changed():
		case <-req.Stop:
			o.Stop(passes.Interrupted)
		case <-ctx.Done():
		}
	}
	return o.End()
}

// apply plans and applies.
func (r *rig) apply(req Request) (*fleetplan.Outcome, error) {
	r.t.Helper()
	return r.Apply(r.t.Context(), r.plan(req), req)
}

// applied is apply that must succeed.
func (r *rig) applied(req Request) *fleetplan.Outcome {
	r.t.Helper()
	out, err := r.apply(req)
	if err != nil {
		data, _ := json.MarshalIndent(out, "", " ")
		r.t.Fatalf("apply: %v\n%s", err, data)
	}
	return out
}

// rolledOut makes a Deployment look as its controller leaves it: ready, or with its one pod gone.
func (r *rig) rolledOut(name string, ready bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	d, err := r.admin.AppsV1().Deployments(r.name).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		r.t.Error(err)
		return
	}
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1}
	if ready {
		d.Status.ReadyReplicas, d.Status.AvailableReplicas = 1, 1
	} else {
		d.Status.UnavailableReplicas = 1
	}
	if _, err := r.admin.AppsV1().Deployments(r.name).UpdateStatus(ctx, d, metav1.UpdateOptions{}); err != nil {
		r.t.Error(err)
	}
}

// record is what the cluster keeps of the rig's bundle.
func (r *rig) record() *release.Record {
	r.t.Helper()
	var rec *release.Record
	r.stored(func(store release.Store) (err error) {
		rec, _, err = store.Current(r.t.Context(), object.OwnerID("", "", r.name))
		return err
	})
	return rec
}

// recorded are the objects that the cluster keeps of the rig's bundle.
func (r *rig) recorded() []object.Object {
	r.t.Helper()
	var objs []object.Object
	r.stored(func(store release.Store) error {
		rec, _, err := store.Current(r.t.Context(), object.OwnerID("", "", r.name))
		if err == nil && rec != nil {
			objs, err = store.Objects(r.t.Context(), *rec)
		}
		return err
	})
	return objs
}

// stored asks the store of the rig's cluster.
func (r *rig) stored(ask func(release.Store) error) {
	r.t.Helper()
	run, err := r.load(r.t.Context(), r.request(), true)
	if err != nil {
		r.t.Fatal(err)
	}
	defer run.close()
	if err := run.connect(r.t.Context(), false); err != nil {
		r.t.Fatal(err)
	}
	if err := ask(run.targets[0].Store); err != nil {
		r.t.Fatal(err)
	}
}

// codes are the distinct codes of findings, sorted.
func codes(fp *Prepared) []string {
	set := map[string]bool{}
	for _, f := range fp.Findings {
		set[f.Code] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// inTheCluster keeps records in the Secrets of each cluster.
func inTheCluster(*v1alpha1.FleetSpec, func(context.Context, string) (string, error)) func(*cluster.Session, string) release.Store {
	return func(s *cluster.Session, name string) release.Store { return kube.New(narrow{s.REST()}, name) }
}

// opened lets records be opened in one way, whatever the fleet says.
func opened(open func(*cluster.Session, string) release.Store) func(*v1alpha1.FleetSpec, func(context.Context, string) (string, error)) func(*cluster.Session, string) release.Store {
	return func(*v1alpha1.FleetSpec, func(context.Context, string) (string, error)) func(*cluster.Session, string) release.Store {
		return open
	}
}
