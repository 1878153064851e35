package cue

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/dir"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/testwire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var fetcher = dir.New()

// request makes a request for a fixture module; values is CUE text or "".
func request(t testing.TB, mod, name, values string) render.Request {
	t.Helper()
	ref := module.Reference{URL: "file://./testdata/modules/" + mod}
	content, err := fetcher.Fetch(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return render.Request{
		Bundle: "test", Content: content, KubeVersion: "1.36.3",
		Instance: v1alpha1.Instance{
			Name: name, Namespace: "apps", Module: &v1alpha1.ModuleSource{URL: ref.URL}, Values: valuesOf(t, values),
		},
	}
}

func valuesOf(t testing.TB, text string) v1alpha1.Values {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return v1alpha1.Values{}
	}
	x, err := cuelang.Data(cuecontext.New().CompileString(text, cue.Filename("bundle.cue")))
	if err != nil {
		t.Fatal(err)
	}
	return v1alpha1.Values{Struct: x}
}

// outcome is a result as text: facts about it and the objects as YAML.
func outcome(t testing.TB, res render.Result, err error) (facts, objects string) {
	t.Helper()
	var b bytes.Buffer
	for _, f := range diag.From(err, "other") {
		fmt.Fprintf(&b, "error %s: %s\n", f.Code, f)
	}
	for _, f := range res.Findings {
		fmt.Fprintf(&b, "%s %s: %s\n", f.Severity, f.Code, f)
	}
	if err == nil {
		fmt.Fprintf(&b, "version %s\nstages %s\nimages %s\n", res.Version, strings.Join(res.Stages, " "), strings.Join(res.Images, " "))
		for _, o := range res.Objects {
			fmt.Fprintf(&b, "object %s stage %d at %s\n", o.Ref(), o.Stage, o.Pos)
		}
		for _, c := range res.Checks {
			fmt.Fprintf(&b, "check %s %s/%s\n", c.Name, c.Group, c.Kind)
		}
	}
	var y bytes.Buffer
	if err == nil {
		if err := render.WriteYAML(&y, res.Objects); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), y.String()
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	r := New(Options{})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			golden(t, r, file)
		})
	}
}

func golden(t *testing.T, r *Renderer, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	get := map[string]string{}
	for _, f := range a.Files {
		get[f.Name] = string(f.Data)
	}
	opts := map[string]string{}
	for line := range strings.Lines(get["request"]) {
		k, v, _ := strings.Cut(strings.TrimSpace(line), " ")
		opts[k] = v
	}
	req := request(t, opts["module"], opts["name"], get["values.cue"])
	req.Tags = strings.Fields(opts["tags"])
	if v := opts["kube"]; v != "" {
		req.KubeVersion = v
	}
	res, err := r.Render(t.Context(), req)
	testwire.Same(t, r, req, res, err)
	facts, objects := outcome(t, res, err)
	if *update {
		a.Files = a.Files[:0]
		for _, name := range []string{"request", "values.cue"} {
			if get[name] != "" {
				a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(get[name])})
			}
		}
		a.Files = append(a.Files, txtar.File{Name: "facts", Data: []byte(facts)})
		if objects != "" {
			a.Files = append(a.Files, txtar.File{Name: "objects.yaml", Data: []byte(objects)})
		}
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(get["facts"], facts); diff != "" {
		t.Errorf("facts: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(get["objects.yaml"], objects); diff != "" {
		t.Errorf("objects: -want +got\n%s", diff)
	}
}
