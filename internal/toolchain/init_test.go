package toolchain_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/toolchain"
)

// blueprintTypes are the kinds of Kubernetes that the blueprint imports.
var blueprintTypes = []string{"apps/v1.Deployment", "core/v1.ConfigMap", "core/v1.Service", "core/v1.ServiceAccount"}

// TestBlueprintSchemas: the blueprint's schemas are those of the Kubernetes this program is built with.
func TestBlueprintSchemas(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"cue.mod/module.cue": "module: \"a.b/c\"\n"})
	version, _ := built{t}.where("k8s.io/api")
	got, err := tools(t).VendorKubernetes(t.Context(), toolchain.KubernetesRequest{Dir: dir, Packages: blueprintTypes,
		Version: "1." + strings.TrimPrefix(version, "v0.")})
	if err != nil || len(got.Findings) > 0 {
		t.Fatal(err, got.Findings)
	}
	made, kept := filepath.Join(dir, "cue.mod/gen"), "blueprint/cue.mod/gen"
	if *update {
		if err := os.RemoveAll(kept); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(kept, os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(tree(t, made), tree(t, kept)); diff != "" {
		t.Errorf("run go test ./internal/toolchain -run TestBlueprintSchemas -update\n%s", diff)
	}
}

// tree is every file of a directory.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestInit: the blueprint becomes a module that passes vet, with its new name everywhere.
func TestInit(t *testing.T) {
	tt := tools(t)
	dir := begun(t, tt)
	for name, text := range tree(t, dir) {
		if strings.Contains(text, "blueprint") {
			t.Errorf("%s still names the blueprint", name)
		}
	}
	got, err := tt.Vet(t.Context(), toolchain.BuildRequest{Module: toolchain.Module{Place: dir}})
	if err != nil || len(got.Findings) > 0 {
		t.Fatalf("vet: %v %v", err, got.Findings)
	}
	if len(got.Runs) != 2 || got.Runs[0].Values != "values.cue" || got.Runs[1].Values != "debug_values.cue" || len(got.Runs[1].Objects) != 4 {
		t.Errorf("vet ran %+v", got.Runs)
	}
	want := []string{"docker.io/nginxinc/nginx-unprivileged:1.29.1-alpine", "registry.example.com/team/app:1.2.3@sha256:" + strings.Repeat("a", 64)}
	if diff := cmp.Diff(want, got.Images); diff != "" {
		t.Error(diff)
	}
}

// TestInitFromModule: another module is a blueprint, too; its vendored files are not touched.
func TestInitFromModule(t *testing.T) {
	tt := tools(t)
	dir := filepath.Join(t.TempDir(), "site")
	got, err := tt.Init(t.Context(), toolchain.InitRequest{Name: "site", Dir: dir, Path: "example.com/team/site",
		Blueprint: toolchain.Module{Place: "../../examples/modules/web"}})
	if err != nil || got.Module != "example.com/team/site" || !strings.HasPrefix(got.Digest, "sha256:") {
		t.Fatalf("%+v %v", got, err)
	}
	if text := tree(t, dir)["timoni.cue"]; !strings.Contains(text, `import "example.com/team/site/templates"`) {
		t.Errorf("timoni.cue imports something else:\n%s", text)
	}
	if _, err := tt.Vet(t.Context(), toolchain.BuildRequest{Module: toolchain.Module{Place: dir}}); err != nil {
		t.Error(err)
	}
}

func TestInitRefuses(t *testing.T) {
	full := t.TempDir()
	write(t, full, map[string]string{"mine.txt": "mine"})
	for _, c := range []struct {
		name string
		req  toolchain.InitRequest
		code string
	}{
		{"upper case", toolchain.InitRequest{Name: "Web"}, "module-name"},
		{"a path", toolchain.InitRequest{Name: "../web"}, "module-name"},
		{"no name", toolchain.InitRequest{}, "module-name"},
		{"no domain", toolchain.InitRequest{Name: "web", Path: "web"}, "module-path"},
		{"code in the path", toolchain.InitRequest{Name: "web", Path: "a.b/c\" + x"}, "module-path"},
		{"a directory with files", toolchain.InitRequest{Name: "web", Dir: full}, "directory-not-empty"},
		{"no such blueprint", toolchain.InitRequest{Name: "web", Dir: filepath.Join(full, "x"), Blueprint: toolchain.Module{Place: filepath.Join(full, "none")}}, "module-not-found"},
		{"no such scheme", toolchain.InitRequest{Name: "web", Dir: filepath.Join(full, "x"), Blueprint: toolchain.Module{Place: "ftp://x/y"}}, "module-url"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := tools(t).Init(t.Context(), c.req); code(err) != c.code {
				t.Errorf("error %v, want %s", err, c.code)
			}
		})
	}
	if diff := cmp.Diff(map[string]string{"mine.txt": "mine"}, tree(t, full)); diff != "" {
		t.Error(diff)
	}
}

// TestBuildGolden: what the blueprint renders, read by a person.
func TestBuildGolden(t *testing.T) {
	tt := tools(t)
	dir, values := begun(t, tt), filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte("values: {replicas: 2, settings: {a.txt: A}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := tt.Build(t.Context(), toolchain.BuildRequest{Module: toolchain.Module{Place: dir}, Name: "shop", Namespace: "apps", Files: []string{values}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := render.WriteYAML(&b, got.Objects); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/build.yaml", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/build.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}
