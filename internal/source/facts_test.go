package source_test

import (
	"os"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/internal/document"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/source"
)

// TestNeeded: what a cluster is asked for in values, layers and the namespace is not needed to know the sources; in a source
// it is.
func TestNeeded(t *testing.T) {
	for name, c := range map[string]struct {
		module, rest string
		needed       bool
	}{
		"values":             {"{url: 'file://./m'}", "namespace: x\n      values: {a: {b: {$cluster: labels.region}}, c: [{$cluster: vars.x}]}", false},
		"all values":         {"{url: 'file://./m'}", "namespace: x\n      values: {$cluster: vars.x}", false},
		"a layer":            {"{url: 'file://./m'}", "namespace: x\n      valuesFor: {l: {groups: [g], values: {a: {$cluster: labels.region}}}}", false},
		"the namespace":      {"{url: 'file://./m'}", "namespace: {$cluster: labels.team}", false},
		"the source":         {"{url: 'file://./m', version: {$cluster: labels.version}}", "namespace: x", true},
		"another mistake":    {"{url: 'file://./m'}", "namespace: x\n      values: {a: {$cluster: labels.region}}\n      timeout: 5", true},
		"source and a value": {"{url: {$cluster: labels.url}}", "namespace: x\n      values: {a: {$cluster: labels.region}}", true},
	} {
		file := filepath.Join(t.TempDir(), "b.yaml")
		text := "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    my-app:\n      module: " + c.module + "\n      " + c.rest + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, fs := document.Load(t.Context(), document.Options{Files: []string{file}})
		if fs.HasErrors() {
			t.Fatal(name, fs)
		}
		specs, fs := p.Evaluate(fleet.Facts{Name: "default", Implicit: true})
		if !fs.HasErrors() {
			t.Errorf("%s: no error to begin with", name)
		}
		if left := source.Needed(fs); left.HasErrors() != c.needed {
			t.Errorf("%s: %v, want errors %v", name, left, c.needed)
		} else if !c.needed && (len(specs) != 1 || len(specs[0].Instances) != 1 || specs[0].Instances[0].Module.URL != "file://./m") {
			t.Errorf("%s: %+v", name, specs)
		}
	}
}
