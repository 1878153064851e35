package kustomize

import (
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// TestPlaced: what is wrong in an object is told at its resource's file, also when the kustomization adds to its name; where
// two files may have given it, and where none has such a value, the kustomization is named.
func TestPlaced(t *testing.T) {
	const service = "kind: Service\nmetadata: {name: web}\nspec:\n  ports:\n    - port: 80\n    - port: 80\n"
	start := diag.Pos{File: "kustomization.yaml", Line: 1}
	for name, c := range map[string]struct {
		files map[string]string
		path  string
		want  diag.Pos
	}{
		"one file":          {map[string]string{"svc.yaml": "kind: ConfigMap\nmetadata: {name: web}\n---\n" + service}, "spec.ports.1", diag.Pos{File: "svc.yaml", Line: 9, Column: 7}},
		"two files":         {map[string]string{"a.yaml": service, "b.yaml": service}, "spec.ports.1", start},
		"made by a patch":   {map[string]string{"a.yaml": service}, "spec.ports.2", start},
		"another's":         {map[string]string{"a.yaml": "kind: Service\nmetadata: {name: other}\nspec: {ports: [{port: 1}]}\n"}, "spec.ports.0", start},
		"no YAML":           {map[string]string{"a.yaml": "{{"}, "spec.ports.0", start},
		"no place in it":    {map[string]string{"a.yaml": service}, "", start},
		"the kustomization": {map[string]string{"kustomization.yaml": service}, "spec.ports.1", start},
	} {
		tr := &tree{files: map[string][]byte{}, at: start, kustomizations: []kustomization{{".", "kustomization.yaml"}}}
		for file, text := range c.files {
			tr.files[file] = []byte(text)
		}
		o := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "prod-web"}}}
		f := diag.Errorf("duplicate-list-key", "twice")
		f.Path, f.Pos = c.path, start
		if got := tr.placed(o, diag.Findings{f}); got[0].Pos.Line != c.want.Line || got[0].Pos.Column != c.want.Column {
			t.Errorf("%s: %v, want %v", name, got[0].Pos, c.want)
		}
	}
}
