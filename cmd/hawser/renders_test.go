package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testfleet"
)

// TestUnchangedRendersNothing: the record keeps the inputs digest of every instance; while it is equal the recorded
// objects are taken and no module is evaluated. A changed value renders only the instance it belongs to.
func TestUnchangedRendersNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := os.CopyFS(filepath.Join(b.dir, "modules"), os.DirFS("../../examples/modules")); err != nil {
		t.Fatal(err)
	}
	bundle := func(message string) string {
		return `bundle:
  apiVersion: v1alpha1
  name: renders
  instances:
    one: {module: {url: "file://./modules/web"}, namespace: renders, values: {site: {enabled: false}, message: "` + message + `"}}
    two: {module: {url: "file://./modules/web"}, namespace: renders, values: {site: {enabled: false}, message: "the other"}}
`
	}
	b.write("bundle.yaml", bundle("first"))
	args := []string{"apply", "-f", "bundle.yaml", "--fleet", testfleet.Get().FleetFile(), "--yes", "--wait=false"}
	for _, step := range []struct{ reason, message, want string }{
		{"two distinct inputs on three clusters", "first", "2 renders for 6 instances"},
		{"nothing changed", "first", "0 renders for 6 instances"},
		{"one instance changed", "second", "1 render for 6 instances"},
	} {
		b.write("bundle.yaml", bundle(step.message))
		if r := b.want(0, args...); !strings.Contains(r.Stderr, step.want) {
			t.Errorf("%s: want %q in %s", step.reason, step.want, r)
		}
	}
	b.want(0, "delete", "renders", "--fleet", testfleet.Get().FleetFile(), "--yes", "--wait=false")
}
