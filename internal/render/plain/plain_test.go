package plain

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/testwire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func request(dir string, paths ...string) render.Request {
	return render.Request{Instance: v1alpha1.Instance{
		Name: "crds", Manifests: &v1alpha1.ManifestsSource{Paths: paths, Dir: dir, Pos: v1alpha1.Position{File: "bundle.yaml", Line: 5}},
	}}
}

// unpack writes the files of a golden test; names below in/ are manifests.
func unpack(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		rel, ok := strings.CutPrefix(name, "in/")
		if !ok {
			continue
		}
		p := filepath.Join(root, rel)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		// Bytes that do not survive in a text file are written as escapes.
		text = strings.NewReplacer(`\r`, "\r", `\0`, "\x00", `\t`, "\t", `\ufeff`, "\ufeff").Replace(text)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestGolden: in/ are the manifests, "paths" what the instance names, "facts" findings and objects, "objects.yaml" the output.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			get := map[string]string{}
			for _, f := range a.Files {
				get[f.Name] = string(f.Data)
			}
			t.Chdir(unpack(t, get))
			facts, objects := outcome(t, request("", strings.Fields(get["paths"])...))
			if *update {
				rewrite(t, file, a, facts, objects)
				return
			}
			if diff := cmp.Diff(get["facts"], facts); diff != "" {
				t.Errorf("facts: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(get["objects.yaml"], objects); diff != "" {
				t.Errorf("objects: -want +got\n%s", diff)
			}
		})
	}
}

func outcome(t testing.TB, req render.Request) (facts, objects string) {
	t.Helper()
	res, err := New(Options{}).Render(t.Context(), req)
	testwire.Same(t, New(Options{}), req, res, err)
	var b, y bytes.Buffer
	for _, f := range diag.From(err, "other") {
		fmt.Fprintf(&b, "error %s: %s\n", f.Code, f)
	}
	for _, f := range res.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", f.Severity, f.Code, f)
	}
	if err == nil {
		for _, o := range res.Objects {
			fmt.Fprintf(&b, "object %s at %s\n", o.Ref(), o.Pos)
		}
		if err := render.WriteYAML(&y, res.Objects); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), y.String()
}

var hereDir, _ = os.Getwd()

func rewrite(t *testing.T, file string, a *txtar.Archive, facts, objects string) {
	t.Helper()
	keep := a.Files[:0]
	for _, f := range a.Files {
		if f.Name == "paths" || strings.HasPrefix(f.Name, "in/") {
			keep = append(keep, f)
		}
	}
	a.Files = append(keep, txtar.File{Name: "facts", Data: []byte(facts)})
	if objects != "" {
		a.Files = append(a.Files, txtar.File{Name: "objects.yaml", Data: []byte(objects)})
	}
	if err := os.WriteFile(filepath.Join(hereDir, file), txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

const cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"

func TestLinks(t *testing.T) {
	outside := unpack(t, map[string]string{"in/o.yaml": fmt.Sprintf(cm, "out")})
	root := unpack(t, map[string]string{"in/a.yaml": fmt.Sprintf(cm, "a"), "in/sub/b.yaml": fmt.Sprintf(cm, "b")})
	if err := os.Symlink("../a.yaml", filepath.Join(root, "sub", "c.yaml")); err != nil {
		t.Fatal(err)
	}
	facts, _ := outcome(t, request(root, "."))
	if strings.Contains(facts, "manifest-link") {
		t.Errorf("a link inside the directory is refused: %s", facts)
	}
	for _, paths := range [][]string{{"./sub"}, {"sub/*.yaml"}} {
		if facts, _ = outcome(t, request(root, paths...)); !strings.Contains(facts, "manifest-link") {
			t.Errorf("%v: a link out of the directory is followed: %s", paths, facts)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if facts, _ = outcome(t, request(root, ".")); !strings.Contains(facts, "manifest-link") {
		t.Errorf("a linked directory is followed: %s", facts)
	}
	given := request(root, "elsewhere", "../"+filepath.Base(filepath.Dir(outside))+"/../"+filepath.Base(filepath.Dir(root))+"/"+filepath.Base(root)+"/a.yaml")
	given.Instance.Manifests.Given = true
	if facts, _ = outcome(t, given); strings.Contains(facts, "manifest-link") || strings.Contains(facts, "outside") {
		t.Errorf("what the user names himself is refused: %s", facts)
	}
}

// TestPathsStayInTheRepository: what a document names lies in its repository or module, or beside it, whatever it is called and
// whatever links there are; nothing outside is read, and whether it is there is not told.
func TestPathsStayInTheRepository(t *testing.T) {
	top := unpack(t, map[string]string{"in/home/s.yaml": "password: hunter2-CANARY\n", "in/pr/.git/config": "extraheader: CANARY\n",
		"in/pr/app/a.yaml": fmt.Sprintf(cm, "a"), "in/pr/b.yaml": fmt.Sprintf(cm, "b"), "in/bare/x/a.yaml": fmt.Sprintf(cm, "a")})
	app, home := filepath.Join(top, "pr", "app"), filepath.Join(top, "home")
	for link, to := range map[string]string{"s.yaml": "../../home/s.yaml", "l": "../../home", "gone.yaml": "../../home/gone", "g": "../.git"} {
		if err := os.Symlink(to, filepath.Join(app, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"../../home/s.yaml", "../../home", "../../home/*.yaml", "../../home/gone.yaml", "../../ho*/s.yaml", filepath.Join(home, "s.yaml"),
		"gone.yaml", "s.yaml", "l", "l/s.yaml", "l/*.yaml", "l/../s.yaml", "/proc/self/environ", "/etc/passwd", "../.git/config", "g/config", "../.git/*"} {
		facts, objects := outcome(t, request(app, path))
		if !strings.Contains(facts, "error outside") || strings.Contains(facts+objects, "CANARY") {
			t.Errorf("%s: %s %s", path, facts, objects)
		}
	}
	for _, path := range []string{"a.yaml", "../b.yaml", "../*.yaml", filepath.Join(app, "a.yaml"), "../app"} {
		if facts, _ := outcome(t, request(app, path)); strings.Contains(facts, "error outside:") {
			t.Errorf("%s: %s", path, facts)
		}
	}
	if facts, _ := outcome(t, request(filepath.Join(top, "bare", "x"), "../../pr/b.yaml")); !strings.Contains(facts, "error outside") {
		t.Errorf("beside no repository: %s", facts)
	}
}

// TestLinksThatComeLater: what was found in the repository and is a link out of it by the time it is opened is not read.
func TestLinksThatComeLater(t *testing.T) {
	top := unpack(t, map[string]string{"in/home/s.yaml": fmt.Sprintf(cm, "CANARY"), "in/pr/.git/config": "CANARY", "in/pr/app/a.yaml": fmt.Sprintf(cm, "a")})
	repo := filepath.Join(top, "pr")
	file, dir := filepath.Join(repo, "app", "s.yaml"), filepath.Join(repo, "dir")
	for link, to := range map[string]string{file: "../../home/s.yaml", dir: "../home"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	l := &lister{limits: cuelang.DefaultLimits(), seen: map[string]bool{}, show: render.DisplayPath, bound: repo}
	l.within(dir)
	l.file(file, file)
	l.file(filepath.Join(dir, "s.yaml"), filepath.Join(dir, "s.yaml"))
	l.walk(dir, dir, dir, 0)
	if len(l.files) > 0 || len(l.found) != 3 || !strings.Contains(fmt.Sprint(l.found), "link that leads out") {
		t.Errorf("read %v, said %v", l.files, l.found)
	}
}

func TestKey(t *testing.T) {
	r := New(Options{})
	key := func(req render.Request) string {
		k, err := r.Key(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	one := unpack(t, map[string]string{"in/a.yaml": fmt.Sprintf(cm, "a")})
	base := key(request(one, "a.yaml"))
	if base != key(request(one, "./a.yaml", "*.yaml")) {
		t.Error("naming a file twice changes the key")
	}
	other := request(one, "a.yaml")
	other.Instance.Namespace = "x"
	if key(other) == base {
		t.Error("the namespace is not in the key")
	}
	if err := os.WriteFile(filepath.Join(one, "a.yaml"), fmt.Appendf(nil, cm, "b"), 0o644); err != nil {
		t.Fatal(err)
	}
	if key(request(one, "a.yaml")) == base {
		t.Error("the content is not in the key")
	}
	if _, err := r.Key(t.Context(), render.Request{}); err == nil {
		t.Error("a key without manifests")
	}
}

// The key and the digest do not depend on the directory that a command is run in, nor on where the checkout lies.
func TestKeyAnywhere(t *testing.T) {
	r := New(Options{})
	files := map[string]string{"in/app/base/a.yaml": fmt.Sprintf(cm, "a"), "in/app/b.yaml": fmt.Sprintf(cm, "b"), "in/c.yaml": fmt.Sprintf(cm, "c"), "in/.git/HEAD": ""}
	both := func(dir string) string {
		t.Helper()
		req := request(dir, "./base", "b.yaml", "../*.yaml")
		key, err := r.Key(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.Render(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		return key + " " + res.Digest
	}
	one, other := unpack(t, files), unpack(t, files)
	want := both(filepath.Join(one, "app"))
	for _, at := range []string{"", "app", "app/base"} {
		t.Chdir(filepath.Join(one, at))
		if got := both(filepath.Join(one, "app")); got != want {
			t.Errorf("in ./%s it is %s, want %s", at, got, want)
		}
	}
	if got := both(filepath.Join(other, "app")); got != want {
		t.Errorf("in another checkout it is %s, want %s", got, want)
	}
	if err := os.Rename(filepath.Join(other, "c.yaml"), filepath.Join(other, "d.yaml")); err != nil {
		t.Fatal(err)
	}
	if both(filepath.Join(other, "app")) == want {
		t.Error("a file's path is not in the key")
	}
}

func TestValuesAreRefused(t *testing.T) {
	req := request(unpack(t, map[string]string{"in/a.yaml": fmt.Sprintf(cm, "a")}), ".")
	if err := req.Instance.Values.UnmarshalJSON([]byte(`{"a": 1}`)); err != nil {
		t.Fatal(err)
	}
	facts, _ := outcome(t, req)
	if !strings.Contains(facts, "bundle.yaml:5: manifests take no values") {
		t.Errorf("got %s", facts)
	}
}

func TestLimits(t *testing.T) {
	bomb := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\na: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'k'; i++ {
		p := string(i - 1)
		bomb += string(i) + ": &" + string(i) + " [" + strings.Repeat("*"+p+",", 9) + "*" + p + "]\n"
	}
	for name, c := range map[string]struct{ file, text, want string }{
		"bomb":      {"a.yaml", bomb, "aliases expand to more than"},
		"itself":    {"a.yaml", "apiVersion: v1\na: &a [*a]\n", "contains itself"},
		"deep":      {"a.yaml", "a: " + strings.Repeat("[", 600) + strings.Repeat("]", 600), "nested too deeply"},
		"deep JSON": {"a.json", strings.Repeat("[", 100000), "nested too deeply"},
	} {
		t.Run(name, func(t *testing.T) {
			facts, _ := outcome(t, request(unpack(t, map[string]string{"in/" + c.file: c.text}), "."))
			if !strings.Contains(facts, c.want) || !strings.Contains(facts, c.file+":") || strings.Count(facts, "\n") > 3 {
				t.Errorf("got %.500s", facts)
			}
		})
	}
	big := New(Options{Limits: cuelang.Limits{SourceBytes: 10, Files: 1}})
	root := unpack(t, map[string]string{"in/a.yaml": fmt.Sprintf(cm, "a"), "in/b.yaml": "a: 1", "in/c.yaml": "a: 1"})
	_, err := big.Render(t.Context(), request(root, "."))
	if err == nil || !strings.Contains(err.Error(), "at most 10 are read") || !strings.Contains(err.Error(), "more than 1 manifest files") {
		t.Errorf("got %v", err)
	}
}

// FuzzManifests: any stream gives objects or findings with a line, and never panics.
func FuzzManifests(f *testing.F) {
	f.Add(fmt.Sprintf(cm, "a")+"---\n# nothing\n---\n"+fmt.Sprintf(cm, "b"), false)
	f.Add("a: &x {b: 1}\n<<: *x\nc: [yes, 0x1f, 1e3, 2001-01-01]\n", false)
	f.Add(`{"kind": "List", "items": [{"a": 1, "a": 2}]}`, true)
	f.Add("? [a]\n: b\n", false)
	f.Fuzz(func(t *testing.T, text string, asJSON bool) {
		if len(text) > 4000 {
			return
		}
		name := "f.yaml"
		if asJSON {
			name = "f.json"
		}
		r := New(Options{})
		docs, fs := parse(file{name: name, text: []byte(text)}, r.opts)
		for _, f := range fs {
			if f.Pos.File != name || f.Pos.Line == 0 {
				t.Fatalf("no line: %+v", f)
			}
		}
		var res render.Result
		for _, d := range docs {
			for _, f := range r.add(&res, request("", "x"), d) {
				if f.Pos.File != name || f.Pos.Line == 0 {
					t.Fatalf("no line: %+v", f)
				}
			}
		}
		if err := render.WriteYAML(&bytes.Buffer{}, res.Objects); err != nil {
			t.Fatal(err)
		}
	})
}

// TestFetched: manifests from elsewhere are read below what was fetched, and named by where they come from.
func TestFetched(t *testing.T) {
	const url = "oci://registry.example/app"
	root := unpack(t, map[string]string{
		"in/a.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"in/more/b.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
		"in/more/bad.txt": "broken: [",
		"in/err/x.yaml":   "apiVersion: v1\nkind: ConfigMap\n",
	})
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: outside}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		paths []string
		want  string
	}{
		"a folder":      {[]string{"more"}, "object ConfigMap b at oci://registry.example/app/more/b.yaml:1"},
		"a file":        {[]string{"a.yaml"}, "object ConfigMap a at oci://registry.example/app/a.yaml:1"},
		"a glob":        {[]string{"*/b.yaml"}, "object ConfigMap b at oci://registry.example/app/more/b.yaml:1"},
		"an error":      {[]string{"err"}, "error metadata: oci://registry.example/app/err/x.yaml:1"},
		"above":         {[]string{"../x.yaml"}, "error outside-content"},
		"absolute":      {[]string{outside}, "error outside-content"},
		"a link":        {[]string{"link.yaml"}, "link that leads out of what was fetched"},
		"everything":    {nil, "error manifest-link: bundle.yaml:5: oci://registry.example/app/link.yaml is a link that leads out"},
		"nothing there": {[]string{"none"}, "a path starts at the top of what was fetched"},
	} {
		req := request("/nowhere", c.paths...)
		req.Instance.Manifests.URL = url
		req.Content.Root = root
		if facts, _ := outcome(t, req); !strings.Contains(facts, c.want) || strings.Contains(facts, "outside at") {
			t.Errorf("%s: got %s", name, facts)
		}
	}
	req := request("")
	req.Instance.Manifests.URL = url
	if _, err := New(Options{}).Render(t.Context(), req); err == nil {
		t.Error("what was not fetched is rendered")
	}
}

// TestPathsOfADocument: a document's paths lead nowhere out of the repository or CUE module it lies in, or its own
// directory where there is neither, by no name and no link, and what lies there is not told; elsewhere in the repository is
// read as ever.
func TestPathsOfADocument(t *testing.T) {
	const canary = "password: c4nary"
	for _, mark := range []string{".git", "cue.mod", ""} {
		top := unpack(t, map[string]string{"in/home/c4nary.yaml": canary, "in/home/deep/x.yaml": canary, "in/repo/sibling/a.yaml": fmt.Sprintf(cm, "a"),
			"in/repo/app/b.yaml": fmt.Sprintf(cm, "b"), "in/repo/app/sub/cue.mod/module.cue": "", "in/repo/app/sub/c.yaml": fmt.Sprintf(cm, "c"), "in/repo/.git/config.yaml": canary})
		if mark != ".git" {
			if err := os.RemoveAll(filepath.Join(top, "repo", ".git")); err != nil {
				t.Fatal(err)
			}
		}
		if mark == "cue.mod" {
			if err := os.Mkdir(filepath.Join(top, "repo", mark), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		app := filepath.Join(top, "repo", "app")
		for name, to := range map[string]string{"l.yaml": "../../home/c4nary.yaml", "ld": "../../home", "lself": ".", "abs.yaml": filepath.Join(top, "home", "c4nary.yaml"), "l2": "../../home/deep"} {
			if err := os.Symlink(to, filepath.Join(app, name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range []string{"../../home/c4nary.yaml", "../../home", "../../home/*.yaml", "../../*/*.yaml", "l.yaml", "ld", "ld/c4nary.yaml", "ld/*", "l*/*.yaml", "*/../../../home/*",
			"abs.yaml", filepath.Join(top, "home", "c4nary.yaml"), filepath.Join(top, "home"), "../../home/none.yaml", "/proc/self/environ", "l2/../c4nary.yaml", "lself/ld/c4nary.yaml", "../.git/config.yaml", "../.git"} {
			_, err := New(Options{}).Render(t.Context(), request(app, p))
			if err == nil || strings.Contains(err.Error(), canary) || strings.Count(err.Error(), "c4nary") > strings.Count(p, "c4nary") {
				t.Errorf("%q %s: %v", mark, p, err)
			}
		}
		for p, marked := range map[string]bool{"b.yaml": false, "../sibling/a.yaml": true, "../sibling": true, "../sib*/*.yaml": true, filepath.Join(app, "b.yaml"): false,
			filepath.Join(top, "repo", "sibling", "a.yaml"): true, "lself/b.yaml": false, "[b].yaml": false, "./sub": false} {
			_, err := New(Options{}).Render(t.Context(), request(app, p))
			if want := mark != "" || !marked; want != (err == nil) {
				t.Errorf("%q %s: %v", mark, p, err)
			}
		}
		_, err := New(Options{}).Render(t.Context(), request(filepath.Join(app, "sub"), "../b.yaml"))
		if want := mark == ".git"; want != (err == nil) {
			t.Errorf("%q from a module: %v", mark, err)
		}
	}
}

// TestWhatIsOurs: in a directory what the run has read as something else, by whatever link, and its defaults are no manifests; a
// bundle or a fleet that it has not read is refused as what it is.
func TestWhatIsOurs(t *testing.T) {
	const fleet, lists = "fleet: {name: f}\n", "fleet: fleet.yaml\n"
	for name, c := range map[string]struct {
		files  map[string]string
		path   string
		except []string
		want   string // part of the facts; "" when only a is read, without findings
	}{
		"read":              {map[string]string{"in/fleet.yaml": fleet}, ".", []string{"fleet.yaml"}, ""},
		"read below":        {map[string]string{"in/sub/fleet.yaml": fleet}, ".", []string{"sub/fleet.yaml"}, ""},
		"read by a link":    {map[string]string{"in/fleet.yaml": fleet}, ".", []string{"link/fleet.yaml"}, ""},
		"not read":          {map[string]string{"in/sub/fleet.yaml": fleet}, ".", nil, "fleet: is a document of Hawser"},
		"another is read":   {map[string]string{"in/sub/fleet.yaml": fleet}, ".", []string{"fleet.yaml"}, "fleet: is a document of Hawser"},
		"bundle":            {map[string]string{"in/b.yaml": "bundle: {name: b}\n"}, ".", nil, "bundle: is a document of Hawser"},
		"as objects":        {map[string]string{"in/b.yaml": "apiVersion: hawser.dev/v1alpha1\nkind: Bundle\nmetadata: {name: b}\n"}, ".", nil, "kind: Bundle is a document of Hawser"},
		"defaults":          {map[string]string{"in/hawser.yaml": lists}, ".", nil, ""},
		"defaults below":    {map[string]string{"in/sub/hawser.yaml": lists}, ".", nil, ""},
		"named":             {map[string]string{"in/hawser.yaml": lists}, "hawser.yaml", nil, "fleet: is a document of Hawser"},
		"object so called":  {map[string]string{"in/hawser.yaml": fmt.Sprintf(cm, "b")}, ".", nil, "ConfigMap b"},
		"wrong defaults":    {map[string]string{"in/hawser.yaml": "fleet: fleet.yaml\nfile: x\n"}, ".", nil, "fleet: is a document of Hawser"},
		"an object's field": {map[string]string{"in/b.yaml": "apiVersion: x.io/v1\nkind: Cluster\nmetadata: {name: b}\nfleet: f\n"}, ".", nil, "Cluster"},
	} {
		root := unpack(t, c.files)
		if err := os.WriteFile(filepath.Join(root, "a.yaml"), fmt.Appendf(nil, cm, "a"), 0o644); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(root, link); err != nil {
			t.Fatal(err)
		}
		req := request(root, c.path)
		req.Instance.Manifests.Given = true
		for _, f := range c.except {
			if rest, linked := strings.CutPrefix(f, "link/"); linked {
				req.Instance.Manifests.Except = append(req.Instance.Manifests.Except, filepath.Join(link, rest))
				continue
			}
			req.Instance.Manifests.Except = append(req.Instance.Manifests.Except, filepath.Join(root, f))
		}
		facts, _ := outcome(t, req)
		alone, _ := outcome(t, request(root, "a.yaml"))
		if c.want == "" && facts != alone || !strings.Contains(facts, c.want) {
			t.Errorf("%s: %s", name, facts)
		}
	}
}
