package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/input"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/secret"
	"hawser.dev/hawser/internal/sessions"
	"hawser.dev/hawser/internal/testserver"
	"hawser.dev/hawser/internal/values"
)

// inMemory is a source of modules, a renderer of them and a store of secrets that read no file: each instance is one object with its
// values as data.
type inMemory struct{}

func (inMemory) Schemes() []string { return []string{"mem"} }

func (inMemory) Resolve(context.Context, module.Reference) (module.Resolved, error) {
	return module.Resolved{Version: "1.0.0", Digest: "sha256:" + strings.Repeat("0", 64)}, nil
}

func (inMemory) Fetch(context.Context, module.Reference) (module.Content, error) {
	return module.Content{Version: "1.0.0", Digest: "sha256:" + strings.Repeat("0", 64)}, nil
}

func (inMemory) Name() string { return "module" }

func (inMemory) Key(_ context.Context, req render.Request) (string, error) {
	text, err := textOf(req.Instance)
	return req.Bundle + "/" + req.Instance.Name + " " + text, err
}

func (inMemory) Render(_ context.Context, req render.Request) (render.Result, error) {
	var given map[string]any
	text, err := textOf(req.Instance)
	err = errors.Join(err, json.Unmarshal([]byte(text), &given))
	data := map[string]any{}
	for key, value := range given {
		data[key] = fmt.Sprint(value)
	}
	body := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": req.Instance.Name}, "data": data}
	if strings.HasPrefix(req.Instance.Name, "never") {
		labels := map[string]any{"app": "never"}
		body = map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": req.Instance.Name}, "spec": map[string]any{
			"selector": map[string]any{"matchLabels": labels}, "template": map[string]any{"metadata": map[string]any{"labels": labels},
				"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "example.com/web:1"}}}}}}
	}
	return render.Result{Objects: []object.Object{{Instance: req.Instance.Name, Body: body}}}, err
}

func (inMemory) Get(_ context.Context, ref secret.Ref) (string, error) {
	return "opensesame-" + ref.Path, nil
}

// textOf are an instance's values as JSON.
func textOf(in v1alpha1.Instance) (string, error) {
	data, err := in.Values.MarshalJSON()
	return string(data), err
}

// records gives a session to the record store.
type records struct{ *kubeapi.RESTClient }

func (r records) Delete(ctx context.Context, path string, body any) error {
	return r.RESTClient.Delete(ctx, path, nil, body, nil)
}

// hub is a program that is not the command line: one Engine and one pool for many bundles in memory, delivered by a few workers that never
// wait for one of them.
type hub struct {
	*engine.Engine
	t       *testing.T
	pool    sessions.Pool
	fleet   *v1alpha1.FleetSpec
	servers []*testserver.Server

	mu      sync.Mutex
	bundles map[string]v1alpha1.BundleSpec
	events  []fleetplan.Event
}

func newHub(t *testing.T, clusters ...string) *hub {
	h := &hub{t: t, fleet: &v1alpha1.FleetSpec{Name: "prod", SecretStores: map[string]v1alpha1.SecretStore{"vault": {Env: &v1alpha1.EnvStore{}}}},
		bundles: map[string]v1alpha1.BundleSpec{}}
	paths := map[string]string{}
	for _, name := range clusters {
		s := testserver.Start(t)
		h.servers, paths[name] = append(h.servers, s), s.Kubeconfig(t)
		h.fleet.Clusters = append(h.fleet.Clusters, v1alpha1.ClusterSpec{Name: name})
	}
	h.Engine = &engine.Engine{
		Sessions: h.pool.Get,
		Resolve: func(c fleet.Cluster, _ fleet.AccessOptions) (fleet.Access, diag.Findings) {
			return fleet.Access{KubeconfigPaths: []string{paths[c.Name]}, Context: "test"}, nil
		},
		Records: func(*v1alpha1.FleetSpec, func(context.Context, string) (string, error)) func(*cluster.Session, string) release.Store {
			return func(s *cluster.Session, name string) release.Store { return kube.New(records{s.REST()}, name) }
		},
		Renderers: map[string]render.Renderer{"module": inMemory{}},
		Fetchers:  map[string]module.Fetcher{"mem": inMemory{}},
		Stores:    func(v1alpha1.SecretStore, values.Secrets) (secret.Store, error) { return inMemory{}, nil },
		OnEvent: func(ev fleetplan.Event) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.events = append(h.events, ev)
		},
		Version: "hub",
	}
	return h
}

// declare sets a bundle of one instance with values as JSON.
func (h *hub) declare(bundle, instance, text string) {
	h.t.Helper()
	var given v1alpha1.Values
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		h.t.Fatal(err)
	}
	in := v1alpha1.Instance{Name: instance, Namespace: "default", Module: &v1alpha1.ModuleSource{URL: "mem://modules/one"}, Values: given}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bundles[bundle] = v1alpha1.BundleSpec{Name: bundle, Instances: []v1alpha1.Instance{in}}
}

// task is a bundle on its way through the queue.
type task struct {
	bundle  string
	request engine.Request
	plan    *engine.Prepared
	rollout *engine.Rollout
	out     *fleetplan.Outcome
	err     error
}

// step does what can be done now: it plans and begins, or makes one pass. It returns when there is something to do again, false when the
// bundle is done.
func (h *hub) step(ctx context.Context, k *task, op engine.Operation) (time.Time, bool) {
	if k.rollout == nil {
		if k.plan, k.err = h.Plan(ctx, k.request.For(op)); k.err != nil {
			return time.Time{}, false
		}
		if k.rollout, k.err = h.Begin(ctx, k.plan, k.request); k.err != nil {
			return time.Time{}, false
		}
	}
	if w := k.rollout.Pass(ctx); w != nil {
		return w.Wake, true
	}
	k.out, k.err = k.rollout.End()
	return time.Time{}, false
}

// round delivers bundles with four workers, and tells what came of each. One that waits is put back into the queue for when it has
// something to do.
func (h *hub) round(ctx context.Context, op engine.Operation, names ...string) map[string]*task {
	queue, all := make(chan *task, len(names)), map[string]*task{}
	var left atomic.Int64
	left.Store(int64(len(names)))
	for _, name := range names {
		h.mu.Lock()
		spec := h.bundles[name]
		h.mu.Unlock()
		k := &task{bundle: name, request: engine.Request{Input: engine.Input{Documents: input.Of(h.fleet, spec)}, Selection: engine.Selection{Bundle: name},
			PlanOptions: engine.PlanOptions{ShowFields: true, ShowDiff: true, ShowContent: true},
			RunOptions:  engine.RunOptions{Wait: true, Applies: true, Author: "hub", Timeout: time.Minute}}}
		if name == "never" {
			k.request.Timeout = 2 * time.Second
		}
		all[name] = k
		queue <- k
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for k := range queue {
				if wake, more := h.step(ctx, k, op); more {
					go func() {
						select {
						case <-k.rollout.Changed():
						case <-time.After(time.Until(wake)):
						}
						queue <- k
					}()
				} else if left.Add(-1) == 0 {
					close(queue)
				}
			}
		})
	}
	workers.Wait()
	return all
}

// writes are the requests that changed something on any cluster since they were counted last.
func (h *hub) writes(seen []int) (out []string) {
	for i, s := range h.servers {
		all := s.Requests()
		for _, r := range all[seen[i]:] {
			if !strings.HasPrefix(r, "GET ") && !strings.Contains(r, "dryRun=") && !strings.Contains(r, "selfsubject") {
				out = append(out, r)
			}
		}
		seen[i] = len(all)
	}
	return out
}

// deletes deletes bundles, and nothing else goes with them.
func (h *hub) deletes(names ...string) {
	t := h.t
	gone := h.round(t.Context(), engine.Delete, names...)
	for name, k := range gone {
		if k.err != nil {
			t.Errorf("delete %s: %v", name, k.err)
		}
		for _, s := range h.servers {
			if s.Object("/api/v1/namespaces/default/configmaps/app-"+name) != nil || s.Object("/api/v1/namespaces/default/configmaps/app-b10") == nil {
				t.Errorf("%s is there still, or another went with it", name)
			}
		}
	}
}

// TestSecondProgram: fifty bundles in memory go to three clusters in passes, by four workers, one Engine and one pool of sessions. One that
// never gets ready keeps no other from being delivered; what is unchanged writes nothing; what is changed or deleted is that alone; and no
// run knows the secrets of another.
func TestSecondProgram(t *testing.T) {
	h := newHub(t, "eu", "us", "ap")
	var names, well []string
	for i := range 49 {
		name := fmt.Sprintf("b%02d", i)
		h.declare(name, "app-"+name, fmt.Sprintf(`{"size": %d, "password": "ref://vault:%s"}`, i, name))
		well = append(well, name)
	}
	h.declare("never", "never", `{"size": 1}`)
	h.declare("b48", "app-b48", `{"hint": "opensesame-b47", "password": "ref://vault:b48"}`) // to which another's secret is a word like any other
	names = append([]string{"never"}, well...)
	seen := make([]int, len(h.servers))

	first := h.round(t.Context(), engine.Apply, names...)
	for _, name := range well {
		if k := first[name]; k.err != nil || k.out.Result != fleetplan.Succeeded || len(k.out.Clusters) != 3 {
			t.Fatalf("%s: %v %+v", name, k.err, k.out)
		}
	}
	if k := first["never"]; !errors.Is(k.err, fleetplan.ErrNotReady) || k.out.Result != fleetplan.Failed {
		t.Errorf("never: %v", k.err)
	}
	for _, s := range h.servers {
		for _, name := range well {
			if s.Object("/api/v1/namespaces/default/configmaps/app-"+name) == nil {
				t.Errorf("%s is not there", name)
			}
		}
	}
	if h.pool.Kept() != 3 {
		t.Errorf("%d connections to 3 clusters", h.pool.Kept())
	}
	if len(h.writes(seen)) < 49*3 {
		t.Error("nothing was written")
	}
	shown := func(k *task) string { return fmt.Sprintf("%+v", k.plan.Clusters[0].Plan) }
	for i, name := range well[:48] {
		if text := shown(first[name]); strings.Contains(text, "opensesame-"+name) {
			t.Errorf("bundle %d: its secret is shown: %s", i, text)
		}
	}
	if text := shown(first["b48"]); !strings.Contains(text, "opensesame-b47") || strings.Contains(text, "opensesame-b48") {
		t.Errorf("another's secret is known, or its own is not: %s", text)
	}

	for name, k := range h.round(t.Context(), engine.Apply, well...) {
		if k.err != nil || k.out.Result != fleetplan.UpToDate {
			t.Errorf("%s again: %v, %s", name, k.err, k.out.Result)
		}
	}
	if w := h.writes(seen); len(w) > 0 {
		t.Errorf("nothing changed, and this was written: %s", strings.Join(w, "\n"))
	}

	h.declare("b07", "app-b07", `{"size": 700, "password": "ref://vault:b07"}`)
	for name, k := range h.round(t.Context(), engine.Apply, well...) {
		if n := k.plan.Counts().Writes(); k.err != nil || name == "b07" && n != 3 || name != "b07" && n != 0 {
			t.Errorf("%s: %d writes, %v", name, n, k.err)
		}
	}
	if w := h.writes(seen); slices.ContainsFunc(w, func(r string) bool { return strings.Contains(r, "/configmaps/") && !strings.Contains(r, "/app-b07?") }) || len(w) == 0 {
		t.Errorf("one bundle changed, and this was written: %s", strings.Join(w, "\n"))
	}

	h.deletes("b08", "b09")
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ev := range h.events {
		if ev.Bundle != "b48" && strings.Contains(ev.Message, "opensesame") {
			t.Errorf("%s: %s", ev.Bundle, ev.Message)
		}
	}
}
