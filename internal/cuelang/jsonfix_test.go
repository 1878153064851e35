package cuelang

import "testing"

// TestJSONFaultsHaveAFix: what is wrong with JSON is said with what to do, at its place.
func TestJSONFaultsHaveAFix(t *testing.T) {
	for src, want := range map[string]string{
		"{\"a\": {},}":        "take away the comma before }",
		"{\"a\": [1,]}":       "take away the comma before ]",
		"{a: 1}":              "write the name of the field in double quotes",
		"{\"a\": 1 \"b\": 2}": "write a comma before it",
		"{\"a\": [1 2]}":      "write a comma before it",
		"{\"a\" 1}":           "write a colon between the name and the value",
		"{\"a\": {\"b\": 1}":  "close what is open: a bracket or a quote",
		"{\"a\": tru}":        "",
		"{\"a\": \"x, ]\" 1}": "write a comma before it",
	} {
		_, err := FromJSON("a.json", []byte(src))
		fs := FindingsFor(err, Show{Code: "syntax"})
		if len(fs) != 1 || fs[0].Fix != want || !fs[0].Pos.IsValid() {
			t.Errorf("%s: %v, want the fix %q", src, fs, want)
		}
	}
}
