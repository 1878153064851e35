package cuelang

import (
	"strings"
	"testing"

	goyaml "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// TestYAMLFault: line and kind are kept, nothing of the text; what the grammar quotes stays.
func TestYAMLFault(t *testing.T) {
	for text, want := range map[string]string{
		"yaml: unknown anchor 'c4nary' referenced":                                                 "an alias of an anchor that is not there",
		"yaml: line 3: did not find expected ',' or ']'":                                           "line 4: did not find expected ',' or ']'",
		"error converting YAML to JSON: yaml: line 2: could not find expected ':'":                 "line 2: could not find expected ':'",
		"yaml: unmarshal errors:\n  line 4: cannot unmarshal !!str `c4nary` into int\n  line 5: x": "line 4: a value does not fit its type",
		"yaml: unmarshal errors:\n  line 4: mapping key \"c4nary\" already defined at line 1":      "line 4: a key is given twice",
		"something about 'c4nary pass' and `c4nary` and \"c4n\\\"ary\"":                            "something about ... and ... and ...",
	} {
		if got := YAMLFault(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, doc := range []string{"a: *c4nary1\n", "a: !!int c4nary1\n", "a: !c4nary1 x\nb: *c4nary2\n", "a: &c4nary1 [*c4nary1]\n", "c4nary1: 1\nc4nary1: 2\n", "a: \"\\c4nary1\"\n",
		"a: !!float c4nary1\n", "? [c4nary1]\n: x\n", "%TAG ! c4nary1\n---\na: b\n", "a: @c4nary1\n", "a: 'c4nary1\n", "a: !!timestamp c4nary1\n", "<<: c4nary1\n", "a: !!binary c4nary1-\n"} {
		var n map[string]any
		var m struct{ A int }
		for _, err := range []error{goyaml.Unmarshal([]byte(doc), &n), goyaml.Unmarshal([]byte(doc), &m), yaml.Unmarshal([]byte(doc), &n), yaml.UnmarshalStrict([]byte(doc), &m)} {
			if err != nil && strings.Contains(YAMLFault(err.Error()), "c4nary") {
				t.Errorf("%q: %s", doc, YAMLFault(err.Error()))
			}
		}
	}
}
