package document

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestBlankFiles: files of a directory that hold nothing are passed over, as kubectl does it; one that is named is an error still.
func TestBlankFiles(t *testing.T) {
	blank := map[string]string{"a.yaml": "", "b.yml": "# nothing\n\n# here\n", "c.yaml": "---\n# nothing\n---\n", "d.json": "\n"}
	for name, text := range map[string]string{
		"web.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"bundle.yaml": "bundle: {apiVersion: v1alpha1, name: shop, instances: {a: {manifests: {paths: [x]}}}}\n",
	} {
		dir := t.TempDir()
		for file, content := range blank {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, fs := Load(t.Context(), Options{Files: []string{dir}, Workdir: dir})
		if len(fs) != 1 || fs[0].Code != "no-documents" {
			t.Errorf("a directory that holds nothing: %v", fs)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, fs := Load(t.Context(), Options{Files: []string{dir}, Workdir: dir})
		if fs.HasErrors() {
			t.Fatalf("%s: %v", name, fs)
		}
		specs, fs := p.Evaluate(implicit(nil))
		if fs.HasErrors() || len(specs) != 1 || name == "web.yaml" && !slices.Equal(specs[0].Instances[0].Manifests.Paths, []string{"."}) {
			t.Errorf("%s: %+v %v", name, specs, fs)
		}
		_, fs = Load(t.Context(), Options{Files: []string{filepath.Join(dir, "a.yaml")}, Workdir: dir})
		if len(fs) == 0 || fs[0].Code != "empty-file" {
			t.Errorf("a file that is named: %v", fs)
		}
	}
}
