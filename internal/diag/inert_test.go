package diag

import "testing"

func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"plain text: a::b ::1 fe80::1 ::ffff:10.0.0.1 std::vector": "plain text: a::b ::1 fe80::1 ::ffff:10.0.0.1 std::vector",
		"::error::gone":                  ": :error::gone",
		"x\n  ::set-output name=a::b":    "x\n  : :set-output name=a::b",
		"why ::add-mask::x":              "why : :add-mask::x",
		"::stop-commands::t":             ": :stop-commands::t",
		"\u00a0\u2003::error::gone":      "\u00a0\u2003: :error::gone",
		"::debug x\r::error::gone":       "::debug x\r: :error::gone",
		"##vso[task.setvariable]x":       "# #vso[task.setvariable]x",
		"##VSO[task.setvariable]x":       "# #VSO[task.setvariable]x",
		"a ##[error]b ## heading":        "a # #[error]b ## heading",
		"##teamcity[x]":                  "# #teamcity[x]",
		"user\u202etxt.exe\u2066a\u2069": `user\u202etxt.exe\u2066a\u2069`,
		"schön 日本":                       "schön 日本",
		// What nobody sees is not there for whoever compares texts by their language.
		":\u00ad:error::gone":      `:\u00ad:error::gone`,
		"\u200b::error::gone":      `\u200b::error::gone`,
		"\ufeff::error::a\u2060":   `\ufeff::error::a\u2060`,
		"#\u200d#[error]x":         `#\u200d#[error]x`,
		"##\ufe0f[error]x":         `##\ufe0f[error]x`,
		"##vso\U000e0001[x]":       `##vso\U000e0001[x]`,
		"\u00a0\u200d::error::x":   "\u00a0" + `\u200d::error::x`,
		"\u3164\u200d::error::x":   `\u3164\u200d::error::x`,
		"line\u2028end":            `line\u2028end`,
		"adm\u200bin, admin\u200c": `adm\u200bin, admin\u200c`,
		"⚠\ufe0f 👩\u200d🚀 می\u200cخواهم \u06dd": "⚠\ufe0f 👩\u200d🚀 می\u200cخواهم \u06dd", // emoji and scripts that need them
		"latin \xe9\u200b": "latin \xe9" + `\u200b`,
	} {
		if got := Inert(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
