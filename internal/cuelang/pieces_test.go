package cuelang

import (
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// TestPiecesAreNotShown: what parsers quote of a text they cannot read is a piece of a value that nobody knows again; what kind of error it is stays,
// and so does where.
func TestPiecesAreNotShown(t *testing.T) {
	for src, want := range map[string]string{
		`a: "a" =~ "[Z-Apassw0rd"`:                          "invalid character class range",
		"a: \"a\" =~ \"[Z-`\\n9\"":                          "missing closing ]",
		`_q: "Z-Ap", a: "a" !~ "[" + _q + "]"`:              "invalid character class range",
		`a: =~"(?<Z-Ap" & "b"`:                              "invalid named capture",
		`a: =~"(Z-Ap" & "b"`:                                "missing closing )",
		`a: =~"Z-Ap**" & "b"`:                               "invalid nested repetition operator",
		`a: {[=~"[Z-A]"]: 1, b: 1}`:                         "invalid character class range",
		`a: regexp.Match("[Z-A]p", "a")`:                    "error in call to regexp.Match: error parsing regexp: invalid character class range",
		`a: regexp.ReplaceAll("[Z-A]p", "a", "b")`:          "invalid character class range",
		`a: time.ParseDuration("3Z-A")`:                     "unknown unit",
		`a: hex.Decode("Z-A")`:                              "invalid byte",
		`a: net.PathUnescape("ab%Z-A")`:                     "invalid URL escape",
		`a: yaml.Unmarshal("*Z-A")`:                         "unknown anchor",
		`a: yaml.Unmarshal("!Z-A x")`:                       "cannot unmarshal tag",
		`a: toml.Unmarshal("\"Z-A b\" = 1\n\"Z-A b\" = 2")`: "duplicate key",
		`a: toml.Unmarshal("[Z-A]\nb = 1\n[Z-A]")`:          "duplicate key",
		`a: template.Execute("{{ZQX}} pw", {})`:             "text/template.Execute: the template is not valid, or fails (line 1)",
		`a: template.Execute("{{\"Z-A'ZQX\" 1}}", 1)`:       "the template is not valid",
		`a: template.Execute("{{.ZQX.b}}", {ZQX: 1})`:       "the template is not valid",
	} {
		v := cuecontext.New().CompileString(src, cue.InferBuiltins(true))
		fs := Findings(v.Validate(), nil, "")
		if len(fs) == 0 {
			t.Errorf("%s: no error", src)
		}
		for _, f := range fs {
			if s := f.String(); strings.Contains(s, "Z-") || strings.Contains(s, "ZQX") || !strings.Contains(s, want) {
				t.Errorf("%s: %s", src, s)
			}
		}
	}
}
