package kustomize

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestCost: what the library would read or build again and again is counted as often, before it does; what is usual is built.
func TestCost(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	levels := map[string]string{"base/a.yaml": config, "base/kustomization.yaml": "resources: [a.yaml]\n", "kustomization.yaml": "resources: [a0]\n"}
	for i := range 12 {
		for _, side := range []string{"a", "b"} {
			next := fmt.Sprintf("[../a%d, ../b%d]", i+1, i+1)
			if i == 11 {
				next = "[../base]"
			}
			levels[fmt.Sprintf("%s%d/kustomization.yaml", side, i)] = fmt.Sprintf("namePrefix: %s%d-\nresources: %s\n", side, i, next)
		}
	}
	nested := "x: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 9; i++ {
		nested += fmt.Sprintf("x%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	long := "data:\n  a: &a '" + strings.Repeat("x", 700_000) + "'\n"
	for i := range 40 {
		long += fmt.Sprintf("  k%d: *a\n", i)
	}
	files := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("k%d=f", i))
		}
		return "configMapGenerator:\n- name: a\n  files: [" + strings.Join(out, ", ") + "]\n"
	}
	resource := "resources: [a.yaml]\n"
	for name, c := range map[string]struct {
		files map[string]string
		code  string
		at    string
	}{
		"levels of two":          {levels, "too-many", "kustomization.yaml:"},
		"one file in all keys":   {map[string]string{"kustomization.yaml": files(200), "f": strings.Repeat("x", 700_000)}, "too-large", "kustomization.yaml:3"},
		"a patch in all entries": {map[string]string{"kustomization.yaml": resource + "patches: [" + strings.Repeat("{path: p.yaml},", 200) + "]\n", "a.yaml": config, "p.yaml": config + "data: {a: '" + strings.Repeat("x", 700_000) + "'}\n"}, "too-large", "kustomization.yaml:2"},
		"a resource's aliases":   {map[string]string{"kustomization.yaml": resource, "a.yaml": config + nested}, "yaml", "a.yaml:"},
		"a resource's texts":     {map[string]string{"kustomization.yaml": resource, "a.yaml": config + long}, "yaml", "a.yaml:"},
		"a patch's aliases":      {map[string]string{"kustomization.yaml": resource + "patches: [{path: p.yaml}]\n", "a.yaml": config, "p.yaml": config + nested}, "yaml", "p.yaml:"},
		"an inline patch":        {map[string]string{"kustomization.yaml": resource + "patches:\n- patch: |\n    " + strings.ReplaceAll(config+nested, "\n", "\n    "), "a.yaml": config}, "yaml", "kustomization.yaml:3"},
		"an inline transformer":  {map[string]string{"kustomization.yaml": resource + "transformers:\n- |\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: a}\n  patch: |\n    " + strings.ReplaceAll(config+nested, "\n", "\n    "), "a.yaml": config}, "yaml", "kustomization.yaml:3"},
		"a component's literals": {map[string]string{"kustomization.yaml": "components: [c]\n", "c/kustomization.yaml": "kind: Component\nconfigMapGenerator:\n- name: a\n  literals: [&a 'a=" + strings.Repeat("x", 700_000) + "'" + strings.Repeat(", *a", 40) + "]\n"}, "yaml", "c/kustomization.yaml:4"},
		"usual":                  {map[string]string{"kustomization.yaml": resource + "components: [c]\n" + files(3), "f": "x", "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- patch: |\n    " + strings.ReplaceAll(config, "\n", "\n    ") + "\n", "a.yaml": "x: &a {b: c}\ny: *a\n" + config}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := New(Options{}).Render(t.Context(), request(dir, "."))
			fs := findings(err)
			if c.code == "" {
				if strings.Contains(fs, "too-") || strings.Contains(fs, "stand for") {
					t.Error(fs)
				}
				return
			}
			if !strings.HasPrefix(fs, c.code+" ") || !strings.Contains(fs, c.at) {
				t.Errorf("want %s at %s, got %.300s", c.code, c.at, fs)
			}
		})
	}
}

// findings are codes and places of an error's findings.
func findings(err error) string {
	var b strings.Builder
	for _, f := range diag.From(err, "other") {
		fmt.Fprintf(&b, "%s %s:%d %s\n", f.Code, f.Pos.File, f.Pos.Line, f.What)
	}
	return b.String()
}
