package helm

import (
	"strings"
	"testing"
)

// TestNestedTemplates: what would overflow the stack of the parser is an error, what charts do is none.
func TestNestedTemplates(t *testing.T) {
	const deep = 200_000
	for name, text := range map[string]string{
		"blocks":          strings.Repeat("{{if true}}", deep) + strings.Repeat("{{end}}", deep),
		"open blocks":     strings.Repeat("{{- with . -}}", deep),
		"else if":         "{{if 1}}" + strings.Repeat("{{else if 1}}", deep),
		"end in a string": strings.Repeat(`{{if "}}{{end}}"}}`, deep),
		"parentheses":     "{{ " + strings.Repeat("(", deep) + "1" + strings.Repeat(")", deep) + " }}",
	} {
		_, err := New(Options{}).Render(t.Context(), request(t, map[string]string{
			"chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n", "chart/templates/a.yaml": text}))
		if err == nil || !strings.Contains(err.Error(), "deep") || !strings.Contains(err.Error(), "templates/a.yaml") {
			t.Errorf("%s: %.300v", name, err)
		}
	}
	if err := tooNested("a", strings.Repeat("{{if true}}{{(1)}}{{end}}{{/* if */}}{{range .x}}{{else}}{{end}}", 5000)); err != nil {
		t.Error(err)
	}
}
