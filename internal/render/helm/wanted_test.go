package helm

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestWantedValues: what a chart requires and does not get, and what it reads a field of though it is not there, is named
// as the user's value at the user's line, with the template beside it; what cannot be told stays at the template.
func TestWantedValues(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n"
	sub := map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [{name: db, version: 1.0.0}]\n",
		"chart/charts/db/Chart.yaml": "apiVersion: v2\nname: db\nversion: 1.0.0\n"}
	for name, c := range map[string]struct {
		files                  map[string]string
		values                 string
		path, what, why, where string
	}{
		"top":       {map[string]string{"x.yaml": head + `  a: {{ required "a must be set" .Values.a }}`}, "b: 1\n", "values.a", "not given", "a must be set (charts/app/templates/x.yaml:5", "values.yaml:1"},
		"nested":    {map[string]string{"x.yaml": head + `  a: {{ .Values.a.b | required "say b" | quote }}`}, "x: 1\na:\n  c: 1\n", "values.a.b", "not given", "say b (", "values.yaml:3"},
		"empty":     {map[string]string{"x.yaml": head + `  a: {{ required "say b" $.Values.a.b }}`}, "x: 1\na:\n  b: \"\"\n", "values.a.b", "empty", "say b (", "values.yaml:3"},
		"helper":    {map[string]string{"_h.tpl": `{{ define "h" }}{{ required "by a helper" .Values.h }}{{ end }}`, "x.yaml": head + `  a: {{ include "h" . }}`}, "x: 1\n", "values.h", "not given", "by a helper (", "values.yaml:1"},
		"printf":    {map[string]string{"x.yaml": head + `  a: {{ required (printf "no %s" "a") .Values.a }}`}, "x: 1\n", "values.a", "not given", "no a (", "values.yaml:1"},
		"field":     {map[string]string{"x.yaml": head + `  a: {{ .Values.a.b.c }}`}, "x: 1\n", "values.a", "not given", "reads a field of it (", "values.yaml:1"},
		"subchart":  {map[string]string{"../charts/db/templates/x.yaml": head + `  a: {{ required "say it" .Values.a }}`}, "x: 1\ndb: {b: 1}\n", "values.db.a", "not given", "say it (", "values.yaml:2"},
		"global":    {map[string]string{"../charts/db/templates/x.yaml": head + `  a: {{ required "say it" .Values.global.a }}`}, "global: {b: 1}\n", "values.global.a", "not given", "say it (", "values.yaml:1"},
		"two alike": {map[string]string{"x.yaml": head + "  a: {{ required \"say it\" .Values.a }}\n  b: {{ required \"say it\" .Values.b }}\n"}, "x: 1\n", "", "the template fails", "say it", "charts/app/templates/x.yaml:5"},
		"one given": {map[string]string{"x.yaml": head + "  a: {{ required \"say it\" .Values.a }}\n  b: {{ required \"say it\" .Values.b }}\n"}, "a: 1\n", "values.b", "not given", "say it (", "values.yaml:1"},
		"no value":  {map[string]string{"x.yaml": head + `  a: {{ required "who knows" (index .Values "a") }}`}, "x: 1\n", "", "the template fails", "who knows", "charts/app/templates/x.yaml:5"},
		"fail":      {map[string]string{"x.yaml": head + `  a: {{ fail "say it" }}{{ .Values.a }}`}, "x: 1\n", "", "the template fails", "say it", "charts/app/templates/x.yaml:5"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "values.yaml": c.values}
			for file, text := range c.files {
				if rest, ok := strings.CutPrefix(file, "../"); ok {
					for k, v := range sub {
						files[k] = v
					}
					files["chart/"+rest] = text
				} else {
					files["chart/templates/"+file] = text
				}
			}
			_, err := New(Options{}).Render(t.Context(), request(t, files))
			found := diag.From(err, "").Errors()
			if len(found) != 1 {
				t.Fatalf("found %v", found)
			}
			f := found[0]
			if f.Path != c.path || !strings.Contains(f.What, c.what) || !strings.HasPrefix(f.Why, c.why) && !strings.Contains(f.Why, c.why) ||
				!strings.Contains(f.Pos.String(), c.where) || c.path != "" && f.Fix != "set "+c.path {
				t.Errorf("%+v", f)
			}
		})
	}
}
