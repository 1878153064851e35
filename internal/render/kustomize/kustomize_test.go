package kustomize

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/provenance"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/testwire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func request(dir, path string) render.Request {
	return render.Request{Instance: v1alpha1.Instance{Name: "web", Namespace: "shop", Kustomize: &v1alpha1.KustomizeSource{
		Path: path, Dir: dir, Pos: v1alpha1.Position{File: "bundle.yaml", Line: 5}}}}
}

// unpack writes the files of an archive that lie below in/ and returns their directory.
func unpack(t testing.TB, a *txtar.Archive) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range a.Files {
		rel, ok := strings.CutPrefix(f.Name, "in/")
		if !ok {
			continue
		}
		p := filepath.Join(root, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func outcome(t testing.TB, r *Renderer, req render.Request) (facts, objects string) {
	t.Helper()
	res, err := r.Render(t.Context(), req)
	testwire.Same(t, r, req, res, err)
	var b, y bytes.Buffer
	for _, f := range diag.From(err, "other") {
		fmt.Fprintf(&b, "error %s: %s\n", f.Code, f)
	}
	for _, f := range res.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", f.Severity, f.Code, f)
	}
	if err == nil {
		if err := render.WriteYAML(&y, res.Objects); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), y.String()
}

// TestGolden: in/ are the files, in/overlay the kustomization; "facts" are the findings, "objects.yaml" the output. What
// can be built equals what the library makes of the same directory on the disk.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			file, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := unpack(t, a)
			t.Chdir(dir)
			facts, objects := outcome(t, New(Options{}), request(dir, "overlay"))
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "facts" || f.Name == "objects.yaml" })
				a.Files = append(a.Files, txtar.File{Name: "facts", Data: []byte(facts)}, txtar.File{Name: "objects.yaml", Data: []byte(objects)})
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range a.Files {
				got, ok := map[string]string{"facts": facts, "objects.yaml": objects}[f.Name]
				if d := cmp.Diff(string(f.Data), got); ok && d != "" {
					t.Errorf("%s: -want +got\n%s", f.Name, d)
				}
			}
			if !strings.Contains(facts, "error") {
				disk := strings.ReplaceAll(onDisk(t, filepath.Join(dir, "overlay")), "kustomize-"+provenance.GetProvenance().Semver(), "kustomize-"+version)
				if d := cmp.Diff(parsed(t, disk), parsed(t, objects)); d != "" {
					t.Errorf("differs from the library on the disk: -disk +ours\n%s", d)
				}
			}
		})
	}
}

// onDisk is what the library builds of a directory, with all it may do.
func onDisk(t *testing.T, dir string) string {
	t.Helper()
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	defer openapi.ResetOpenAPI()
	o := krusty.MakeDefaultOptions()
	o.Reorder = krusty.ReorderOptionUnspecified // as kustomize build does
	m, err := krusty.MakeKustomizer(o).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestVersion: what objects say of their builder is a label that API servers take, and the version of the program that is made
// with the library in go.mod: its minor one is 13 less.
func TestVersion(t *testing.T) {
	if bad := validation.IsValidLabelValue("kustomize-" + version); len(bad) > 0 {
		t.Error(bad)
	}
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var minor, patch int
	_, after, _ := strings.Cut(string(mod), "sigs.k8s.io/kustomize/api v0.")
	if _, err := fmt.Sscanf(after, "%d.%d", &minor, &patch); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("v5.%d.%d", minor-13, patch); version != want || !strings.HasSuffix(revision, fmt.Sprintf(" v0.%d.%d", minor, patch)) {
		t.Errorf("the library in go.mod is v0.%d.%d: the program is %s, not %s, and the revision of the rules is %q", minor, patch, want, version, revision)
	}
}

func parsed(t *testing.T, text string) []any {
	t.Helper()
	var out []any
	for _, doc := range strings.Split("\n"+text, "\n---\n") {
		var v any
		if err := yaml.Unmarshal([]byte(doc+"\n"), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

const base = `
-- in/base/kustomization.yaml --
resources: [config.yaml]
-- in/base/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data: {v: "1"}
-- in/overlay/kustomization.yaml --
`

// TestNothingOutside: whatever a kustomization names outside of its root, or elsewhere, is refused and not read.
func TestNothingOutside(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.yaml")
	const canary = "canary-4711"
	if err := os.WriteFile(secret, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+canary+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ kustomization, code string }{
		"above the root":           {"resources: [../../x.yaml]", "outside-root"},
		"far above":                {"resources: [../../../../../../../../../../etc]", "outside-root"},
		"absolute":                 {"resources: [" + secret + "]", "absolute-path"},
		"link out":                 {"resources: [link.yaml]", "no-file"},
		"linked directory":         {"resources: [linkdir]", "no-file"},
		"generator of a file":      {"configMapGenerator: [{name: a, files: [../../passwd]}]", "outside-root"},
		"generator by key":         {"secretGenerator: [{name: a, files: [k=" + secret + "]}]", "absolute-path"},
		"generator of environment": {"configMapGenerator: [{name: a, envs: [../../../env]}]", "outside-root"},
		"patch":                    {"resources: [../base]\npatches: [{path: ../../p.yaml, target: {kind: ConfigMap}}]", "outside-root"},
		"replacement":              {"resources: [../base]\nreplacements: [{path: " + secret + "}]", "absolute-path"},
		"schema":                   {"openapi: {path: ../../s.json}", "outside-root"},
		"definitions":              {"crds: [../../crd.json]", "outside-root"},
		"https":                    {"resources: [https://127.0.0.1:1/x.yaml]", "remote-resource"},
		"git by host":              {"resources: [github.com/a/b]", "remote-resource"},
		"git by user":              {"resources: ['git@127.0.0.1:a/b']", "remote-resource"},
		"git with a ref":           {"components: ['../base?ref=main']", "remote-resource"},
		"letter case":              {"RESOURCES: [https://127.0.0.1:1/x.yaml]", "remote-resource"},
		"merged":                   {"<<: {resources: [https://127.0.0.1:1/x.yaml]}", "merge-key"},
		"remote patch":             {"resources: [../base]\npatches: [{path: 'https://127.0.0.1:1/p', target: {kind: ConfigMap}}]", "remote-resource"},
		"chart":                    {"helmCharts: [{name: a, repo: 'https://127.0.0.1:1'}]", "helm-in-kustomize"},
		"chart by generator":       {"generators: [\"{apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: a}}\"]", "helm-in-kustomize"},
		"plug-in":                  {"generators: [\"{apiVersion: x/v1, kind: Exec, metadata: {name: a}}\"]", "plug-in"},
		"function":                 {"transformers: [\"{apiVersion: builtin, kind: LabelTransformer, metadata: {name: a, annotations: {config.kubernetes.io/function: 'exec: {path: /bin/true}'}}}\"]", "plug-in"},
		"inline transformer":       {"resources: [../base]\ntransformers: [\"{apiVersion: builtin, kind: PatchTransformer, metadata: {name: a}, path: 'https://127.0.0.1:1/p'}\"]", "remote-resource"},
		"generated transformer":    {"resources: [../base]\ntransformers: [../rules]", "generated-rules"},
		"device":                   {"resources: [/dev/zero]", "absolute-path"},
		"itself":                   {"resources: [../overlay]", "kustomize"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, txtar.Parse([]byte(base+c.kustomization+"\n-- in/cue.mod/module.cue --\n-- in/rules/kustomization.yaml --\nresources: [r.yaml]\npatches: [{patch: '[]', target: {kind: PatchTransformer}}]\n-- in/rules/r.yaml --\napiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\n")))
			for _, l := range [][2]string{{secret, "link.yaml"}, {outside, "linkdir"}} {
				if err := os.Symlink(l[0], filepath.Join(dir, "overlay", l[1])); err != nil {
					t.Fatal(err)
				}
			}
			res, err := New(Options{}).Render(t.Context(), request(dir, "overlay"))
			fs := diag.From(err, "other")
			if len(fs) == 0 || fs[0].Code != c.code || !fs[0].Pos.IsValid() {
				t.Errorf("want %s, got %v", c.code, fs)
			}
			if text := fmt.Sprint(res, fs); strings.Contains(text, canary) {
				t.Errorf("what lies outside was read: %s", text)
			}
		})
	}
}

// TestRoot: what bounds a kustomization.
func TestRoot(t *testing.T) {
	dir := unpack(t, txtar.Parse([]byte(base+"resources: [../base]\n")))
	repo := unpack(t, txtar.Parse([]byte(base+"resources: [../base]\n-- in/.git/HEAD --\n")))
	module := unpack(t, txtar.Parse([]byte("-- in/.git/HEAD --\n"+strings.ReplaceAll(base, "in/", "in/m/")+"resources: [../base]\n-- in/m/cue.mod/module.cue --\n")))
	for name, c := range map[string]struct {
		dir, path, root string
		ok              bool
	}{
		"below the bundle":                       {dir, "overlay", "", true},
		"beside the bundle":                      {filepath.Join(dir, "bundles"), "../overlay", "", false},
		"beside the bundle, with a root":         {filepath.Join(dir, "bundles"), "../overlay", "..", false},
		"in the repository":                      {filepath.Join(repo, "bundles"), "../overlay", "", true},
		"in the repository, with a root":         {filepath.Join(repo, "bundles"), "../overlay", "..", true},
		"a root above the repository":            {filepath.Join(repo, "bundles"), "../overlay", "../..", false},
		"a root that is the machine":             {repo, "overlay", "/", false},
		"a module of the repository":             {filepath.Join(module, "m", "bundles"), "../overlay", "../..", true},
		"a root that does not hold it":           {dir, "overlay", "base", false},
		"a root that is not there":               {dir, "overlay", "nowhere", false},
		"a file is no kustomization's directory": {dir, "overlay/kustomization.yaml", "", false},
	} {
		req := request(c.dir, c.path)
		req.Instance.Kustomize.Root = c.root
		if err := os.MkdirAll(c.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Options{}).Render(t.Context(), req); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStaysInTheRepository: a kustomization and its root lie in the repository of the file that names them, by every name and
// link; nothing outside is read, nor is .git, and whether something is there is not told.
func TestStaysInTheRepository(t *testing.T) {
	const canary = "canary-4712"
	top := unpack(t, txtar.Parse([]byte(strings.ReplaceAll(base, "in/", "in/pr/")+"resources: [../base]\n-- in/pr/.git/config --\n"+canary+
		"\n-- in/home/kustomization.yaml --\nnamePrefix: "+canary+"\n-- in/home/base/x.yaml --\n"+canary+"\n")))
	repo := filepath.Join(top, "pr")
	for link, to := range map[string]string{"l": "../home", "gone": "../nowhere", "g": ".git", "up": ".."} {
		if err := os.Symlink(to, filepath.Join(repo, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][2]string{{"../home", ""}, {filepath.Join(top, "home"), ""}, {"l", ""}, {"gone", ""}, {"../nowhere", ""}, {"l/base", ""}, {".git", ""}, {"g", ""},
		{"overlay", "/"}, {"overlay", "../.."}, {"overlay", ".."}, {"overlay", top}, {"overlay", "up"}, {"overlay", "../nowhere"}} {
		req := request(repo, c[0])
		req.Instance.Kustomize.Root = c[1]
		facts, objects := outcome(t, New(Options{}), req)
		if !strings.Contains(facts, "error outside: bundle.yaml:5: ") || strings.Contains(facts+objects, canary) {
			t.Errorf("%v: %s %s", c, facts, objects)
		}
	}
	for _, name := range []string{"../.git/config", "../g/config", "../up/pr/.git/config"} {
		text := "configMapGenerator: [{name: a, files: ['" + name + "']}]\n"
		if err := os.WriteFile(filepath.Join(repo, "overlay", "kustomization.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		facts, objects := outcome(t, New(Options{}), request(repo, "overlay"))
		if !strings.Contains(facts, "error ") || strings.Contains(facts+objects, canary) {
			t.Errorf("%s: %s %s", name, facts, objects)
		}
	}
}

func TestKeyAndDigest(t *testing.T) {
	dir := unpack(t, txtar.Parse([]byte(base+"resources: [../base]\n")))
	r := New(Options{})
	key := func(change func(*render.Request)) string {
		req := request(dir, "overlay")
		change(&req)
		k, err := r.Key(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key(func(*render.Request) {})
	if key(func(q *render.Request) { q.KubeVersion, q.APIs = "9.9.9", []string{"x/v1"} }) != first {
		t.Error("the key depends on the cluster")
	}
	if key(func(q *render.Request) { q.Instance.Namespace = "other" }) == first {
		t.Error("the key does not depend on the namespace")
	}
	res, err := r.Render(t.Context(), request(dir, "overlay"))
	if err != nil {
		t.Fatal(err)
	}
	pinned := request(dir, "overlay")
	pinned.Instance.Kustomize.Digest = res.Digest
	if _, err := r.Render(t.Context(), pinned); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "base", "config.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if key(func(*render.Request) {}) == first {
		t.Error("the key does not depend on the base's files")
	}
	if _, err := r.Render(t.Context(), pinned); err == nil || !strings.Contains(err.Error(), res.Digest) {
		t.Errorf("other content under the digest: %v", err)
	}
}

// TestParallel: renders at the same time, of which some bring their own schema, do not disturb one another.
func TestParallel(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{})
	type job struct {
		dir           string
		facts, output string
	}
	var jobs []job
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		j := job{dir: unpack(t, a)}
		j.facts, j.output = outcome(t, r, request(j.dir, "overlay"))
		jobs = append(jobs, j)
	}
	var wg sync.WaitGroup
	for i := range 4 * len(jobs) {
		j := jobs[i%len(jobs)]
		wg.Go(func() {
			if facts, output := outcome(t, r, request(j.dir, "overlay")); facts != j.facts || output != j.output {
				t.Errorf("a second time it gives something else:\n%s", cmp.Diff(j.facts+j.output, facts+output))
			}
		})
	}
	wg.Wait()
}

func FuzzKustomization(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, in := range a.Files {
			if in.Name == "in/overlay/kustomization.yaml" {
				f.Add(in.Data)
			}
		}
	}
	f.Add([]byte("resources: &a [*a]"))
	f.Add([]byte("generators: ['{kind: x']"))
	dir := unpack(f, txtar.Parse([]byte(base)))
	r := New(Options{})
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, "overlay", "kustomization.yaml"), text, 0o644); err != nil {
			t.Fatal(err)
		}
		res, err := r.Render(t.Context(), request(dir, "overlay"))
		if err == nil {
			for _, o := range res.Objects {
				if o.Body == nil {
					t.Error("an object without body")
				}
			}
		}
	})
}
