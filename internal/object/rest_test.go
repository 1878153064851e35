package object_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
)

// TestRestIsShown: of an item of a list, or another part, that comes or goes as a whole nothing but what is secret in it is hidden.
func TestRestIsShown(t *testing.T) {
	const with = `{"name": "pw", "value": "hunter2-x9", "extra": {"a": "b", "list": ["c", "hunter2-x9"]}}`
	for name, c := range map[string]struct{ old, new, was, is string }{
		"new item":        {`{"env": [{"name": "a"}]}`, `{"env": [{"name": "a"}, ` + with + `]}`, "", `{"extra":{"a":"b","list":["***","***"]},"name":"pw","value":"***"}`},
		"item that goes":  {`{"env": [{"name": "a"}, ` + with + `]}`, `{"env": [{"name": "a"}]}`, `{"extra":{"a":"b","list":["***","***"]},"name":"pw","value":"***"}`, ""},
		"in another form": {`{"env": "none"}`, `{"env": [` + with + `]}`, `***`, `[{"extra":{"a":"b","list":["***","***"]},"name":"pw","value":"***"}]`},
		"in lists without keys": {`{"env": [{"x": "1"}]}`, `{"env": [{"x": "1"}, {"x": "hunter2-x9", "y": "2"}]}`,
			`[{"x":"***"}]`, `[{"x":"***"},{"x":"***","y":"2"}]`},
		"only a secret":      {`{"args": ["a"]}`, `{"args": ["hunter2-x9", "b"]}`, "hidden", "hidden"},
		"the same otherwise": {`{"env": [{"x": "1"}]}`, `{"env": [{"x": "hunter2-x9"}]}`, "hidden", "hidden"},
	} {
		t.Run(name, func(t *testing.T) {
			body := func(text string) map[string]any {
				out := map[string]any{}
				if err := json.Unmarshal([]byte(text), &out); err != nil {
					t.Fatal(err)
				}
				return map[string]any{"apiVersion": "example.com/v1", "kind": "App", "metadata": map[string]any{"name": "a"}, "spec": out}
			}
			before, after := body(c.old), body(c.new)
			secret := func(s string) bool { return strings.Contains(s, "hunter2-x9") }
			o := object.Object{Body: after, Sensitive: append(object.SensitivePaths(before, secret), object.SensitivePaths(after, secret)...)}
			diff := object.Diff(before, after, o.Mask())
			if len(diff) != 1 {
				t.Fatalf("got %v", diff)
			}
			was, is := said(t, diff[0].Old), said(t, diff[0].New)
			if diff[0].Hidden {
				was, is = "hidden", "hidden"
			}
			if was != c.was || is != c.is {
				t.Errorf("got %s, then %s", was, is)
			}
		})
	}
}

// said is a value as a plan shows it, "" for none.
func said(t *testing.T, v any) string {
	t.Helper()
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(string(text), `"`)
}
