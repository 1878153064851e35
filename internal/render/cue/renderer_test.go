package cue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/render"
)

// inline makes a request for a module written as txtar in a test.
func inline(t testing.TB, text, values string) render.Request {
	t.Helper()
	root := t.TempDir()
	files := map[string][]byte{
		"cue.mod/module.cue": []byte("module: \"hawser.test/inline\"\nlanguage: version: \"v0.9.0\"\n"),
		"values.cue":         []byte("package main\n"),
	}
	for _, f := range txtar.Parse([]byte(text)).Files {
		files[f.Name] = f.Data
	}
	for name, data := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	content, err := fetcher.Fetch(t.Context(), module.Reference{URL: "file://" + root})
	if err != nil {
		t.Fatal(err)
	}
	return render.Request{Content: content, KubeVersion: "1.36.3", Instance: v1alpha1.Instance{
		Name: "i", Namespace: "apps", Values: valuesOf(t, values),
	}}
}

const configMap = `{apiVersion: "v1", kind: "ConfigMap", metadata: name: "x"}`

func TestModuleErrors(t *testing.T) {
	for name, c := range map[string]struct{ module, want string }{
		"time": {"-- timoni.cue --\npackage main\nt: string @tag(t,var=now)\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: {}}\n",
			"timoni.cue:2:11: tag variable \"now\" not found"},
		"unknown root field": {"-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: {}, extra: 1}\n",
			"timoni.extra: field not allowed"},
		"version":     {"-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v2\", instance: {}, apply: {}}\n", "timoni.apiVersion: conflicting values"},
		"no timoni":   {"-- timoni.cue --\npackage main\nx: 1\n", "the module has no field timoni.apiVersion"},
		"tag in list": {"-- timoni.cue --\npackage main\nx: [{n: string @tag(n)}]\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: {}}\n", "not allowed within lists"},
		"not concrete": {"-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [{kind: string}]}\n",
			"timoni.apply.a.0.kind: incomplete value string"},
		"not an object": {"-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [\"x\"]}\n", "an object is expected"},
		"no kind":       {"-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [{apiVersion: \"v1\", metadata: name: \"x\"}]}\n", "missing required field kind"},
		"twice": {"-- timoni.cue --\npackage main\n_o: " + configMap + "\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: {a: [_o], b: [_o]}}\n",
			"the object is given twice"},
		"label": {"-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [{apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"x\", labels: a: 1}}]}\n",
			"timoni.apply.a.0.metadata.labels.a: must be a string"},
		"syntax":  {"-- timoni.cue --\npackage main\ntimoni: {\n", "timoni.cue:"},
		"import":  {"-- timoni.cue --\npackage main\nimport \"hawser.test/nothing\"\nx: nothing.a\n", "hawser.test/nothing"},
		"package": {"-- timoni.cue --\npackage other\nx: 1\n", "no field timoni"},
		"registry": {"-- cue.mod/module.cue --\nmodule: \"hawser.test/m\"\nlanguage: version: \"v0.9.0\"\ndeps: \"example.com/dep@v0\": v: \"v0.1.0\"\n" +
			"-- timoni.cue --\npackage main\nimport \"example.com/dep\"\nx: dep.a\n", "example.com/dep"},
		"health check": {"-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: {}, healthChecks: a: {group: \"x.y\"}}\n", "current"},
		"core group": {"-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: {}, healthChecks: a: {group: \"a/b\", current: true}}\n",
			"group must be the API group"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Options{}).Render(t.Context(), inline(t, c.module, ""))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if strings.Contains(err.Error(), "@hawser") {
				t.Errorf("an inner path is shown: %v", err)
			}
			for _, f := range diag.From(err, "x") {
				if f.Instance != "i" {
					t.Errorf("no instance: %+v", f)
				}
			}
		})
	}
}

func TestModuleMayDoWithoutTags(t *testing.T) {
	text := "-- timoni.cue --\npackage main\nvalues: {...}\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [" + configMap + "]}\n"
	res, err := New(Options{}).Render(t.Context(), inline(t, text, "free: 1"))
	if err != nil || len(res.Objects) != 1 {
		t.Fatalf("%v, %v", res, err)
	}
}

// TestTextForBoolean: a text in place of a boolean default is an error at the user's line, unless the schema allows it.
func TestTextForBoolean(t *testing.T) {
	for schema, want := range map[string]string{
		"":            "bundle.cue:1:4: values.a.on: a text in place of the module's own true or false",
		"a: on: _":    "bundle.cue:1:4: values.a.on: a text in place of the module's own true or false",
		"a: on: bool": "conflicting values", "a: on: bool | string": "", "a: [string]: string | bool": "", `a: on: *true | "ask"`: "",
	} {
		text := "-- values.cue --\npackage main\nvalues: a: on: true\n-- timoni.cue --\npackage main\nvalues: {" + schema + "\n...}\n" +
			"timoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [" + configMap + "]}\n"
		_, err := New(Options{}).Render(t.Context(), inline(t, text, `a: on: "ask"`))
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", schema, err, want)
		}
	}
}

func TestOnlyDigestedFilesAreRead(t *testing.T) {
	text := "-- timoni.cue --\npackage main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [" + configMap + "]}\n" +
		"-- timoni.ignore --\nsecret.cue\n-- secret.cue --\npackage main\nbroken: 1 & 2\n"
	res, err := New(Options{}).Render(t.Context(), inline(t, text, ""))
	if err != nil {
		t.Fatalf("an ignored file is read: %v", err)
	}
	if len(res.Objects) != 1 || res.Objects[0].Ref().Kind != "ConfigMap" {
		t.Errorf("%+v", res.Objects)
	}
}

func TestEmbed(t *testing.T) {
	text := "-- timoni.cue --\n@extern(embed)\n\npackage main\n\n_d: _ @embed(file=data.json)\n" +
		"timoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [{apiVersion: \"v1\", kind: \"ConfigMap\", metadata: name: _d.name}]}\n" +
		"-- data.json --\n{\"name\": \"embedded\"}\n"
	res, err := New(Options{}).Render(t.Context(), inline(t, text, ""))
	if err != nil || len(res.Objects) != 1 || res.Objects[0].Ref().Name != "embedded" {
		t.Errorf("%+v, %v", res.Objects, err)
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	r := New(Options{Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }})
	_, err := r.Render(t.Context(), request(t, "web", "w", `replicas: "hunter2"`))
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "***") {
		t.Errorf("got %v", err)
	}
}

func TestKey(t *testing.T) {
	r := New(Options{})
	key := func(change func(*render.Request)) string {
		req := request(t, "web", "w", "replicas: 2, env: {A: \"1\", B: \"2\"}")
		change(&req)
		k, err := r.Key(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	base := key(func(*render.Request) {})
	if base != key(func(q *render.Request) { q.Bundle = "other"; q.APIs = []string{"v1/Pod"}; q.Package = "main" }) {
		t.Error("the key depends on what a render does not read")
	}
	seen := map[string]string{base: "base"}
	for name, change := range map[string]func(*render.Request){
		"name":      func(q *render.Request) { q.Instance.Name = "x" },
		"namespace": func(q *render.Request) { q.Instance.Namespace = "x" },
		"content":   func(q *render.Request) { q.Content.Digest = "sha256:1" },
		"version":   func(q *render.Request) { q.Content.Version = "1.0.0" },
		"kube":      func(q *render.Request) { q.KubeVersion = "1.36.4" },
		"tags":      func(q *render.Request) { q.Tags = []string{"debug"} },
		"package":   func(q *render.Request) { q.Package = "p" },
		"no values": func(q *render.Request) { q.Instance.Values = v1alpha1.Values{} },
		"order":     func(q *render.Request) { q.Instance.Values = valuesOf(t, "replicas: 2, env: {B: \"2\", A: \"1\"}") },
		"float":     func(q *render.Request) { q.Instance.Values = valuesOf(t, "replicas: 2.0, env: {A: \"1\", B: \"2\"}") },
	} {
		k := key(change)
		if other, dup := seen[k]; dup {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[k] = name
	}
	if _, err := r.Key(t.Context(), render.Request{}); err == nil {
		t.Error("a key without content")
	}
}

// TestParallel renders one module from several goroutines; run with -race.
func TestParallel(t *testing.T) {
	r := New(Options{})
	shared := valuesOf(t, "replicas: 2, env: {A: \"1\"}")
	want := make([]string, 4)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 5 {
				req := request(t, "web", fmt.Sprintf("w%d", i), "")
				req.Instance.Values = shared
				res, err := r.Render(t.Context(), req)
				if err != nil {
					t.Error(err)
					return
				}
				var b bytes.Buffer
				if err := render.WriteYAML(&b, res.Objects); err != nil {
					t.Error(err)
				}
				want[g] += b.String()
			}
		})
	}
	wg.Wait()
	for _, w := range want[1:] {
		if diff := cmp.Diff(want[0], w); diff != "" {
			t.Error(diff)
		}
	}
}

// TestRetention renders 1,000 times; nothing of a render may stay behind.
func TestRetention(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand renders take seconds; left out with -short only")
	}
	r := New(Options{})
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	renderOne := func(i int) {
		req := request(t, "stages", fmt.Sprintf("s%d", i%50), fmt.Sprintf("count: %d", i%4))
		if _, err := r.Render(t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		renderOne(i)
	}
	before := heap()
	for i := range 1000 {
		renderOne(i)
	}
	if after := heap(); after > before+4<<20 {
		t.Errorf("heap grew from %d to %d KiB", before>>10, after>>10)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(Options{}).Render(ctx, request(t, "web", "w", "")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled render: %v", err)
	}
}

func TestEviction(t *testing.T) {
	r := New(Options{})
	for i := range maxPackages + 10 {
		req := render.Request{Content: module.Content{Digest: fmt.Sprint(i)}}
		_, _ = r.load(t.Context(), req)
	}
	if n := r.packages.Len(); n != maxPackages {
		t.Errorf("%d packages are kept", n)
	}
}

func TestChecker(t *testing.T) {
	r := New(Options{})
	res, err := r.Render(t.Context(), request(t, "health", "h", ""))
	if err != nil || len(res.Checks) != 2 {
		t.Fatalf("%v, %v", res.Checks, err)
	}
	cond := func(typ, status string) map[string]any { return map[string]any{"type": typ, "status": status} }
	machine := func(generation, observed int64, conds ...any) map[string]any {
		return map[string]any{
			"apiVersion": "hawser.test/v1", "kind": "Machine", "metadata": map[string]any{"name": "m", "generation": generation},
			"status": map[string]any{"observedGeneration": observed, "conditions": conds},
		}
	}
	bare := map[string]any{"apiVersion": "hawser.test/v1", "kind": "Machine", "metadata": map[string]any{"name": "m"}}
	phase := func(p string) map[string]any {
		return map[string]any{"apiVersion": "phase.test/v2", "kind": "Any", "status": map[string]any{"phase": p}}
	}
	for name, c := range map[string]struct {
		obj   map[string]any
		check int
		want  health.State
	}{
		"ready":       {machine(2, 2, cond("Ready", "True")), 0, health.Ready},
		"stale":       {machine(3, 2, cond("Ready", "True")), 0, health.Progressing},
		"not ready":   {machine(2, 2, cond("Ready", "False")), 0, health.Progressing},
		"stalled":     {machine(2, 2, cond("Ready", "False"), cond("Stalled", "True")), 0, health.Failed},
		"no status":   {bare, 0, health.Progressing},
		"phase":       {phase("Running"), 1, health.Ready},
		"phase fails": {phase("Failed"), 1, health.Failed},
		"phase other": {phase("Pending"), 1, health.Progressing},
		"other kind":  {map[string]any{"apiVersion": "hawser.test/v1", "kind": "Other"}, 0, ""},
		"other group": {phase("Running"), 0, ""},
		"core":        {map[string]any{"apiVersion": "v1", "kind": "Machine"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			st, applies, err := r.Check(res.Checks[c.check], c.obj)
			if err != nil || applies != (c.want != "") || st.State != c.want {
				t.Errorf("got %+v, %v, %v\n%s", st, applies, err, res.Checks[c.check].Source)
			}
		})
	}
	if _, _, err := r.Check(health.Check{Name: "bad", Group: "phase.test", Source: "current: 1 &"}, phase("x")); err == nil {
		t.Error("a broken check is accepted")
	}
	_, _, err = r.Check(health.Check{Name: "bad", Group: "phase.test", Source: "#object: {...}\ncurrent: \"a\" =~ \"[\" + #object.status.phase"}, phase("Z-Ahunter2"))
	if err == nil || strings.Contains(err.Error(), "Z-A") || !strings.Contains(err.Error(), "invalid character class range") {
		t.Errorf("%v", err)
	}
}

// FuzzModuleFiles: any root file gives a result or findings with positions in the module, never a panic.
func FuzzModuleFiles(f *testing.F) {
	f.Add("package main\ntimoni: {apiVersion: \"v1alpha1\", instance: {}, apply: a: [" + configMap + "]}\n")
	f.Add("package main\nx: string @tag(name)\ny: [...{z: int}]\n")
	f.Add("@if(debug)\npackage main\n")
	r := New(Options{})
	f.Fuzz(func(t *testing.T, text string) {
		// Comprehensions can multiply without bound: the fuzzer looks at the parser and the readers.
		if len(text) > 500 || strings.Contains(text, "for") || strings.Count(text, "|") > 5 || strings.Contains(text, "list.") {
			return
		}
		req := inline(t, "-- timoni.cue --\n"+strings.ReplaceAll(text, "\n-- ", "\n"), "a: 1")
		if _, err := r.Render(t.Context(), req); err != nil && strings.Contains(err.Error(), "@hawser") {
			t.Errorf("an inner path is shown: %v", err)
		}
	})
}
