package openapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSchemasAlone: leaving the paths out finds the same schemas as reading the whole document, and what is no such document
// is read whole.
func TestSchemasAlone(t *testing.T) {
	const head = `{"openapi":"3.0.0","info":{"title":"Kubernetes"},"paths":{"/api/v1/":{"get":{"description":"a \"},\"components\":{\"schemas\":"}}}`
	for name, c := range map[string]struct {
		text  string
		alone bool
	}{
		"as a server writes it": {head + `,"components":{"schemas":{"a":{"type":"string"},"b":{"x":{"y":[1]}}}}}`, true},
		"with more components":  {head + `,"components":{"schemas":{"a":{"type":"string"}},"securitySchemes":{"b":{}}}}`, true},
		"components first":      {`{"openapi":"3.0.0","components":{"schemas":{"a":{"type":"string"}}},"paths":{}}`, false},
		"written for people":    {"{\n \"openapi\": \"3.0.0\",\n \"components\": {\"schemas\": {\"a\": {}}}}", false},
		"without schemas":       {head + `}`, false},
	} {
		got := schemasAlone([]byte(c.text))
		if (got != nil) != c.alone {
			t.Errorf("%s: %v", name, got)
		}
		want, err := schemasOf([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.alone {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-whole +alone):\n%s", name, diff)
			}
		}
	}
	for _, text := range []string{"", "{", `{"openapi":"3.0.0","paths":{},"components":{"schemas":{"a":`, `{"openapi":"2.0"}`} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q is a document", text)
		}
	}
}
