package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/chartdir"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/helm"
	"hawser.dev/hawser/internal/rollout"
)

const webPath = "/apis/apps/v1/namespaces/default/deployments/web"

// unready is an engine whose bundle has a Deployment that nothing makes ready but rolledOut.
func unready(t *testing.T, contexts ...string) *served {
	t.Helper()
	var clusters strings.Builder
	for _, name := range contexts {
		fmt.Fprintf(&clusters, "    %s: {group: all, kubeContext: %s}\n", name, name)
	}
	s := newServed(t, clusters.String()+"  rollout: {waves: [{groups: [all]}]}\n", nil, contexts...)
	s.write("app.yaml", `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "example.com/web:1"}]}}}
`)
	return s
}

// rolledOut makes the Deployment of a cluster look as its controller leaves it.
func (s *served) rolledOut(name string) {
	s.servers[name].SetStatus(webPath, map[string]any{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1})
}

// waits makes passes until one waits for objects of just these clusters, or fails the test.
func (s *served) waits(o *Rollout, clusters ...string) *rollout.Wait {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		w := o.Pass(s.t.Context())
		if w == nil {
			out, err := o.End()
			s.t.Fatalf("it is over: %v %+v", err, out)
		}
		if w.On == rollout.ForObjects && slices.Equal(w.Clusters, clusters) {
			return w
		}
		if time.Now().After(end) {
			s.t.Fatalf("it waits for %+v", w)
		}
		changed(s.t, o, w)
	}
}

// changed waits until the next pass may have something to do.
func changed(t *testing.T, o *Rollout, w *rollout.Wait) {
	t.Helper()
	select {
	case <-o.Changed():
	case <-time.After(time.Until(w.Wake)):
	case <-time.After(time.Minute):
		t.Fatal("nothing happens")
	}
}

// ended makes passes until a rollout is over.
func ended(t *testing.T, o *Rollout) (*fleetplan.Outcome, error) {
	t.Helper()
	for w := o.Pass(t.Context()); w != nil; w = o.Pass(t.Context()) {
		changed(t, o, w)
	}
	return o.End()
}

// A pass ends where nothing is left but waiting for objects: the record is open, the lock held, and nothing is written while passes find nothing
// new. What gets ready on one cluster ends its part alone.
func TestPassesWaitForObjects(t *testing.T) {
	t.Parallel()
	s := unready(t, "a", "b")
	o := s.begins()
	w := s.waits(o, "a", "b")
	if !strings.HasPrefix(w.Why, "a: Deployment default/web") || !strings.Contains(w.Why, "and 1 more") || w.Wave != 1 || w.Wake.Before(w.Since) {
		t.Errorf("%+v", w)
	}
	if rel := s.releases(); !slices.Equal(rel, []string{"1 applying on a b"}) {
		t.Errorf("records: %v", rel)
	}
	if _, err := s.apply(); err == nil || !strings.Contains(err.Error(), "locked by tester") {
		t.Errorf("another run began: %v", err)
	}
	before, wrote := s.kept(), len(s.wrote("a"))
	s.waits(o, "a", "b")
	if after := s.kept(); after != before || len(s.wrote("a")) != wrote {
		t.Errorf("a pass that found nothing new wrote %v", s.wrote("a")[wrote:])
	}
	s.rolledOut("b")
	s.waits(o, "a")
	s.rolledOut("a")
	out, err := ended(t, o)
	if err != nil || out.Result != fleetplan.Succeeded || len(out.Clusters) != 2 {
		t.Errorf("%v %+v", err, out)
	}
	if rel := s.releases(); !slices.Equal(rel, []string{"1 succeeded on a b"}) {
		t.Errorf("records: %v", rel)
	}
}

// apply plans and applies as a command does.
func (s *served) apply() (*fleetplan.Outcome, error) {
	fp, err := s.Plan(s.t.Context(), s.request())
	if err != nil {
		return nil, err
	}
	return s.Apply(s.t.Context(), fp, s.request())
}

// A rollout that is closed while it waits leaves what it leaves when its process dies there: the open record. It gives its lock back, is no
// success, and the next run goes on with the same release.
func TestRolloutClosedWhileItWaits(t *testing.T) {
	t.Parallel()
	s := unready(t, "a")
	o := s.begins()
	s.waits(o, "a")
	before := s.kept()
	out, err := o.End()
	if err == nil || out.Result != fleetplan.Interrupted || len(out.Clusters) != 1 || !strings.Contains(out.Clusters[0].Reason, "Deployment default/web") {
		t.Errorf("%v %+v", err, out)
	}
	if after := s.kept(); after != before {
		t.Errorf("closed, it keeps something else:\n%s\n%s", before, after)
	}
	next := s.begins()
	s.waits(next, "a")
	s.rolledOut("a")
	again, err := ended(t, next)
	if err != nil || again.Rollout != out.Rollout {
		t.Errorf("%v: %+v", err, again)
	}
	if rel := s.releases(); !slices.Equal(rel, []string{"1 succeeded on a"}) {
		t.Errorf("records: %v", rel)
	}
}

// A value that another instance's object has yet to get is a reason to wait like any other: no pass sleeps for it.
func TestPassesWaitForValues(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: taker}\ndata: {uri: {{ .Values.uri | quote }}}\n")
	r.write("db.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n")
	r.values("uri: {from: {instance: db, object: v1/ConfigMap/made, path: data.uri}}")
	r.write("bundle.yaml", r.read("bundle.yaml")+"    db:\n      namespace: "+r.name+"\n      manifests: {paths: [db.yaml]}\n")
	o, err := r.Begin(t.Context(), r.plan(r.request()), r.request())
	if err != nil || len(o.Blocked) > 0 {
		t.Fatal(err, o.Blocked)
	}
	waits := func() *rollout.Wait {
		for w := o.Pass(t.Context()); ; w = o.Pass(t.Context()) {
			if w == nil || strings.Contains(w.Why, "taker takes its data.uri") || strings.Contains(w.Why, "app takes its data.uri") {
				return w
			}
			changed(t, o, w)
		}
	}
	w := waits()
	if w == nil || w.On != rollout.ForObjects || time.Until(w.Wake) > 6*time.Second || !strings.Contains(w.Why, "ConfigMap "+r.name+"/made") {
		t.Fatalf("%+v", w)
	}
	start := time.Now()
	if again := o.Pass(t.Context()); again == nil || !again.Since.Equal(w.Since) || time.Since(start) > 30*time.Second {
		t.Errorf("%+v after %s", again, time.Since(start))
	}
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made"}, Data: map[string]string{"uri": "postgres://db"}}
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Create(t.Context(), made, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if out, err := ended(t, o); err != nil || out.Result != fleetplan.Succeeded {
		t.Errorf("%v %+v", err, out)
	}
	if got, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "taker", metav1.GetOptions{}); err != nil || got.Data["uri"] != "postgres://db" {
		t.Errorf("%v %v", err, got)
	}
}

// refusing is a renderer that refuses an instance whose values hold a text, once, when the plan is made.
type refusing struct {
	render.Renderer
	text    string
	planned *atomic.Bool
	once    *sync.Once
}

func (r refusing) Key(ctx context.Context, req render.Request) (_ string, err error) {
	if data, _ := req.Instance.Values.MarshalJSON(); r.planned.Load() && strings.Contains(string(data), r.text) {
		r.once.Do(func() { err = errors.New("this one is refused") })
	}
	if err != nil {
		return "", err
	}
	return r.Renderer.Key(ctx, req)
}

// takers is a rig whose instances take values of what db, or somebody else, makes: lines of YAML.
func takers(t *testing.T, instances string) *rig {
	r := chartRig(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {uri: {{ .Values.uri | quote }}}\n")
	r.write("db.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conn}\ndata: {uri: \"postgres://db\"}\n")
	r.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  instances:\n    db: {namespace: "+r.name+", manifests: {paths: [db.yaml]}}\n"+
		strings.ReplaceAll(instances, "NS", r.name))
	return r
}

// make makes the object that nobody declares.
func (r *rig) make(data map[string]string) {
	r.t.Helper()
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "made"}, Data: data}
	_, err := r.admin.CoreV1().ConfigMaps(r.name).Update(r.t.Context(), made, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = r.admin.CoreV1().ConfigMaps(r.name).Create(r.t.Context(), made, metav1.CreateOptions{})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// until makes passes until one waits with a text in its reason; nil when the rollout is over before.
func until(t *testing.T, o *Rollout, why string) *rollout.Wait {
	t.Helper()
	for w := o.Pass(t.Context()); ; w = o.Pass(t.Context()) {
		if w == nil || strings.Contains(w.Why, why) {
			return w
		}
		changed(t, o, w)
	}
}

func (r *rig) begin() *Rollout {
	r.t.Helper()
	o, err := r.Begin(r.t.Context(), r.plan(r.request()), r.request())
	if err != nil || len(o.Blocked) > 0 {
		r.t.Fatal(err, o.Blocked)
	}
	return o
}

// What stands against an instance whose values have come is not forgotten while another one of the same step waits for its own.
func TestRefusedBesideOneThatWaits(t *testing.T) {
	t.Parallel()
	r := takers(t, `    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}
    two: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/made, path: data.uri}}}}
`)
	planned := new(atomic.Bool)
	r.Renderers["helm"] = refusing{r.Renderers["helm"], "postgres://db", planned, new(sync.Once)}
	o := r.begin()
	planned.Store(true)
	if until(t, o, "two takes its data.uri") == nil {
		t.Fatal("it does not wait")
	}
	r.make(map[string]string{"uri": "else"})
	out, err := ended(t, o)
	if err == nil || !strings.Contains(fmt.Sprintf("%+v", out.Clusters), "this one is refused") {
		t.Errorf("%v %+v", err, out.Clusters)
	}
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "one", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("what was refused is there: %v", err)
	}
	if got, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "two", metav1.GetOptions{}); err != nil || got.Data["uri"] != "else" {
		t.Errorf("the other one: %v %v", got, err)
	}
}

// Each instance waits for its own value, from when it begins to and as long as it may, also where several take from one object.
func TestEachWaitsForItsOwnValue(t *testing.T) {
	t.Parallel()
	r := takers(t, `    one: {namespace: NS, timeout: 1s, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/made, path: data.first}}}}
    two: {namespace: NS, dependsOn: [one], helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/made, path: data.second}}}}
`)
	o := r.begin()
	if until(t, o, "one takes its data.first") == nil {
		t.Fatal("it does not wait")
	}
	r.make(map[string]string{"first": "1"})
	w := until(t, o, "two takes its data.second")
	if w == nil {
		t.Fatal("it does not wait for the second")
	}
	time.Sleep(time.Until(w.Since.Add(1200 * time.Millisecond)))
	if w = o.Pass(t.Context()); w == nil {
		out, err := o.End()
		t.Fatalf("it waited as long as the first may: %v %+v", err, out.Clusters)
	}
	r.make(map[string]string{"first": "1", "second": "2"})
	if out, err := ended(t, o); err != nil {
		t.Errorf("%v %+v", err, out.Clusters)
	}
}

// Where a value does not come for a while, the others of the step and of later ones go on without it, but for what stands on the one that waits; it comes
// after them.
func TestOthersGoOn(t *testing.T) {
	t.Parallel()
	r := takers(t, `    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/made, path: data.uri}}}}
    two: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}
    three: {namespace: NS, dependsOn: [one], helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}
    four: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: two, object: v1/ConfigMap/two, path: data.uri}}}}
`)
	req := r.request()
	req.Timeout = 12 * time.Second
	o, err := r.Begin(t.Context(), r.plan(req), req)
	if err != nil || len(o.Blocked) > 0 {
		t.Fatal(err, o.Blocked)
	}
	if until(t, o, "one takes its data.uri") == nil {
		t.Fatal("it does not wait")
	}
	if got := r.there(); !slices.Equal(got, []string{"conn=postgres://db"}) {
		t.Errorf("at once there are %v", got)
	}
	begun := time.Now()
	for w := o.Pass(t.Context()); !slices.Contains(r.there(), "four=postgres://db"); w = o.Pass(t.Context()) {
		if w == nil || time.Since(begun) > 10*time.Second {
			t.Fatalf("the others do not go on: %+v, there are %v", w, r.there())
		}
		changed(t, o, w)
	}
	if got := r.there(); !slices.Equal(got, []string{"conn=postgres://db", "four=postgres://db", "two=postgres://db"}) {
		t.Errorf("while one waits there are %v", got)
	}
	r.make(map[string]string{"uri": "made"})
	if out, err := ended(t, o); err != nil {
		t.Fatalf("%v %+v", err, out.Clusters)
	}
	want := []string{"conn=postgres://db", "four=postgres://db", "one=made", "three=postgres://db", "two=postgres://db"}
	if got := r.there(); !slices.Equal(got, want) {
		t.Errorf("in the end there are %v", got)
	}
	if fp := r.plan(r.request()); !fp.settled() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
}

const madePath = "/api/v1/namespaces/default/configmaps/made"

// servedTakers is an engine whose bundle has instances that take a key of what somebody makes besides.
func servedTakers(t *testing.T, takes map[string]string) *served {
	t.Helper()
	s := newServed(t, "", nil, "a")
	s.Renderers["helm"] = helm.New(helm.Options{})
	s.Fetchers = map[string]module.Fetcher{module.ChartScheme + "file": chartdir.New(cache.Open(cache.Options{Dir: t.TempDir()}))}
	if err := os.MkdirAll(filepath.Join(s.dir, "chart", "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("chart/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n")
	s.write("chart/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {uri: {{ .Values.uri | quote }}}\n")
	bundle := s.read("bundle.yaml")
	for _, name := range slices.Sorted(maps.Keys(takes)) {
		bundle += "    " + name + ": {namespace: default, helm: {chart: ./chart}, values: {uri: {from: {instance: app, object: v1/ConfigMap/made, path: data." + takes[name] + "}}}}\n"
	}
	s.write("bundle.yaml", bundle)
	return s
}

// A run whose one fault is that a value did not come in time is not ready in time, as one whose workload did not get ready; where something failed
// besides, it failed.
func TestValueThatNeverComes(t *testing.T) {
	t.Parallel()
	s := servedTakers(t, map[string]string{"one": "first"})
	req := s.request()
	req.Timeout = time.Second
	denied := atomic.Bool{}
	s.servers["a"].Fault(func(w http.ResponseWriter, r *http.Request) bool {
		if !denied.Load() || r.Method != http.MethodGet || r.URL.Path != madePath {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	for _, deny := range []bool{false, true} {
		denied.Store(false)
		fp, err := s.Plan(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		denied.Store(deny)
		out, err := s.Apply(t.Context(), fp, req)
		if err == nil || errors.Is(err, fleetplan.ErrNotReady) == deny || len(out.Clusters) != 1 || out.Clusters[0].TimedOut == deny {
			t.Errorf("denied %v: %v %+v", deny, err, out)
		}
	}
}

// A value that was there and is gone when it is put in is waited for again: nothing that stands for it is written.
func TestValueThatGoesMeanwhile(t *testing.T) {
	t.Parallel()
	s := servedTakers(t, map[string]string{"one": "first", "two": "second"})
	const path = madePath
	var asked atomic.Int32
	s.servers["a"].Fault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && r.URL.Path == path {
			data := map[string]any{"first": "1", "second": "2"}
			switch asked.Add(1) {
			case 1, 2: // the plan, and under the lock
				return false
			case 3:
				delete(data, "second")
				delete(data, "first")
			case 4:
				delete(data, "second")
			case 5:
				delete(data, "first")
			}
			s.servers["a"].Put(path, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "made"}, "data": data})
		}
		return false
	})
	o := s.begins()
	out, err := ended(t, o)
	if err != nil || out.Result != fleetplan.Succeeded {
		t.Fatalf("%v %+v", err, out)
	}
	for name, want := range map[string]string{"one": "1", "two": "2"} {
		if got := s.servers["a"].Object("/api/v1/namespaces/default/configmaps/" + name); got == nil || got["data"].(map[string]any)["uri"] != want {
			t.Errorf("%s is %v after %d looks", name, got, asked.Load())
		}
	}
}

func (s *served) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}
