package document

import (
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// TestFactAtItsValue: a value that a reference gave is known by its position.
func TestFactAtItsValue(t *testing.T) {
	p, fs := loadText(t, "b.yaml", `bundle:
  apiVersion: v1alpha1
  name: b
  instances:
    a:
      module: {url: "file:///m"}
      namespace: x
      values:
        region: {$cluster: labels.region}
        name:
          $cluster: name
        plain: eu
`)
	if fs.HasErrors() {
		t.Fatal(fs)
	}
	specs, fs := p.Evaluate(fleet.Facts{Name: "one", Labels: map[string]string{"region": "eu"}})
	if fs.HasErrors() {
		t.Fatal(fs)
	}
	want := map[string]string{"region": "{$cluster: labels.region}", "name": "{$cluster: name}", "plain": ""}
	for _, f := range specs[0].Instances[0].Values.Struct.Fields {
		if got := p.Fact(diag.Pos(f.Value.Pos)); got != want[f.Name] {
			t.Errorf("%s: %q, want %q (at %s)", f.Name, got, want[f.Name], diag.Pos(f.Value.Pos))
		}
	}
}
