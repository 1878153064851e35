package object

import (
	"slices"
	"strings"
	"testing"
)

// Where a secret stands in the new version, neither it nor what stood there before is shown.
func TestSensitivePaths(t *testing.T) {
	body := func(v string) map[string]any {
		return map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "x", "annotations": map[string]any{"a.b/c": v, "d": "plain"}},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "env": []any{
				map[string]any{"name": "A", "value": "plain"}, map[string]any{"name": "P", "value": "x" + v}}}},
				"args": []any{"one", v}, "port": int64(len(v)), "open": true}}
	}
	secret := func(s string) bool { return strings.Contains(s, "new") || s == "11" }
	o := Object{Body: body("new-hunter2")}
	o.Sensitive = SensitivePaths(o.Body, secret)
	want := []string{`metadata.annotations."a.b/c"`, "spec.args[1]", `spec.containers[name="app"].env[name="P"].value`, "spec.port"}
	if !slices.Equal(o.Sensitive, want) {
		t.Fatalf("paths: %q", o.Sensitive)
	}
	if got := o.SensitiveValues(); !slices.Equal(got, []string{"new-hunter2", "new-hunter2", "xnew-hunter2", "11"}) {
		t.Errorf("values: %q", got)
	}
	diffs := Diff(body("old"), o.Body, o.Mask())
	if len(diffs) != 4 {
		t.Fatalf("%d differences: %+v", len(diffs), diffs)
	}
	for _, d := range diffs {
		if !d.Hidden || d.Old != nil || d.New != nil {
			t.Errorf("%s is shown: %v -> %v", d.Path, d.Old, d.New)
		}
	}
}
