package desired

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/values"
)

// configMaps renders each instance as a ConfigMap of its name that holds its values.
type configMaps struct {
	rendered []string
	// odd makes every render another one.
	odd bool
	// refuses says why values are refused, as a chart's schema does; "" takes them.
	refuses func(data map[string]any) string
	warns   diag.Findings              // of every render
	kinds   map[string][]v1alpha1.Kind // that the values take instead of texts
}

func (c *configMaps) Kinds(_ context.Context, _ render.Request, paths []v1alpha1.Path) (out [][]v1alpha1.Kind) {
	for _, p := range paths {
		out = append(out, c.kinds[p.String()])
	}
	return out
}

func (c *configMaps) Name() string { return "manifests" }

func (c *configMaps) Key(_ context.Context, req render.Request) (string, error) {
	x, err := req.Instance.Values.Struct.Any()
	return object.DigestJSON(map[string]any{"name": req.Instance.Name, "values": x}), err
}

func (c *configMaps) Render(_ context.Context, req render.Request) (render.Result, error) {
	c.rendered = append(c.rendered, req.Instance.Name)
	data, err := req.Instance.Values.Struct.Any()
	if err != nil {
		return render.Result{}, err
	}
	body := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": req.Instance.Name}, "data": data}
	if c.refuses != nil {
		if why := c.refuses(data.(map[string]any)); why != "" {
			return render.Result{}, errors.New(why)
		}
	}
	if c.odd {
		body["data"] = map[string]any{"n": fmt.Sprint(len(c.rendered))}
	}
	return render.Result{Objects: []object.Object{{Instance: req.Instance.Name, Body: body}}, Findings: c.warns}, nil
}

// connected is a cluster that has these objects, by kind/namespace/name.
type connected map[string]map[string]any

func (c connected) Get(_ context.Context, _, kind, namespace, name string) (map[string]any, error) {
	if body := c[kind+"/"+namespace+"/"+name]; body != nil {
		return body, nil
	}
	return nil, apierrors.NewNotFound(corev1.Resource(strings.ToLower(kind)), name)
}

func (c connected) Kind(gvk schema.GroupVersionKind) (kubeapi.KindInfo, bool) {
	return kubeapi.KindInfo{Kind: gvk.Kind, Namespaced: gvk.Kind != "Namespace"}, true
}

// keeper is a store that keeps made-up values, and nothing else.
type keeper struct {
	release.Store
	release.Keeper
	kept  release.Kept
	wrote int
}

func (k *keeper) Kept(context.Context, string) (release.Kept, release.RecordVersion, error) {
	return k.kept, "h", nil
}

func (k *keeper) Keep(_ context.Context, _ string, kept release.Kept, _ release.RecordVersion) (release.RecordVersion, error) {
	k.kept, k.wrote = kept, k.wrote+1
	return "h", nil
}

// rig is a run against one cluster.
type rig struct {
	*testing.T
	Resolver
	renderer *configMaps
	cluster  connected
	keeper   *keeper
}

func newRig(t *testing.T) *rig {
	r := &rig{T: t, renderer: &configMaps{}, cluster: connected{}, keeper: &keeper{}}
	redactor := redact.New()
	r.Resolver = Resolver{Renderers: map[string]render.Renderer{"manifests": r.renderer}, Memo: &render.Memo{}, Marks: &render.Marks{}, Redactor: redactor,
		Reader: values.New(values.Options{Redactor: redactor}), Owner: func(name string) string { return object.OwnerID("", "", name) }, Uses: func(string) bool { return false }, Now: time.Now,
		Sources: &source.Resolver{Digest: func(context.Context, v1alpha1.Instance, module.Reading) (string, error) { return "sha256:content", nil }},
		Ahead:   func(context.Context, *State) plan.Ahead { return plan.Ahead{} },
		Beside:  func(context.Context, *State, chance.Own) ([]chance.Beside, error) { return nil, nil }}
	r.anew(nil)
	return r
}

// anew is another run, with what a record says.
func (r *rig) anew(rec *release.Record) {
	r.Memo, r.Marks, r.renderer.rendered = &render.Memo{}, &render.Marks{}, nil
	r.Target = &Target{Cluster: fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: "c1", Group: "g"}}, Facts: fleet.Facts{Name: "c1", Group: "g", Version: "1.36.0"}, Session: r.cluster, Store: r.keeper, Record: rec}
}

// instance is one of manifests, in a namespace of its own, with values in YAML.
func (r *rig) instance(name, text string) v1alpha1.Instance {
	r.Helper()
	f, err := cuelang.FromYAML("b.yaml", []byte(text))
	if err != nil {
		r.Fatal(err)
	}
	x, err := cuelang.FromFile(f)
	if err != nil {
		r.Fatal(err)
	}
	return v1alpha1.Instance{Name: name, Namespace: name + "-ns", Manifests: &v1alpha1.ManifestsSource{Paths: []string{"."}, Dir: "/nowhere"}, Values: v1alpha1.Values{Struct: x}}
}

// state is the desired state of a bundle, rendered.
func (r *rig) state(instances ...v1alpha1.Instance) (*State, diag.Findings) {
	r.Helper()
	s, fs := r.Prepare(r.Context(), v1alpha1.BundleSpec{Name: "b", Instances: instances})
	if fs.HasErrors() {
		r.Fatal(fs.Err())
	}
	return s, append(fs, r.Render(r.Context(), s)...)
}

// refs are the declared objects.
func refs(s *State) (out []string) {
	for _, d := range s.Desired {
		out = append(out, d.Ref.String())
	}
	return out
}

// has is what an object of an instance has under a key.
func (s *State) has(instance, key string) any {
	body := s.Bodies[object.Ref{Kind: "ConfigMap", Namespace: instance + "-ns", Name: instance}].Body
	data, _ := body["data"].(map[string]any)
	return data[key]
}

// Instances are rendered into their namespaces, which are declared too; a suspended one is not rendered, nor one that is placed elsewhere, whose
// reason is told.
func TestRender(t *testing.T) {
	r := newRig(t)
	web, off, away := r.instance("web", "{v: one}"), r.instance("off", "{v: two}"), r.instance("away", "{v: three}")
	off.Suspend, away.Placement = true, &v1alpha1.Placement{Clusters: []string{"c2"}}
	s, fs := r.state(web, off, away)
	if fs.HasErrors() {
		t.Fatal(fs.Err())
	}
	if got := refs(s); !slices.Equal(got, []string{"ConfigMap web-ns/web", "Namespace web-ns"}) || s.has("web", "v") != "one" {
		t.Errorf("%q, %v", got, s.Bodies)
	}
	if !s.Suspended["off"] || s.NotPlaced["away"] == "" || !slices.Equal(r.renderer.rendered, []string{"web"}) {
		t.Errorf("suspended %v, not placed %v, rendered %v", s.Suspended, s.NotPlaced, r.renderer.rendered)
	}
}

// What a complete record has of the same inputs is taken from it, and rendered where it is written after all: as it was, or refused.
func TestRecorded(t *testing.T) {
	r := newRig(t)
	web := r.instance("web", "{v: one}")
	s, _ := r.state(web)
	rec := &release.Record{Phase: release.Succeeded, Inputs: map[string]string{"web": s.Renders[0].Key}}
	for _, d := range s.Desired {
		rec.Inventory = append(rec.Inventory, plan.InventoryEntry{Ref: d.Ref, Instance: d.Instance, Digest: d.Digest})
	}
	for _, c := range []struct {
		name     string
		phase    release.Phase
		instance v1alpha1.Instance
		rendered int
	}{
		{"the same", release.Succeeded, web, 0},
		{"other values", release.Succeeded, r.instance("web", "{v: two}"), 1},
		{"a run that was cut short", release.Applying, web, 1},
	} {
		of := *rec
		of.Phase = c.phase
		r.anew(&of)
		if s, fs := r.state(c.instance); fs.HasErrors() || len(r.renderer.rendered) != c.rendered || len(s.Desired) != 2 {
			t.Errorf("%s: rendered %v, %q, %v", c.name, r.renderer.rendered, refs(s), fs)
		}
	}
	for _, odd := range []bool{false, true} {
		r.anew(rec)
		r.renderer.odd = odd
		s, _ := r.state(web)
		changes := []plan.Change{{Ref: object.Ref{Kind: "ConfigMap", Namespace: "web-ns", Name: "web"}, Instance: "web", Action: plan.Update}}
		fs := r.RenderRecorded(t.Context(), s, s.Unrendered(changes))
		if fs.HasErrors() != odd || len(r.renderer.rendered) != 1 {
			t.Errorf("odd=%t: %v, rendered %v", odd, fs, r.renderer.rendered)
		}
		if len(s.Unrendered(changes)) > 0 {
			t.Error("it is rendered, and wanted once more")
		}
	}
}

// A value of another instance's object is a stand-in until the object has it, then it is put in; a change of it is noticed, also when it is taken away.
func TestLateValue(t *testing.T) {
	r := newRig(t)
	db, api := r.instance("db", "{v: one}"), r.instance("api", "{uri: {from: {instance: db, object: v1/Secret/conn, path: data.uri}}}")
	s, fs := r.state(db, api)
	if late := r.References(s).Late(); fs.HasErrors() || late["api"] == "" || len(late) != 1 || len(s.Renders[1].Open) != 1 {
		t.Fatalf("late %v, %v", late, fs)
	}
	if shown := fmt.Sprint(s.has("api", "uri")); shown == "" || strings.Contains(shown, "postgres") {
		t.Errorf("a stand-in is %q", shown)
	}
	secret := func(uri string) {
		r.cluster["Secret/db-ns/conn"] = map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "conn", "namespace": "db-ns"},
			"data": map[string]any{"uri": base64.StdEncoding.EncodeToString([]byte(uri))}}
	}
	secret("postgres://db-1")
	r.anew(nil)
	s, fs = r.state(db, api)
	if fs.HasErrors() || s.has("api", "uri") != "postgres://db-1" || len(s.Renders[1].Open) > 0 {
		t.Fatalf("%v: %v, %v", s.has("api", "uri"), s.Renders[1].Open, fs)
	}
	if moved, fs := r.Moved(t.Context(), s); len(moved) > 0 || fs.HasErrors() {
		t.Errorf("the same: moved %v, %v", moved, fs)
	}
	secret("postgres://db-2")
	if moved, _ := r.Moved(t.Context(), s); !slices.Equal(moved, []string{"api"}) {
		t.Errorf("another value: moved %v", moved)
	}
	if r.cluster = nil; s.has("api", "uri") != "postgres://db-1" {
		t.Error("looking whether it moved changed the state")
	}
	fs = r.Reopen(t.Context(), s, []string{"api"})
	if fs.HasErrors() || len(s.Renders[1].Open) != 1 || s.has("api", "uri") == "postgres://db-1" || s.has("db", "v") != "one" {
		t.Errorf("reopened: %v, %v, %v", s.has("api", "uri"), s.Renders[1].Open, fs)
	}
}

// What an instance takes of others is not known as long as one of it is not, whatever of it has come: a plan that goes on is the one that was shown. Where
// all of it is known, and the record has it, nothing is rendered.
func TestLateValuesAreKnownTogether(t *testing.T) {
	r := newRig(t)
	db, cache := r.instance("db", "{v: one}"), r.instance("cache", "{v: one}")
	api := r.instance("api", `{uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}, port: {from: {instance: db, object: v1/ConfigMap/ports, path: data.port, preview: "80"}},
  host: {from: {instance: cache, object: v1/ConfigMap/conn, path: data.host}}, password: {generate: {length: 24}}, own: one}`)
	has := func(namespace, name, key string) {
		r.cluster["ConfigMap/"+namespace+"/"+name] = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": namespace}, "data": map[string]any{key: "came"}}
	}
	ref := object.Ref{Kind: "ConfigMap", Namespace: "api-ns", Name: "api"}
	shown := ""
	for _, c := range []struct {
		comes     []string
		open      int
		uri, port any
	}{
		{nil, 3, "known after db", "80"},
		{[]string{"db-ns", "conn", "uri"}, 3, "known after db", "80"},
		{[]string{"db-ns", "ports", "port"}, 3, "known after db", "80"},
		{[]string{"cache-ns", "conn", "host"}, 0, "came", "came"},
	} {
		if c.comes != nil {
			has(c.comes[0], c.comes[1], c.comes[2])
		}
		r.anew(nil)
		s, fs := r.state(db, cache, api)
		if p := s.Renders[2]; fs.HasErrors() || len(p.Open) != c.open || s.has("api", "uri") != c.uri || s.has("api", "port") != c.port || s.has("api", "own") != "one" {
			t.Fatalf("%v: open %v, %v, %v", c.comes, p.Open, s.Bodies[ref].Body, fs)
		}
		if shown = cmp.Or(shown, s.Stood[ref]); shown == "" || (shown == s.Stood[ref]) != (c.open > 0) {
			t.Errorf("%v: with a placeholder for what is made up it is %q, was %q", c.comes, s.Stood[ref], shown)
		}
		if c.open > 0 {
			continue
		}
		if fs := r.Reopen(t.Context(), s, []string{"api"}); fs.HasErrors() || len(s.Renders[2].Open) != 3 || s.Stood[ref] != shown {
			t.Errorf("reopened: %v, %q, was %q", s.Renders[2].Open, s.Stood[ref], shown)
		}
	}
	api = r.instance("api", `{uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}, host: {from: {instance: cache, object: v1/ConfigMap/conn, path: data.host}}}`)
	r.anew(nil)
	s, _ := r.state(db, cache, api)
	rec := &release.Record{Phase: release.Succeeded, Inputs: map[string]string{}}
	for _, p := range s.Renders {
		rec.Inputs[p.Placed.Name] = p.Key
	}
	if r.anew(rec); !slices.Equal(r.renderer.rendered, nil) {
		t.Fatal(r.renderer.rendered)
	}
	if s, fs := r.state(db, cache, api); fs.HasErrors() || len(r.renderer.rendered) > 0 || !s.Renders[2].Recorded {
		t.Errorf("what is known and unchanged is rendered: %v, %v", r.renderer.rendered, fs)
	}
}

// What is computed of a value that is not known is shown as such, also where a preview beside it is the only one that its schema takes.
func TestLateValueBesideAPreview(t *testing.T) {
	r := newRig(t)
	r.renderer.refuses = func(data map[string]any) string {
		if level, ok := data["level"].(string); ok && level != "warn" {
			return "level is no level"
		}
		if text, ok := data["uri"].(string); ok {
			data["sum"] = object.DigestJSON(text)
		}
		return ""
	}
	s, fs := r.state(r.instance("db", "{v: one}"), r.instance("api", `{uri: {from: {instance: db, object: v1/Secret/conn, path: data.uri}},
  level: {from: {instance: db, object: v1/Secret/conn, path: data.level, preview: warn}}, own: one}`))
	if fs.HasErrors() || s.has("api", "sum") != "sha256:known after db" || s.has("api", "uri") != "known after db" || s.has("api", "level") != "warn" || s.has("api", "own") != "one" {
		t.Errorf("%v, %v", s.Bodies, fs)
	}
}

// A generated value is made once and kept, the same for every later run; what nobody may write holds a placeholder and makes nothing.
func TestGenerated(t *testing.T) {
	r := newRig(t)
	web := r.instance("web", "{password: {generate: {length: 24}}}")
	r.Lenient = true
	looked, _ := r.state(web)
	placeholder := looked.has("web", "password")
	if len(r.Made.Now()) > 0 && len(r.Made.Now()["web"].Calls) > 0 {
		t.Error("a look makes values up")
	}
	r.Lenient = false
	r.anew(nil)
	first, fs := r.state(web)
	made := fmt.Sprint(first.has("web", "password"))
	if fs.HasErrors() || len(made) != 24 || made == placeholder || r.keeper.wrote > 0 {
		t.Fatalf("%q beside the placeholder %q, %d writes, %v", made, placeholder, r.keeper.wrote, fs)
	}
	for range 2 { // the second time there is nothing to write
		if err := r.Keep(t.Context(), first.Owner); err != nil || r.keeper.wrote != 1 {
			t.Fatalf("%d writes, %v", r.keeper.wrote, err)
		}
	}
	digests, marks := r.Made.Digests(nil)
	r.anew(&release.Record{Phase: release.Succeeded, Made: digests, Marks: marks})
	if again, _ := r.state(web); again.has("web", "password") != made {
		t.Errorf("%v, was %q", again.has("web", "password"), made)
	}
	r.anew(&release.Record{Phase: release.Succeeded, Made: digests, Marks: marks})
	r.Rotate = chance.Rotation{"web"}
	if again, _ := r.state(web); again.has("web", "password") == made {
		t.Error("rotated, and the same")
	}
	r.Rotate, r.keeper.kept = nil, nil
	r.anew(&release.Record{Phase: release.Succeeded, Made: digests, Marks: marks})
	if _, fs := r.Prepare(t.Context(), v1alpha1.BundleSpec{Name: "b", Instances: []v1alpha1.Instance{web}}); !fs.HasErrors() {
		t.Error("what was kept is gone, and another password is made unasked")
	}
}
