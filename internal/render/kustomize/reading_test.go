package kustomize

import (
	"os"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/internal/once"
)

// TestReadOnce: the digest, the key and the objects of a run are of one reading, and building leaves it as it is.
func TestReadOnce(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("kustomization.yaml", "namePrefix: a-\nresources: [cm.yaml]\nconfigMapGenerator: [{name: g, literals: [k=v]}]\n")
	write("cm.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: before}\n")
	req, r := request(dir, "."), New(Options{})
	req.Content.Reading = &once.Map[any, any]{}
	key, err := r.Key(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	write("cm.yaml", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: after}\n")
	for range 2 {
		res, err := r.Render(t.Context(), req)
		if err != nil || len(res.Objects) != 2 || res.Objects[0].Ref().Name != "a-before" {
			t.Fatalf("%v %v", res.Objects, err)
		}
	}
	if again, err := r.Key(t.Context(), req); err != nil || again != key {
		t.Errorf("%s %v, want %s", again, err, key)
	}
	elsewhere := *req.Instance.Kustomize
	elsewhere.Pos.Line++ // another instance of the same
	req.Instance.Kustomize = &elsewhere
	if again, err := r.Key(t.Context(), req); err != nil || again != key {
		t.Errorf("%s %v, want %s", again, err, key)
	}
	req.Content.Reading = nil
	if again, err := r.Key(t.Context(), req); err != nil || again == key {
		t.Errorf("%s %v, want another key", again, err)
	}
}
