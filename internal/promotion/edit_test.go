package promotion

import (
	"testing"

	"hawser.dev/hawser/internal/diag"
)

// TestApply: a text is replaced where it stands, as it is spelled there, and never anything else.
func TestApply(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		line, col  int
		was, now   string
		want       string // "" = it is not written
	}{
		"bare":                      {"a.yaml", "a:\n  tag: 1.0.0 # why\n", 2, 3, "1.0.0", "1.1.0", "a:\n  tag: 1.1.0 # why\n"},
		"at the value itself":       {"a.yaml", "tag: 1.0.0\n", 1, 6, "1.0.0", "1.1.0", "tag: 1.1.0\n"},
		"bare at the end":           {"a.yaml", "tag: 1.0.0", 1, 1, "1.0.0", "1.1.0", "tag: 1.1.0"},
		"bare in braces":            {"a.yaml", "{tag: 1.0.0, b: 1.0.0}", 1, 2, "1.0.0", "1.1.0", "{tag: 1.1.0, b: 1.0.0}"},
		"bare becomes a number":     {"a.yaml", "tag: v1\n", 1, 1, "v1", "1.1", "tag: \"1.1\"\n"},
		"bare becomes a word":       {"a.yaml", "tag: v1\n", 1, 1, "v1", "on", "tag: \"on\"\n"},
		"bare becomes a date":       {"a.yaml", "tag: v1\n", 1, 1, "v1", "2026-11-25", "tag: \"2026-11-25\"\n"},
		"bare becomes hexadecimal":  {"a.yaml", "tag: v1\n", 1, 1, "v1", "0x1f", "tag: \"0x1f\"\n"},
		"bare becomes odd":          {"a.yaml", "tag: v1\n", 1, 1, "v1", "a # b", "tag: \"a # b\"\n"},
		"in single quotes":          {"a.yaml", "tag: '1.0'\n", 1, 1, "1.0", "1.1", "tag: '1.1'\n"},
		"in double quotes":          {"a.yaml", "\"tag\" : \"1.0\", x\n", 1, 1, "1.0", "1.1", "\"tag\" : \"1.1\", x\n"},
		"JSON":                      {"a.json", "{\"tag\":\"1.0\"}", 1, 2, "1.0", "1.1", "{\"tag\":\"1.1\"}"},
		"CUE":                       {"a.cue", "tag:\t\"1.0\" // why\n", 1, 1, "1.0", "1.1", "tag:\t\"1.1\" // why\n"},
		"CRLF":                      {"a.yaml", "a: 1\r\ntag: 1.0.0\r\n", 2, 1, "1.0.0", "1.1.0", "a: 1\r\ntag: 1.1.0\r\n"},
		"a longer text":             {"a.yaml", "tag: 1.0.0-rc1\n", 1, 1, "1.0.0", "1.1.0", ""},
		"a CUE reference":           {"a.cue", "tag: _tag\n", 1, 1, "1.0", "1.1", ""},
		"a CUE default":             {"a.cue", "tag: *\"1.0\" | string\n", 1, 1, "1.0", "1.1", ""},
		"a bare word of CUE":        {"a.cue", "tag: v1\n", 1, 1, "v1", "v2", ""},
		"a fact":                    {"a.yaml", "tag: {$cluster: vars.x}\n", 1, 1, "1.0", "1.1", ""},
		"an anchor":                 {"a.yaml", "tag: &t 1.0.0\n", 1, 1, "1.0.0", "1.1.0", ""},
		"another field":             {"a.yaml", "other: 1.0.0\n", 1, 1, "1.0.0", "1.1.0", ""},
		"a line that is not there":  {"a.yaml", "tag: 1.0.0\n", 9, 1, "1.0.0", "1.1.0", ""},
		"a quote that does not end": {"a.yaml", "tag: \"1.0\n", 1, 1, "1.0", "1.1", ""},
		"behind the end":            {"a.yaml", "tag:", 1, 1, "1.0", "1.1", ""},
	} {
		got, failed := Apply([]byte(c.text), []Edit{{diag.Pos{File: c.file, Line: c.line, Column: c.col}, "tag", c.was, c.now}})
		if c.want == "" && (len(failed) != 1 || string(got) != c.text) || c.want != "" && (len(failed) > 0 || string(got) != c.want) {
			t.Errorf("%s: %q, %v", name, got, failed)
		}
	}
	two := []Edit{{diag.Pos{File: "a.yaml", Line: 1, Column: 2}, "a", "1.0.0", "1.10.0"}, {diag.Pos{File: "a.yaml", Line: 1, Column: 12}, "b", "1.0.0", "2"}, {diag.Pos{File: "a.yaml", Line: 1, Column: 2}, "a", "1.0.0", "1.10.0"}}
	if got, failed := Apply([]byte("{a: 1.0.0, b: 1.0.0}"), two); string(got) != `{a: 1.10.0, b: "2"}` || failed != nil {
		t.Errorf("two in one line: %q %v", got, failed)
	}
}

// FuzzApply: whatever stands in a file, an edit changes nothing but the text that it names, and never fails.
func FuzzApply(f *testing.F) {
	f.Add("tag: '1.0'\n", 1, 1, "1.0", "1.1")
	f.Add("tag: \"1\\u002e0\"", 1, 1, "1.0", "x")
	f.Add("tag:\n", 1, 5, "", "1.0") // an empty text without quotes
	f.Add(" ", 0, 1, "", "0")
	f.Fuzz(func(t *testing.T, text string, line, col int, was, now string) {
		for _, file := range []string{"a.yaml", "a.cue"} {
			got, failed := Apply([]byte(text), []Edit{{diag.Pos{File: file, Line: line, Column: col}, "tag", was, now}})
			if len(failed) > 0 && string(got) != text {
				t.Errorf("%q became %q, and is said to have failed", text, got)
			}
		}
	})
}
