package helm

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/redact"
)

// TestErrorsShowNoPartOfAValue: what YAML and templates repeat of a value, though only a part of it or as an alias, a tag or an
// expression, is left out; line and kind are told.
func TestErrorsShowNoPartOfAValue(t *testing.T) {
	for name, c := range map[string]struct{ value, template, want string }{
		"an alias":        {"*pa55-c4nary", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Values.pw }}}\n", "alias"},
		"an alias's part": {"*pa55: c4nary", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: {{ .Values.pw }}\n", "not YAML"},
		"a tag":           {"!!int pa55-c4nary", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: {{ .Values.pw }}\n", "a value does not fit its type"},
		"tpl":             {"x9{{c4nary pa55", "a: {{ tpl .Values.pw . }}", "tpl"},
		"tpl that fails":  {"x9{{ .c4nary.pa55 }}9x", "a: {{ tpl .Values.pw . }}", "tpl"},
		"tpl that ends":   {"x9{{ c4nary | pa55 }}", "a: {{ tpl .Values.pw . }}", "tpl"},
	} {
		t.Run(name, func(t *testing.T) {
			r := redact.New(c.value)
			req := chartOf(t, "pw: \""+c.value+"\"\n", map[string]string{"a.yaml": c.template})
			_, err := New(Options{Redact: r.Redact}).Render(t.Context(), req)
			if err == nil {
				t.Fatal("no error")
			}
			if text := err.Error(); strings.Contains(text, "c4nary") || strings.Contains(text, "pa55") || !strings.Contains(text, c.want) {
				t.Errorf("want %q and no part of the value: %s", c.want, text)
			}
		})
	}
}
