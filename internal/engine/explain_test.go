package engine

import (
	"fmt"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestExplainPackageDefault: a value that no document sets is explained by the chart's own, with its line, also
// where one sets it; one that nothing sets is an error.
func TestExplainPackageDefault(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	r.write("chart/values.yaml", "text: zero\nimage:\n  tag: \"7\"\n")
	at := func(pos diag.Pos) string { return fmt.Sprint(filepath.Base(pos.File), ":", pos.Line, ":", pos.Column) }
	for path, want := range map[string]string{
		"app.text":      `values "one" bundle.yaml:8:16`,
		"app.image.tag": `package default "7" values.yaml:3:3`,
	} {
		list, err := r.Explain(t.Context(), r.request(), path)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v %+v", path, err, list)
		}
		if got := list[0].Layer + " " + list[0].Value + " " + at(list[0].Pos); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if l := list[0].Layers[0]; path == "app.text" && (l.Layer != "package default" || l.Value != `"zero"` || at(l.Pos) != "values.yaml:1:1") {
			t.Errorf("%s: what was overridden is %+v", path, l)
		}
	}
	for path, fix := range map[string]string{"app.none": "", "app.image.tga": `did you mean "tag"?`, "app.txt": `did you mean "text"?`} {
		_, err := r.Explain(t.Context(), r.request(), path)
		if fs := diag.From(err, ""); err == nil || fs[0].Code != "no-value" || fs[0].Fix != fix {
			t.Errorf("%s: %v, want an error with %q", path, err, fix)
		}
	}
	r.values("text: {$cluster: name}")
	if list, err := r.Explain(t.Context(), r.request(), "app.text"); err != nil || list[0].Layers[1].From != "{$cluster: name}" {
		t.Errorf("%+v %v", list, err)
	}
}
