package helm

import (
	"testing"
)

// TestMisspeltValues: a value that the chart does not have, beside one that it reads by that name, is a warning with it. Free
// maps, names that stand anywhere in the chart, dependencies and what resembles nothing are none.
func TestMisspeltValues(t *testing.T) {
	const template = `apiVersion: v1
kind: ConfigMap
metadata: {name: a, annotations: {{ toJson .Values.annotations }}}
data:
  replicas: {{ .Values.replicas | quote }}
  tag: {{ .Values.image.tag | quote }}
  {{- range $k, $v := .Values.env }}
  {{ $k }}: {{ $v | quote }}
  {{- end }}
  {{- with .Values.probe }}
  path: {{ .path }}
  {{- end }}
  {{- if .Values.servicePort }}
  p: x
  {{- end }}
  cpu: {{ .Values.limits.cpu | quote }}
  all: {{ toJson .Values.limits | quote }}
`
	files := func(values string) map[string]string {
		return map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n",
			"chart/values.yaml": "replicas: 1\n# nodeSelectors: {}\nnodeSelector: {}\nimage: {tag: a}\nannotations: {}\nenv: {LOG_LEVEL: info}\n" +
				"probe: {path: /}\nservicePorts: 1\nlimits: {cpu: 1}\nopen: {}\nsub: {size: 1}\n",
			"chart/values.schema.json":          `{"type": "object", "properties": {"replicaz": {"type": "integer"}}}`,
			"chart/templates/a.yaml":            template,
			"chart/charts/sub/Chart.yaml":       "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
			"chart/charts/sub/values.yaml":      "size: 1\n",
			"chart/charts/sub/templates/b.yaml": "{{- $x := .Values.size }}",
			"values.yaml":                       values}
	}
	for values, want := range map[string]string{
		"replica: 3\n":                   `values.yaml:1:1: values.replica: the chart has no value replica: neither its values.yaml nor its schema nor a template names it (did you mean "replicas"?)`,
		"image: {tga: b}\n":              `values.yaml:1:9: values.image.tga: the chart has no value image.tga: neither its values.yaml nor its schema nor a template names it (did you mean "tag"?)`,
		"replicas: 3\nimage: {tag: b}\n": "",
		"env: {LOG_LEVELS: debug}\n":     "", // a map that is ranged over
		"probe: {paths: /}\n":            "", // taken as a whole
		"limits: {gpu: 1}\n":             "", // read by name, and as a whole too
		"annotations: {replica: x}\n":    "", // a free map
		"open: {replica: x}\n":           "",
		"nodeSelectors: {a: b}\n":        "", // a comment of values.yaml names it
		"servicePort: 80\n":              "", // a template names it
		"replicaz: 3\n":                  "", // the schema names it
		"sub: {sise: 2}\n":               "", // of a dependency
		"global: {x: 1}\nsomething: 1\n": "", // resembles nothing
	} {
		res, err := New(Options{}).Render(t.Context(), request(t, files(values)))
		if err != nil {
			t.Fatalf("%q: %v", values, err)
		}
		got := ""
		for _, f := range res.Findings {
			if f.Code == "unknown-value" {
				got += f.String()
			}
		}
		if got != want {
			t.Errorf("%q: %s\nwant %s", values, got, want)
		}
	}
}
