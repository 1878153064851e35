package helm

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuelang"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/testwire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// apis are what the tests' cluster serves.
var apis = []string{"v1/ConfigMap", "v1/Secret", "v1/Service", "apps/v1/Deployment", "batch/v1/Job", "policy/v1/PodDisruptionBudget"}

// unpack writes the files below chart/ into a directory and gives them as content.
func unpack(t testing.TB, files map[string]string) module.Content {
	t.Helper()
	c := module.Content{Root: t.TempDir(), Version: "0.0.0-devel"}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		rel, ok := strings.CutPrefix(name, "chart/")
		if !ok {
			continue
		}
		p := filepath.Join(c.Root, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(files[name]), 0o644); err != nil {
			t.Fatal(err)
		}
		c.Files = append(c.Files, rel)
		fmt.Fprintf(&all, "%q %q", rel, files[name])
	}
	c.Digest = cuelang.Digest(&v1alpha1.Value{Kind: v1alpha1.KindString, Text: all.String()})
	return c
}

// request is the golden test's: the chart, values.yaml, and "flags" (skipCRDs, skipHooks, skipSchema, tests, noAPIs, release=NAME).
func request(t testing.TB, files map[string]string) render.Request {
	t.Helper()
	src := &v1alpha1.HelmSource{Chart: "charts/app", Pos: v1alpha1.Position{File: "bundle.yaml", Line: 7}}
	req := render.Request{
		Bundle: "shop", KubeVersion: "1.36.3", APIs: apis, Content: unpack(t, files),
		Instance: v1alpha1.Instance{Name: "api", Namespace: "shop", Helm: src},
	}
	for _, f := range strings.Fields(files["flags"]) {
		switch name, value, _ := strings.Cut(f, "="); name {
		case "skipCRDs":
			src.SkipCRDs = true
		case "skipHooks":
			src.SkipHooks = true
		case "skipSchema":
			src.SkipSchema = true
		case "tests":
			req.Tests = true
		case "noAPIs":
			req.APIs = nil
		case "kube":
			req.KubeVersion = value
		case "notHelm": // Helm's own output is another: the differential test leaves it out
		case "release":
			src.ReleaseName = value
		default:
			t.Fatalf("unknown flag %q", f)
		}
	}
	req.Instance.Values = valuesOf(t, files["values.yaml"])
	return req
}

func valuesOf(t testing.TB, text string) v1alpha1.Values {
	t.Helper()
	f, err := cuelang.FromYAML("values.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v1alpha1.Values{Struct: structOf(f)}
}

func filesOf(a *txtar.Archive) map[string]string {
	out := map[string]string{}
	for _, f := range a.Files {
		out[f.Name] = string(f.Data)
	}
	return out
}

func goldens(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/golden/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return files
}

// TestGolden: chart/ is the chart, values.yaml the user's values, "flags" the source's; "facts" are findings and objects,
// "objects.yaml" is the output.
func TestGolden(t *testing.T) {
	for _, file := range goldens(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			get := filesOf(a)
			facts, objects := outcome(t, request(t, get))
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
			fmt.Fprintf(&b, "object %s at %s", o.Ref(), o.Pos)
			if h := o.Hook; h != nil {
				fmt.Fprintf(&b, " hook %v weight %d delete %v", h.Events, h.Weight, h.Delete)
			}
			fmt.Fprintln(&b)
		}
		if err := render.WriteYAML(&y, res.Objects); err != nil {
			t.Fatal(err)
		}
	}
	return b.String(), y.String()
}

func rewrite(t *testing.T, file string, a *txtar.Archive, facts, objects string) {
	t.Helper()
	keep := a.Files[:0]
	for _, f := range a.Files {
		if f.Name != "facts" && f.Name != "objects.yaml" {
			keep = append(keep, f)
		}
	}
	a.Files = append(keep, txtar.File{Name: "facts", Data: []byte(facts)})
	if objects != "" {
		a.Files = append(a.Files, txtar.File{Name: "objects.yaml", Data: []byte(objects)})
	}
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
