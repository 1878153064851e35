package helm

import (
	"strings"
	"testing"
)

// TestTextsOfValuesFiles: in a file of values for charts a text over a boolean means what Helm makes of it: the chart is
// rendered with it, with a warning at its line.
func TestTextsOfValuesFiles(t *testing.T) {
	req := request(t, map[string]string{
		"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.2.3\n", "chart/values.yaml": "mode: false\nother: true\n",
		"chart/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {mode: {{ .Values.mode | quote }}, other: {{ .Values.other | quote }}}\n",
		"values.yaml":            "mode: auto\nother: \"no\"\n",
	})
	if _, err := New(Options{}).Render(t.Context(), req); err == nil || !strings.Contains(err.Error(), "values.mode") {
		t.Fatalf("in our own document: %v", err)
	}
	for _, d := range req.Instance.Values.Struct.Fields {
		d.Value.Foreign = true
	}
	res, err := New(Options{}).Render(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	data := res.Objects[0].Body["data"].(map[string]any)
	if data["mode"] != "auto" || data["other"] != "no" {
		t.Errorf("rendered with %v", data)
	}
	if len(res.Findings) != 2 || res.Findings[0].Pos.Line != 1 || res.Findings[1].Pos.Line != 2 {
		t.Errorf("warnings: %v", res.Findings)
	}
}
