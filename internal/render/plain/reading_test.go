package plain

import (
	"os"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/once"
	"hawser.dev/hawser/internal/render"
)

// TestReadOnce: the digest, the key and the objects of a run are of one reading; another instance of the same files has its own name and
// position in what is said, and what other files are named is read anew.
func TestReadOnce(t *testing.T) {
	dir := unpack(t, map[string]string{"in/a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: before}\n", "in/b.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: other}\n"})
	req, r := request(dir, "a.yaml"), New(Options{})
	req.Content.Reading = &once.Map[any, any]{}
	before, err := r.Key(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {name: after}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rendered := func(req render.Request) string {
		t.Helper()
		res, err := r.Render(t.Context(), req)
		if err != nil || len(res.Objects) != 1 {
			t.Fatalf("%v, %v", res, err)
		}
		return res.Objects[0].Ref().Name
	}
	if key, err := r.Key(t.Context(), req); err != nil || key != before || rendered(req) != "before" {
		t.Errorf("%s %v, want what was read first", key, err)
	}
	anew := req
	anew.Content.Reading = nil
	if key, err := r.Key(t.Context(), anew); err != nil || key == before || rendered(anew) != "after" {
		t.Errorf("%s %v, want what is there now", key, err)
	}
	beside := req
	beside.Instance.Manifests = &v1alpha1.ManifestsSource{Dir: dir, Paths: []string{"b.yaml"}}
	if rendered(beside) != "other" {
		t.Error("other files of the same reading")
	}
	// An error is not kept, and is each instance's own.
	for _, name := range []string{"one", "two"} {
		req.Instance = v1alpha1.Instance{Name: name, Manifests: &v1alpha1.ManifestsSource{Dir: dir, Paths: []string{"late.yaml"}, Pos: v1alpha1.Position{File: name, Line: 1}}}
		_, err := r.Key(t.Context(), req)
		if fs := diag.From(err, "source"); len(fs) != 1 || fs[0].Instance != name || fs[0].Pos.File != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "late.yaml"), []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {name: late}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if rendered(req) != "late" {
		t.Error("what is there now")
	}
}
