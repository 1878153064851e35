package cuelang

import (
	"fmt"
	"strings"
	"testing"
)

// TestFaultsBetweenBraces: what is wrong between braces and brackets is told on its own line, in words that hide nothing of
// the grammar, with what helps where that is certain, and with nothing of the text.
func TestFaultsBetweenBraces(t *testing.T) {
	const open, quotes = "a { or a [ that is opened here is not closed", "between { and }, and between [ and ], a text with %s in it stands in quotes"
	const commas = "between { and }, and between [ and ], a comma parts the entries"
	brace, bracket := "did not find expected ',' or '}'", "did not find expected ',' or ']'"
	for text, want := range map[string]string{
		"b:\n  a: 1\n  c4nary: {x: a?b c: d}\n":      "3 " + brace + " | " + fmt.Sprintf(quotes, "?"),
		"b:\n  p: {password: ref://c4nary?v=2}\n":    "2 " + brace + " | " + fmt.Sprintf(quotes, "?"),
		"b:\n  p: {p: ${ref://c4nary}}\n":            "2 " + brace + " | " + fmt.Sprintf(quotes, "{"),
		"b:\n  p: [c4nary[0], 1]\n":                  "2 " + bracket + " | " + fmt.Sprintf(quotes, "["),
		"b:\n  p: {x: c4nary: b}\n":                  "2 " + brace + " | " + fmt.Sprintf(quotes, "a colon and a space"),
		"b:\n  p: {x: 'a?b' y: c4nary}\n":            "2 " + brace + " | " + commas,
		"b?c: {x: 1 y: c4nary}\n":                    "1 " + brace + " | " + commas,
		"b: {x: 1 y: c4nary}\nc: 1\nd: 1\n":          "1 " + brace + " | " + commas,
		"b:\n  p: {\n    x: c4nary\n    y: 2\n  }\n": "4 " + brace + " | " + commas + "; they are opened on line 2",
		"b:\n  p: {x: 1, y: c4nary\n":                "2 " + open + " | ",
		"b:\n  p: {x: [c4nary, {y: 1\n\n":            "2 " + open + " | ",
		"b:\n  p: {x: 1,\n":                          "2 " + open + " | ",
		"b:\n  p: [":                                 "2 " + open + " | ",
		"p: {x: 1":                                   "1 " + open + " | ",
		"b:\n  p: {x: c4nary\n  c: 2\n  d: 3\n":      "2 " + open + " | ",
		"b:\n  p: [1, c4nary\nc: 3\nd: [1]\n":        "2 " + open + " | ",
		"b:\n  - {x: c4nary\n  - {x: 2}\n":           "2 " + open + " | ",
		"b:\n  p: {x: - c4nary}\n":                   "2 did not find expected node content | ",
		"b:\n  p: {x: [c4nary}\n":                    "2 " + bracket + " | " + commas,
		"a: 1\nb:\n  c4nary: {x: {y: 1}}}\n":         "3 a } or a ] is too many, or the indentation of this line fits no line above it | ",
		strings.Repeat("a: [", 40) + "\n":            "1 did not find expected node content | ",
	} {
		_, err := FromYAML("q.yaml", []byte(text))
		fs := YAMLFindings("q.yaml", []byte(text), err)
		if len(fs) != 1 || fs[0].Pos.File != "q.yaml" {
			t.Errorf("%q: %v", text, fs)
			continue
		}
		if got := fmt.Sprintf("%d %s | %s", fs[0].Pos.Line, fs[0].What, fs[0].Fix); got != want || strings.Contains(fs[0].String(), "c4nary") {
			t.Errorf("%q:\n%s\n%s", text, got, want)
		}
	}
}

// TestFaultSearchEnds: what is parsed to find the line of one fault has a bound in bytes, and beyond it the file's own line stands.
func TestFaultSearchEnds(t *testing.T) {
	text := []byte("a: {b: [c, {d: [e, {f: [g")
	s := &faultSearch{name: "q.yaml", left: 2*len(text) + 1}
	if got := s.ended(text); got != unknown || s.left < -2*len(text) {
		t.Errorf("%v, %d bytes left", got, s.left)
	}
	if s.left = mostParsed; s.ended(text) != closes {
		t.Error("not closed")
	}
	deep := "b:\n  p: " + strings.Repeat("{x: [", 6) + "\n" + strings.Repeat("    y,\n", (longestSearched-64)/7) + "c: 1\n"
	if len(deep) > longestSearched {
		t.Fatal("too long")
	}
	_, err := FromYAML("q.yaml", []byte(deep))
	fs := YAMLFindings("q.yaml", []byte(deep), err)
	if len(fs) != 1 || fs[0].Pos.Line != 2 {
		t.Errorf("%v", fs)
	}
}
