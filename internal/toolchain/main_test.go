package toolchain_test

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/cuegen"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/module/dir"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/cue"
	"hawser.dev/hawser/internal/toolchain"
)

var update = flag.Bool("update", false, "rewrite what is generated")

// tools are the real tools without a network.
func tools(t *testing.T) *toolchain.Tools {
	t.Helper()
	renderer := cue.New(cue.Options{})
	return &toolchain.Tools{
		Fetchers:  map[string]module.Fetcher{"file": dir.New()},
		GoModules: built{t},
		Getenv:    func(string) string { return "" },
		Render: func(ctx context.Context, req toolchain.RenderRequest) (toolchain.Rendered, error) {
			got, err := renderer.Render(ctx, render.Request{Content: req.Content, KubeVersion: req.KubeVersion, Package: req.Package, Tags: req.Tags,
				Instance: v1alpha1.Instance{Name: req.Name, Namespace: req.Namespace, Module: &v1alpha1.ModuleSource{URL: req.URL},
					Values: req.Values}})
			return toolchain.Rendered{Objects: got.Objects, Images: got.Images, Stages: got.Stages, Findings: got.Findings}, err
		},
	}
}

// built gives the source of the modules that this module is built with, as the go command keeps them.
type built struct{ t *testing.T }

func (b built) where(mod string) (version, dir string) {
	out, err := exec.CommandContext(b.t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", mod).Output()
	if err != nil {
		b.t.Fatal(err)
	}
	version, dir, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	return version, dir
}

func (b built) Versions(_ context.Context, mod string) ([]string, error) {
	version, _ := b.where(mod)
	return []string{"v0.1.0", version, "v0.99.0-rc.1"}, nil
}

func (b built) Source(_ context.Context, mod, version string) (cuegen.Source, string, error) {
	have, root := b.where(mod)
	if have != version {
		return nil, "", errors.New("no such version")
	}
	src := cuegen.Source{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		base := filepath.Base(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_") || strings.HasSuffix(base, ".pb.go") {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := mod + "/" + filepath.ToSlash(rel)
		if src[pkg] == nil {
			src[pkg] = map[string][]byte{}
		}
		src[pkg][base], err = os.ReadFile(path)
		return err
	})
	return src, "h1:unknown", err
}

// code is the code of the first finding of an error.
func code(err error) string {
	if fs := diag.From(err, "other"); len(fs) > 0 {
		return fs[0].Code
	}
	return ""
}

// write makes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// begun is a module made from the blueprint.
func begun(t *testing.T, tt *toolchain.Tools) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "web")
	if _, err := tt.Init(t.Context(), toolchain.InitRequest{Name: "web", Dir: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
}
