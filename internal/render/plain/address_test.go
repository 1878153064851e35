package plain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/render"
)

// TestPlacesShowNoTokens: what is fetched from an address with a token is said to be from there without it: plan files and records keep the
// places of objects.
func TestPlacesShowNoTokens(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "page.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	set, err := New(Options{}).Render(t.Context(), render.Request{Content: module.Content{Root: root},
		Instance: v1alpha1.Instance{Name: "a", Manifests: &v1alpha1.ManifestsSource{URL: "https://h/page.yaml?token=UrlCanary77"}}})
	if err != nil || len(set.Objects) != 1 {
		t.Fatal(err, set)
	}
	if file := set.Objects[0].Pos.File; strings.Contains(file, "UrlCanary77") || !strings.Contains(file, "https://h/page.yaml?token=***") {
		t.Error(file)
	}
}
