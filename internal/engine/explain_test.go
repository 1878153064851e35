package engine

import "testing"

// TestExplainPackageDefault: a value that no document sets is explained by the chart's own, with its line.
func TestExplainPackageDefault(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	r.write("chart/values.yaml", "text: zero\nimage:\n  tag: \"7\"\n")
	for path, want := range map[string]string{
		"app.text": `values "one"`, "app.image.tag": `package default "7" chart/values.yaml:3:3`, "app.none": `package default `,
	} {
		list, err := r.Explain(t.Context(), r.request(), path)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v %+v", path, err, list)
		}
		got := list[0].Layer + " " + list[0].Value
		if path == "app.image.tag" {
			file := list[0].Pos
			file.File = "chart/values.yaml"
			got += " " + file.String()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
