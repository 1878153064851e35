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

// TestHooksShowNoPartOfAValue: a secret value that stands in the annotations of a hook, with commas and capitals, is quoted as it is written, so
// that it is known for one, or not at all; what is ordinary is named.
func TestHooksShowNoPartOfAValue(t *testing.T) {
	long := strings.Repeat("Pa55,C4nary;", 30)
	for name, c := range map[string]struct{ value, event, policy, want string }{
		"an event":           {"Pa55,C4naryWord", "{{ .Values.pw }}", "hook-failed", "names what is no moment to run at; the object is left out"},
		"one of two":         {"Pa55, C4naryWord", "pre-install,{{ .Values.pw }}", "hook-failed", "helm.sh/hook \"pre-install,"},
		"a delete policy":    {"Pa55,C4naryWord", "pre-install", "{{ .Values.pw }}", "names what is no delete policy"},
		"of many characters": {long, "{{ .Values.pw }}", "{{ .Values.pw }}", "helm.sh/hook names what is no moment to run at"},
		"what is no secret":  {"Pa55,C4naryWord", "crd-install", "hook-failed", "helm.sh/hook \"crd-install\" names what is no moment to run at"},
	} {
		t.Run(name, func(t *testing.T) {
			r := redact.New(c.value)
			req := chartOf(t, "pw: \""+c.value+"\"\n", map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: \"" + c.event +
				"\", helm.sh/hook-delete-policy: \"" + c.policy + "\"}\n"})
			out, err := New(Options{Redact: r.Redact}).Render(t.Context(), req)
			if err != nil || len(out.Findings) == 0 {
				t.Fatal(out.Findings, err)
			}
			var said []string
			for _, f := range out.Findings {
				said = append(said, r.Redact(f.String()))
			}
			if text := strings.Join(said, "\n"); strings.Contains(strings.ToLower(text), "c4nary") || strings.Contains(strings.ToLower(text), "pa55") || !strings.Contains(text, c.want) {
				t.Errorf("want %q and no part of the value: %s", c.want, text)
			}
		})
	}
}
