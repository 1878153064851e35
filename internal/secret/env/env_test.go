package env

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/secret"
)

func TestGet(t *testing.T) {
	t.Setenv("APP_TOKEN", "hunter2")
	t.Setenv("APP_EMPTY", "")
	t.Setenv("APP_JSON", `{"none": "", "user": "admin", "password": "hunter2"}`)
	t.Setenv("APP_YAML", "db:\n  password: hunter2\n")
	t.Setenv("APP_FLOW", "{password: hunter2}")
	t.Setenv("APP_BROKEN", "[hunter2")
	t.Setenv("APP_LINE", "hunter2: rest")
	s := New("APP_")
	for _, c := range []struct{ reason, ref, want, err string }{
		{"a variable", "ref://TOKEN", "hunter2", ""},
		{"a field of JSON", "ref://JSON/password", "hunter2", ""},
		{"a field of YAML", "ref://YAML/db.password", "hunter2", ""},
		{"a field of a flow mapping", "ref://FLOW/password", "hunter2", ""},
		{"not set", "ref://NONE", "", "variable APP_NONE is not set"},
		{"empty", "ref://EMPTY", "", "variable APP_EMPTY is empty"},
		{"an empty field", "ref://JSON/none", "", `APP_JSON: "none" is empty`},
		{"no such field", "ref://JSON/pass", "", `APP_JSON: there is no "pass"; it has the keys none, password, user`},
		{"broken", "ref://BROKEN/a", "", "APP_BROKEN: it is not valid YAML"},
		{"a scalar has no fields", "ref://TOKEN/x", "", "APP_TOKEN: there is no"},
		{"a text that reads like a document", "ref://LINE/x", "", `APP_LINE: there is no "x": it is a map of 1`},
		{"no name", "ref://a/b/c", "", "cannot be the name"},
		{"a version", "ref://TOKEN?version=3", "", "no versions"},
	} {
		ref, err := secret.ParseRef(c.ref)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), ref)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", c.reason, got, err, c.want, c.err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the value: %v", c.reason, err)
		}
	}
}
