package helm

import (
	"strings"
	"testing"
)

// TestTplTextIsBounded: a text that is made at run time and given to tpl is bounded like the files of templates are, also
// when such a text gives one to tpl.
func TestTplTextIsBounded(t *testing.T) {
	values := "deep: '" + strings.Repeat("{{if true}}", 5000) + strings.Repeat("{{end}}", 5000) + "'\n"
	for name, template := range map[string]string{
		"made":              `{{ tpl (repeat 300000 "{{if true}}") . }}`,
		"made in steps":     `{{ $x := printf "%s%s" (repeat 150000 "{{if 1}}") (repeat 150000 "{{end}}") }}{{ tpl $x . }}`,
		"parentheses":       `{{ tpl (printf "{{ %s 1 %s }}" (repeat 100000 "(") (repeat 100000 ")")) . }}`,
		"of values":         `{{ tpl .Values.deep . }}`,
		"the context piped": `{{ . | tpl .Values.deep }}`,
		"of a file":         `{{ tpl (.Files.Get "deep.txt") . }}`,
		"tpl in tpl":        "{{ tpl `{{ tpl (repeat 300000 \"{{if true}}\") . }}` . }}",
		"tpl in tpl's text": "{{ tpl (tpl `{{ repeat 300000 \"{{if true}}\" }}` .) . }}",
		"in a define":       "{{ define \"x\" }}{{ tpl (repeat 300000 \"{{if true}}\") . }}{{ end }}{{ include \"x\" . }}",
		"defined in tpl":    "{{ tpl `{{ define \"x\" }}{{ tpl (repeat 300000 \"{{if true}}\") . }}{{ end }}{{ include \"x\" . }}` . }}",
	} {
		_, err := New(Options{}).Render(t.Context(), request(t, map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
			"chart/templates/a.yaml": template, "chart/deep.txt": strings.Repeat("{{if true}}", 5000), "values.yaml": values}))
		if err == nil || !strings.Contains(err.Error(), "deep in each other") || !strings.Contains(err.Error(), "templates/a.yaml:1") || strings.Contains(err.Error(), tplText) {
			t.Errorf("%s: %.400v", name, err)
		}
	}
	_, err := New(Options{}).Render(t.Context(), request(t, map[string]string{"chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
		"chart/templates/a.yaml": `{{ tpl (repeat 5000000 "x") . }}`}))
	if err == nil || !strings.Contains(err.Error(), "more than 4 MiB") {
		t.Errorf("size: %.400v", err)
	}
}

// TestGuardTpl: every text of tpl is looked at, wherever it ends.
func TestGuardTpl(t *testing.T) {
	for text, want := range map[string]string{
		`{{ tpl .Values.x . }}`:                                    `{{ tpl (tpl__text .Values.x) . }}`,
		`{{- tpl (toYaml .x) $ | nindent 2 -}}`:                    `{{- tpl (tpl__text (toYaml .x)) $ | nindent 2 -}}`,
		`{{tpl "a ) \" b" .}}`:                                     `{{tpl (tpl__text "a ) \" b") .}}`,
		"{{ tpl `a\"(` $ }}":                                       "{{ tpl (tpl__text `a\"(`) $ }}",
		`{{ . | tpl .a }}`:                                         `{{ . | tpl (tpl__text .a) }}`,
		`{{ (tpl .a .) }}{{ tpl (tpl .b .) . }}`:                   `{{ (tpl (tpl__text .a) .)  | shown__value}}{{ tpl (tpl__text (tpl (tpl__text .b) .)) . }}`,
		"{{ tpl\n  (index .a 0).b\n  . }}":                         "{{ tpl\n  (tpl__text (index .a 0).b)\n  . }}",
		`{{ if (tpl .a $) }}tpl x{{ end }}{{ $tpl := 1 }}`:         `{{ if (tpl (tpl__text .a) $) }}tpl x{{ end }}{{ $tpl := 1 }}`,
		`{{ tpl }}{{ .tpl }}{{/* tpl .a . */}}`:                    `{{ tpl }}{{ .tpl  | shown__value}}{{/* tpl .a . */}}`,
		"{{- .a\n-}}{{ $x := .b }}{{ \"}}\" }}{{ get .c \"}}\" }}": "{{- .a | shown__value\n-}}{{ $x := .b }}{{ \"}}\" }}{{ get .c \"}}\"  | shown__value}}",
		`{{ tpl .a . `:                                             `{{ tpl .a . `, `{{ printf (tpl '(' .) }}`: `{{ printf (tpl (tpl__text '(') .) }}`,
	} {
		if got := guardTpl(text); got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
	}
}
