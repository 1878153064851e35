package defaults

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNoFleet: a run without a fleet is told of files beside the bundle that look like one, and of defaults above.
func TestNoFleet(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		dir   string
		args  []string
		want  string
	}{
		"YAML":                  {map[string]string{"acme.yaml": "bundle:\n  name: x\n", "fleet.yaml": "fleet:\n  name: x\n"}, ".", []string{"acme.yaml"}, "fleet.yaml looks like a fleet: --fleet fleet.yaml"},
		"CUE":                   {map[string]string{"clusters.cue": "package main\n\nfleet: {\n}\n"}, ".", []string{"acme.cue"}, "clusters.cue looks like a fleet: --fleet clusters.cue"},
		"JSON":                  {map[string]string{"f.json": "{\n  \"fleet\": {\"name\": \"x\"}}"}, ".", []string{"acme.json"}, "f.json looks like a fleet: --fleet f.json"},
		"Timoni's runtime":      {map[string]string{"runtime.cue": "runtime: {\n}\n"}, ".", []string{"acme.cue"}, "runtime.cue looks like a fleet: --fleet runtime.cue"},
		"in another directory":  {map[string]string{"deploy/fleet.yaml": "fleet:\n  name: x\n"}, ".", []string{"deploy/acme.yaml"}, "deploy/fleet.yaml looks like a fleet: --fleet deploy/fleet.yaml"},
		"several":               {map[string]string{"a.yaml": "fleet:\n  name: x\n", "b.cue": "fleet: {\n}\n", "c.yaml": "runtime:\n  name: x\n"}, ".", nil, "a.yaml, b.cue and c.yaml look like fleets: --fleet a.yaml"},
		"without files":         {map[string]string{"fleet.yaml": "fleet: # ours\n  name: x\n"}, ".", nil, "fleet.yaml looks like a fleet: --fleet fleet.yaml"},
		"defaults, and no more": {map[string]string{"hawser.yaml": "fleet: clusters/prod.yaml\n"}, ".", []string{"acme.yaml"}, ""},
		"a value of that name":  {map[string]string{"x.yaml": "data:\n  fleet:\n    a: b\n"}, ".", []string{"acme.yaml"}, ""},
		"defaults above": {map[string]string{".git/HEAD": "", "hawser.yaml": "fleet: fleet.yaml\n", "apps/shop/acme.yaml": ""}, "apps/shop", []string{"acme.yaml"},
			"../../hawser.yaml names one for its own directory: run it there, or --fleet ../../fleet.yaml"},
		"defaults above without one":     {map[string]string{".git/HEAD": "", "hawser.yaml": "files: acme.yaml\n", "apps/acme.yaml": ""}, "apps", []string{"acme.yaml"}, ""},
		"defaults of another repository": {map[string]string{"hawser.yaml": "fleet: fleet.yaml\n", "apps/.git/HEAD": ""}, "apps", nil, ""},
		"standard input":                 {map[string]string{"fleet.yaml": "fleet:\n  name: x\n"}, ".", []string{"-"}, ""},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := NoFleet(filepath.Join(root, c.dir), c.args); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
