package document

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/fleet"
)

// TestFormsAreEqual: YAML, JSON, CUE and the Kubernetes-style form of one bundle evaluate to the same spec.
func TestFormsAreEqual(t *testing.T) {
	yaml := `
  apiVersion: v1alpha1
  name: shop
  instances:
    db:
      module: {url: "file:///m", version: 1.4.2}
      namespace: shop
      values: {size: small, n: 3, f: 4.0, list: [{a: 1}], none: null}
    web:
      manifests: {paths: [./web]}
      dependsOn: [db]
      placement: {clusters: [], groups: [a], clusterSelector: {matchLabels: {a: b}}, tolerations: [{operator: Exists}]}
    api:
      helm: {chart: podinfo, repo: "https://example.com", version: ">=6 <7", skipCRDs: true}
      namespace: shop
      values: {uri: {from: {instance: db, object: v1/Secret/c, path: .data.uri}}, key: "ref://k/v"}
      wait: false
      timeout: 90s
      health: [{kind: Job, group: batch, ready: "true"}]
      ignore: [{paths: ["spec.a"]}]
    kust: {kustomize: {path: k, root: .}, suspend: true}
`
	forms := map[string]string{
		"a.yaml": "bundle:" + yaml,
		"b.yaml": "bundles:\n  shop:" + strings.ReplaceAll(yaml, "\n  ", "\n    "),
		"c.yaml": "apiVersion: hawser.dev/v1alpha1\nkind: Bundle\nmetadata: {name: shop}\nspec:" + yaml,
		"d.json": `{"bundle": {"apiVersion": "v1alpha1", "name": "shop", "instances": {
			"db": {"module": {"url": "file:///m", "version": "1.4.2"}, "namespace": "shop",
				"values": {"size": "small", "n": 3, "f": 4.0, "list": [{"a": 1}], "none": null}},
			"web": {"manifests": {"paths": ["./web"]}, "dependsOn": ["db"],
				"placement": {"clusters": [], "groups": ["a"], "clusterSelector": {"matchLabels": {"a": "b"}}, "tolerations": [{"operator": "Exists"}]}},
			"api": {"helm": {"chart": "podinfo", "repo": "https://example.com", "version": ">=6 <7", "skipCRDs": true}, "namespace": "shop",
				"values": {"uri": {"from": {"instance": "db", "object": "v1/Secret/c", "path": ".data.uri"}}, "key": "ref://k/v"},
				"wait": false, "timeout": "90s", "health": [{"kind": "Job", "group": "batch", "ready": "true"}], "ignore": [{"paths": ["spec.a"]}]},
			"kust": {"kustomize": {"path": "k", "root": "."}, "suspend": true}}}}`,
		"e.cue": `bundle: {apiVersion: "v1alpha1", name: "shop", instances: {
			db: {module: {url: "file:///m", version: "1.4.2"}, namespace: "shop"
				values: {size: "small", n: 3, f: 4.0, list: [{a: 1}], none: null}}
			web: {manifests: paths: ["./web"], dependsOn: ["db"]
				placement: {clusters: [], groups: ["a"], clusterSelector: matchLabels: a: "b", tolerations: [{operator: "Exists"}]}}
			api: {helm: {chart: "podinfo", repo: "https://example.com", version: ">=6 <7", skipCRDs: true}, namespace: "shop"
				values: {uri: from: {instance: "db", object: "v1/Secret/c", path: ".data.uri"}, key: "ref://k/v"}
				wait: false, timeout: "90s", health: [{kind: "Job", group: "batch", ready: "true"}], ignore: [{paths: ["spec.a"]}]}
			kust: {kustomize: {path: "k", root: "."}, suspend: true}}}`,
	}
	var first []v1alpha1.BundleSpec
	for _, name := range []string{"a.yaml", "b.yaml", "c.yaml", "d.json", "e.cue"} {
		p, fs := loadText(t, name, forms[name])
		if fs != nil {
			t.Fatal(name, fs)
		}
		specs, fs := p.Evaluate(implicit(nil))
		if fs != nil {
			t.Fatal(name, fs)
		}
		if first == nil {
			first = specs
			continue
		}
		values := cmp.Comparer(func(a, b v1alpha1.Values) bool {
			if a.Struct == nil || b.Struct == nil {
				return a.Struct == b.Struct
			}
			return cuelang.Digest(a.Struct) == cuelang.Digest(b.Struct)
		})
		if d := cmp.Diff(first, specs, values, cmpopts.IgnoreTypes(v1alpha1.Position{}),
			cmpopts.IgnoreFields(v1alpha1.ManifestsSource{}, "Dir"), cmpopts.IgnoreFields(v1alpha1.ModuleSource{}, "Dir"),
			cmpopts.IgnoreFields(v1alpha1.HelmSource{}, "Dir"), cmpopts.IgnoreFields(v1alpha1.KustomizeSource{}, "Dir")); d != "" {
			t.Error(name, d)
		}
	}
}

// TestTimoniTable is Timoni's table of refused bundles (T3), by what the error must name.
func TestTimoniTable(t *testing.T) {
	instance := func(fields string) string {
		return "bundle: {\n\tapiVersion: \"v1alpha1\"\n\tname: \"test\"\n\tinstances: test: {\n" + fields + "\n\t}\n}\n"
	}
	for _, c := range []struct{ reason, text, want string }{
		{"version", strings.Replace(instance(`module: url: "file:///m", namespace: "x"`), "v1alpha1", "v1alpha2", 1), "bundle.apiVersion"},
		{"url", instance(`module: url: "docker.io/test", namespace: "x"`), "bundle.instances.test.module.url"},
		{"extra key", instance(`module: {url2: "file:///m", version: "latest"}, namespace: "x"`), "url2"},
		{"namespace", instance(`module: url: "file:///m"`), "bundle.instances.test.namespace"},
		{"name", "bundle: {apiVersion: \"v1alpha1\", instances: {}}", "bundle.name"},
		{"type", instance(`namespace: "x", module: {url: "file:///m", version: "latest" @timoni(runtime:strings:V)}`), "unknown type"},
		{"operand", instance("namespace: \"x\", module: {url: \"file:///m\", version!: @timoni(runtime:string:V)\n}"), "expected operand"},
		{"upper case", strings.Replace(instance(`manifests: paths: ["a"]`), `"test"`, `"Test"`, 1), "bundle.name"},
	} {
		p, fs := loadText(t, "b.cue", c.text)
		if p != nil {
			_, more := p.Evaluate(implicit(map[string]string{"V": "1"}))
			fs = append(fs, more...)
		}
		if fs.Err() == nil || !strings.Contains(fs.Err().Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, fs, c.want)
		}
	}
	p, fs := loadText(t, "b.cue", `bundle: {apiVersion: "v1alpha1", name: "test", instances: {}}`)
	if fs != nil {
		t.Fatal(fs)
	}
	if _, fs := p.Evaluate(implicit(nil)); fs != nil {
		t.Error("an empty bundle is no error here", fs)
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "b.txt")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opts Options
		code string
	}{
		{Options{Files: []string{filepath.Join(dir, "nope.cue")}}, "unreadable"},
		{Options{Files: []string{text}}, "unsupported-file"},
		{Options{Files: []string{"-"}}, "unreadable"},
		{Options{Files: []string{empty}}, "no-documents"},
		{Options{Files: []string{"-"}, Stdin: strings.NewReader("a: 1"), Workdir: filepath.Join(dir, "nope")}, "invalid-workdir"},
		{Options{Files: []string{"-"}, Stdin: strings.NewReader("a: 1"), Workdir: text}, "invalid-workdir"},
		{Options{Files: []string{"-"}, Stdin: strings.NewReader(strings.Repeat("x", 100)), Limits: cuelang.Limits{SourceBytes: 50}}, "source-too-large"},
		{Options{Files: []string{"-"}, Stdin: strings.NewReader(strings.Repeat("[", 3000))}, "source-too-deep"},
		{Options{Fleet: []string{"-"}, Stdin: strings.NewReader("x: 1")}, "no-fleet"},
		{Options{Files: []string{"-"}, Stdin: strings.NewReader("apiVersion: v1\nkind: Pod\n"), Name: "x"}, "manifest-from-stdin"},
	} {
		_, fs := Load(context.Background(), c.opts)
		if !slices.Contains(strings.Fields(codes(fs)), c.code) {
			t.Errorf("%+v: %v, want %s", c.opts, fs, c.code)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, fs := Load(ctx, Options{Files: []string{text}}); !fs.HasErrors() {
		t.Error("an interrupted load succeeds")
	}
}

func TestNoBundle(t *testing.T) {
	p, fs := loadText(t, "b.cue", "x: 1\n")
	if fs != nil {
		t.Fatal(fs)
	}
	if _, fs := p.Evaluate(implicit(nil)); codes(fs) != "no-bundle" {
		t.Error(fs)
	}
}

// TestBombs: aliases, nesting and size are bounded in time.
func TestBombs(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		prev := "a" + string(rune('a'+i-1))
		if i == 1 {
			prev = "a0"
		}
		bomb.WriteString("a" + string(rune('a'+i)) + ": &a" + string(rune('a'+i)) + " [" + strings.Repeat("*"+prev+",", 9) + "*" + prev + "]\n")
	}
	for name, text := range map[string]string{
		"alias.yaml": bomb.String(), "deep.yaml": strings.Repeat("[", 20000), "deep.json": strings.Repeat(`{"a":`, 20000),
		"deep.cue": strings.Repeat("a: {", 20000), "minus.cue": "a: " + strings.Repeat("-", 20000) + "1",
	} {
		start := time.Now()
		if p, fs := loadText(t, name, text); p != nil && !fs.HasErrors() {
			t.Errorf("%s is loaded", name)
		}
		if d := time.Since(start); d > 2*time.Minute {
			t.Errorf("%s takes %s", name, d)
		}
	}
}

// TestDigest: contents and their order count, names do not.
func TestDigest(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, a2 := write("a.cue", "x: 1"), write("b.cue", "y: 1"), write("a2.cue", "x: 1")
	digest := func(files ...string) string {
		p, fs := Load(context.Background(), Options{Files: files})
		if fs != nil {
			t.Fatal(fs)
		}
		return p.Digest()
	}
	if digest(a, b) != digest(a2, b) || digest(a, b) == digest(b, a) || digest(a) == digest(a, b) || digest(a, a) != digest(a) {
		t.Error("digest")
	}
}

// TestImportedFilesCount: what a bundle imports and embeds is among its files.
func TestImportedFilesCount(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cue.mod/module.cue": "module: \"example.com/m\"\nlanguage: version: \"v0.14.0\"\n",
		"lib/lib.cue":        "package lib\n\nname: \"x\"\n",
		"data/one.json":      "{}",
		"b.cue": "@extern(embed)\npackage main\n\nimport \"example.com/m/lib\"\n_d: _ @embed(glob=data/*.json)\n" +
			"bundle: {apiVersion: \"v1alpha1\", name: lib.name, instances: {}}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	p, fs := Load(context.Background(), Options{Files: []string{"b.cue"}})
	if fs != nil {
		t.Fatal(fs)
	}
	var names []string
	for _, f := range p.Files() {
		names = append(names, f.Path)
	}
	if d := cmp.Diff([]string{"b.cue", "cue.mod/module.cue", "data/one.json", "lib/lib.cue"}, names); d != "" {
		t.Error(d)
	}
	if specs, fs := p.Evaluate(implicit(nil)); fs != nil || specs[0].Name != "x" {
		t.Error(fs)
	}
}

// TestAnywhere: the digest of the files, and what manifests are made from, do not depend on the working directory.
func TestAnywhere(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"cue.mod/module.cue": "module: \"example.com/m\"\nlanguage: version: \"v0.14.0\"\n",
		"lib/lib.cue":        "package lib\n\nname: \"x\"\n",
		"one/one.cue":        "package one\n\nname: \"y\"\n",
		"b.cue": "package main\n\nimport (\n\t\"example.com/m/lib\"\n\t\"example.com/m/one\"\n)\n" +
			"bundle: {apiVersion: \"v1alpha1\", name: lib.name + one.name, instances: {}}\n",
		"web/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"web/b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
	})
	for _, given := range [][]string{{"b.cue"}, {"web"}, {"web/a.yaml", "web/b.yaml"}} {
		var first string
		for _, at := range []string{"", "lib", "one", "web"} {
			t.Chdir(filepath.Join(dir, at))
			var files []string
			for _, name := range given {
				rel, err := filepath.Rel(filepath.Join(dir, at), filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, rel)
			}
			p, fs := Load(t.Context(), Options{Files: files, Name: "xy"})
			if fs.HasErrors() {
				t.Fatal(fs)
			}
			specs, fs := p.Evaluate(implicit(nil))
			if fs.HasErrors() {
				t.Fatal(fs)
			}
			got := p.Digest()
			for _, in := range specs[0].Instances {
				got += fmt.Sprint(" ", in.Manifests.Dir, " ", in.Manifests.Paths)
			}
			if first == "" {
				first = got
			}
			if got != first {
				t.Errorf("in ./%s %s is %s, want %s", at, given, got, first)
			}
		}
	}
}

// TestConcurrently: one program evaluated by many.
func TestConcurrently(t *testing.T) {
	p, _ := loadText(t, "b.cue", `bundle: {_e: string @timoni(runtime:string:TIMONI_CLUSTER_NAME), apiVersion: "v1alpha1", name: "b-\(_e)",
	instances: a: {module: url: "file:///m", namespace: "x", values: e: _e}}`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := fleet.Cluster{}
			c.Name = string(rune('a' + i%4))
			specs, fs := p.Evaluate(c.Facts(fleet.RuntimeValues(nil, nil, c)))
			if fs != nil || specs[0].Name != "b-"+c.Name {
				t.Error(specs, fs)
			}
			if _, fs := p.Value(c.Facts(fleet.RuntimeValues(nil, nil, c))); fs != nil {
				t.Error(fs)
			}
		})
	}
	wg.Wait()
}

// TestFleetOnly: what is wrong with a bundle does not keep the fleet from being read.
func TestFleetOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.cue")
	text := "bundle: {_a: \"x\" @timoni(runtime:strings:X)}\nfleet: {apiVersion: \"v1alpha1\", name: \"f\", clusters: a: kubeContext: \"x\"}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, fs := Load(context.Background(), Options{Files: []string{path}, FleetOnly: true})
	if fs != nil || p.Fleet() == nil || len(p.Fleet().Clusters) != 1 {
		t.Error(fs)
	}
}

// TestForeignReference: who may write an object that a runtime value is read from cannot have a secret looked up.
func TestForeignReference(t *testing.T) {
	for name, text := range map[string]string{
		"b.yaml": "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x, values: {a: {$cluster: values.X}}}}}",
		"b.cue": `bundle: {apiVersion: "v1alpha1", name: "b", instances: a: {module: url: "file:///m", namespace: "x"
			values: {_x: string @timoni(runtime:string:X), a: _x}}}`,
	} {
		p, fs := loadText(t, name, text)
		if fs.HasErrors() {
			t.Fatal(fs)
		}
		f := implicit(map[string]string{"X": "ref://the/users/own"})
		if _, fs := p.Evaluate(f); fs.HasErrors() {
			t.Errorf("%s: from the environment: %v", name, fs)
		}
		f.Values["X"] = fleet.Value{Value: "ref://other/password", Layer: fleet.LayerQuery, Origin: "k8s:v1:ConfigMap:a:b"}
		_, fs = p.Evaluate(f)
		if !strings.Contains(codes(fs), "foreign-reference") {
			t.Errorf("%s: %v", name, fs)
		}
		for _, n := range fs {
			if strings.Contains(n.String(), "password") {
				t.Errorf("the value is shown: %s", n)
			}
		}
	}
}

func FuzzDocument(f *testing.F) {
	f.Add("b.cue", `bundle: {apiVersion: "v1alpha1", name: "x", instances: a: {module: url: "file:///m", namespace: "x"}}`)
	f.Add("b.yaml", "bundle: {apiVersion: v1alpha1, name: x, instances: {a: {values: {a: {$cluster: name}}}}}")
	f.Add("b.yaml", "apiVersion: hawser.dev/v1alpha1\nkind: Bundle\nmetadata: {name: a}\nspec: {instances: {}}\n---\napiVersion: v1\nkind: Pod\n")
	f.Add("b.json", `{"fleet": {"apiVersion": "v1alpha1", "name": "f", "clusters": {"a": {"kubeContext": "x"}}}}`)
	f.Add("b.cue", "fleet: {apiVersion: \"v1alpha1\", name: \"f\", values: [{query: \"k8s:v1:Namespace:x\", for: A: \"obj.x\"}]}")
	f.Add("b.yaml", "bundle: {apiVersion: v1alpha1, name: x, instances: {a: {helm: {chart: 'oci://r/c', version: ^1}, wait: false, timeout: 1s}, b: {kustomize: {path: k}}}}")
	f.Add("b.yaml", "bundle: {health: [{kind: Job, ready: x}], instances: {c: {manifests: {url: 'oci://r/m:1@sha256:0', digest: x}, ignore: [{paths: ['a[b=c].d']}]}}}")
	f.Add("b.json", `{"fleet": {"secretStores": {"default": {"env": {}}, "s": {"sops": {"age": {"keyEnv": "K"}}}}}}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		if !slices.Contains([]string{"b.cue", "b.yaml", "b.json"}, name) || len(text) > 2000 {
			t.Skip("not a document of a kind that is read, or too long for a minute of fuzzing")
		}
		if name == "b.cue" && strings.ContainsAny(text, "|*[") {
			t.Skip("the evaluation of disjunctions and comprehensions cannot be bounded inside a fuzz target")
		}
		p, fs := loadText(t, name, text)
		if p == nil {
			if !fs.HasErrors() {
				t.Error("no program and no error")
			}
			return
		}
		_, _ = p.Evaluate(implicit(nil))
		_ = p.Digest()
		_ = p.Comparisons()
	})
}

// TestExamples: the project's examples load and evaluate for every cluster of their fleet.
func TestExamples(t *testing.T) {
	dir, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "shop.yaml")); err != nil {
		t.Fatal("no examples")
	}
	for _, name := range []string{"shop.yaml", "shop.cue", "storefront"} {
		p, fs := Load(context.Background(), Options{Files: []string{filepath.Join(dir, name)}, Fleet: []string{filepath.Join(dir, "fleet.yaml")}})
		if fs != nil {
			t.Error(name, fs)
			continue
		}
		for _, c := range fleet.Clusters(p.Fleet()) {
			specs, fs := p.Evaluate(c.Facts(fleet.RuntimeValues(nil, nil, c)))
			if fs != nil || len(specs) != 1 || len(specs[0].Instances) == 0 {
				t.Error(name, c.Name, specs, fs)
			}
		}
	}
}

// TestValuesThatAreNothing: values without anything in them are no values, in every spelling.
func TestValuesThatAreNothing(t *testing.T) {
	yaml := "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    a:\n      module: {url: 'file:///m'}\n      namespace: x\n      values:%s\n      valuesFor:\n        l:\n          groups: [g]\n          values:%s\n"
	for name, text := range map[string]string{
		"b.yaml": strings.ReplaceAll(yaml, "%s", ""), "tilde.yaml": strings.ReplaceAll(yaml, "%s", " ~"), "null.yaml": strings.ReplaceAll(yaml, "%s", " null"),
		"comment.yaml": strings.ReplaceAll(yaml, "%s", " # nothing yet"), "struct.yaml": strings.ReplaceAll(yaml, "%s", " {}"),
		"b.cue": `bundle: {apiVersion: "v1alpha1", name: "b", instances: a: {module: url: "file:///m", namespace: "x", values: null, valuesFor: l: {groups: ["g"], values: null}}}`,
	} {
		p, fs := loadText(t, name, text)
		if fs != nil {
			t.Fatal(name, fs)
		}
		specs, fs := p.Evaluate(implicit(nil))
		if fs.HasErrors() || len(specs) != 1 || len(specs[0].Instances[0].ValuesFor) != 1 {
			t.Errorf("%s: %v %v", name, specs, fs)
		}
		if _, fs := p.Value(implicit(nil)); fs.HasErrors() {
			t.Errorf("%s: %v", name, fs)
		}
	}
	_, fs := loadText(t, "b.yaml", "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x, values: 3}}}")
	if fs != nil {
		t.Fatal(fs)
	}
	p, _ := loadText(t, "b.yaml", "bundle: {apiVersion: v1alpha1, name: b, instances: {a: {module: {url: 'file:///m'}, namespace: x, values: 3}}}")
	if _, fs := p.Evaluate(implicit(nil)); !fs.HasErrors() {
		t.Error("a number passes for values")
	}
}

// A file that is not there: the one beside it that was perhaps meant, and addresses that are none of ours to fetch.
func TestFileThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shop.yaml"), []byte("bundle: {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, want := range map[string]string{"shop.yml": `did you mean "shop.yaml"?`, "https://example.com/shop.yaml": "curl -fsSL https://example.com/shop.yaml |", "else.cue": "there is: shop.yaml",
		"nothing/like/it.cue": "a relative path starts at the current directory"} {
		_, fs := Load(t.Context(), Options{Files: []string{name}})
		if len(fs) != 1 || !strings.Contains(fs[0].Fix, want) {
			t.Errorf("%s: %v", name, fs)
		}
	}
}

// TestRevisionHistoryLimit: a bundle says how many revisions are kept, in YAML and in CUE; no number is the default.
func TestRevisionHistoryLimit(t *testing.T) {
	for _, c := range []struct {
		file, limit string
		want        int
		problem     string
	}{
		{"b.yaml", "revisionHistoryLimit: 30", 30, ""},
		{"b.cue", "revisionHistoryLimit: 1", 1, ""},
		{"b.yaml", "", 0, ""},
		{"b.yaml", "revisionHistoryLimit: 0", 0, "must be 1 to 100, is 0"},
		{"b.cue", "revisionHistoryLimit: 101", 0, "must be 1 to 100, is 101"},
		{"b.yaml", "revisionHistoryLimit: ten", 0, "must be a whole number"},
		{"b.yaml", "revisionHistoryLimits: 3", 0, "revisionHistoryLimit"},
	} {
		text := "bundle:\n  apiVersion: v1alpha1\n  name: test\n  " + c.limit + "\n  instances: {}\n"
		if strings.HasSuffix(c.file, ".cue") {
			text = "bundle: {\n\tapiVersion: \"v1alpha1\"\n\tname: \"test\"\n\t" + c.limit + "\n\tinstances: {}\n}\n"
		}
		p, fs := loadText(t, c.file, text)
		var specs []v1alpha1.BundleSpec
		if p != nil && !fs.HasErrors() {
			specs, fs = p.Evaluate(implicit(nil))
		}
		switch {
		case c.problem != "" && (fs.Err() == nil || !strings.Contains(fs.Err().Error(), c.problem)):
			t.Errorf("%s: %v, want %q", c.limit, fs, c.problem)
		case c.problem == "" && (fs.HasErrors() || len(specs) != 1 || specs[0].RevisionHistoryLimit != c.want):
			t.Errorf("%s: %v %+v", c.limit, fs, specs)
		}
	}
}
