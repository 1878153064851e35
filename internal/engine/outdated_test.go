package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/plain"
	"hawser.dev/hawser/internal/source"
)

// TestOutdatedCoversFiles: manifests on this machine are among the sources that outdated compares, each once.
func TestOutdatedCoversFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: shop\n  instances:\n"+
		"    a: {namespace: x, manifests: {paths: [app.yaml]}}\n    b: {namespace: y, manifests: {paths: [app.yaml]}}\n")
	e := &Engine{Renderers: map[string]render.Renderer{"manifests": plain.New(plain.Options{})}}
	req := Request{Input: filesOf(dir, "bundle.yaml")}
	verdict := func(want source.Verdict) {
		t.Helper()
		got, err := e.Outdated(t.Context(), req)
		if err != nil || len(got.Sources) != 1 || got.Sources[0].Verdict != want || got.Sources[0].Source != "manifests app.yaml" || strings.Join(got.Sources[0].Instances, " ") != "a b" {
			t.Errorf("want %s, got %+v, %v", want, got, err)
		}
	}
	verdict(source.Loose)
	if _, err := e.Lock(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	verdict(source.Current)
	write("app.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
	verdict(source.Edited)
}
