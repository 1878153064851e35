package valueschema

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
)

// TestTypes: what a schema says of a value, through references, alternatives and listed values. One that leads back to itself, in ways without number,
// is asked in no time.
func TestTypes(t *testing.T) {
	s, err := Compile([]byte(`{"$defs": {"loop": {"allOf": [{"$ref": "#/$defs/loop"}, {"$ref": "#/$defs/loop"}, {"properties": {"a": {"$ref": "#/$defs/loop"}}}]}},
  "properties": {"loop": {"$ref": "#/$defs/loop"}, "port": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "few": {"type": ["string", "boolean"], "enum": [true, null]},
    "pair": {"prefixItems": [{"type": "string"}, {"const": 2}]}, "text": {"if": {"const": 1}, "then": {"type": "boolean"}, "else": {"type": "string"}}, "mode": {"enum": ["a", "b"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"loop": "", "loop.a.a": "", "port": "integer null", "few": "boolean", "pair[1]": "number string", "text": "boolean string", "none": "", "mode": "string"} {
		p, err := v1alpha1.ParsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(Types(s, p))), " "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]bool{"loop": false, "loop.a.a.a.a": false, "text": true, "mode": false, "port": false} {
		if got := NamesText(s, strings.Split(path, "."), "c"); got != want {
			t.Errorf("%s takes a text: %t", path, got)
		}
	}
	if !NamesText(s, []string{"mode"}, "b") || NamesText(nil, nil, "") || len(Types(nil, nil)) > 0 {
		t.Error("a listed text, or no schema at all")
	}
}

// TestCompile: what is no schema, and what leads elsewhere, is an error that names no place of it.
func TestCompile(t *testing.T) {
	for text, want := range map[string]string{`{`: "EOF", `{"type": 3}`: "values.schema.json", `{"$ref": "https://example.com/s.json"}`: "not followed", `{"$ref": "urn:x"}`: ""} {
		if _, err := Compile([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
