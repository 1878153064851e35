package diag

import "testing"

func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"plain text: a::b ::1 fe80::1 ::ffff:10.0.0.1 std::vector": "plain text: a::b ::1 fe80::1 ::ffff:10.0.0.1 std::vector",
		"::error::gone":                  ": :error::gone",
		"x\n  ::set-output name=a::b":    "x\n  : :set-output name=a::b",
		"why ::add-mask::x":              "why : :add-mask::x",
		"::stop-commands::t":             ": :stop-commands::t",
		"##vso[task.setvariable]x":       "# #vso[task.setvariable]x",
		"a ##[error]b ## heading":        "a # #[error]b ## heading",
		"##teamcity[x]":                  "# #teamcity[x]",
		"user\u202etxt.exe\u2066a\u2069": `user\u202etxt.exe\u2066a\u2069`,
		"schön 日本":                       "schön 日本",
	} {
		if got := Inert(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
