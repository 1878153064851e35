package cuelang

import (
	"bytes"
	"sort"
	"strings"

	"hawser.dev/hawser/internal/diag"
)

// YAMLFindings are what is wrong with a YAML file that does not parse: a tab, and an indentation that fits nothing, are
// named at their own line, which the library does not do.
func YAMLFindings(name string, data []byte, err error) diag.Findings {
	fs := FindingsFor(err, Show{Code: "syntax"})
	if len(fs) != 1 {
		return fs
	}
	switch what := fs[0].What; {
	case strings.Contains(what, "tab character") || strings.Contains(what, "cannot start any token"):
		if line := tabbed(data); line > 0 {
			fs[0].Pos = diag.Pos{File: name, Line: line, Column: 1}
			fs[0].What, fs[0].Fix = "a tab in the indentation", "YAML is indented with spaces"
		}
	case inFlow(err) && nestedQuotes(&fs[0], lineOf(data, fs[0].Pos.Line)):
	case inFlow(err):
		flowFault(&fs[0], name, data)
	case misplaced(err):
		if line := firstMisplaced(name, data); line > 0 {
			fs[0].Pos = diag.Pos{File: name, Line: line, Column: 1}
			if nestedQuotes(&fs[0], lineOf(data, line)) {
				break
			}
			fs[0].What = "the indentation of this line fits no line above it"
			fs[0].Fix = "indent an item of a list, and a key, as those beside it"
			if line := bytes.TrimSpace(bytes.Split(data, []byte("\n"))[line-1]); bytes.HasSuffix(line, []byte("}}")) || bytes.HasSuffix(line, []byte("]]")) {
				fs[0].What, fs[0].Fix = "a } or a ] is too many, or the indentation of this line fits no line above it", ""
			}
		}
	case strings.Contains(what, "a key that is no text") && bytes.Contains(data, []byte("{{")):
		fs[0].What, fs[0].Fix = "the file is a template: {{ ... }} is no YAML", "templates belong into charts; a bundle has runtime values, and valuesFor for what differs by cluster"
	case strings.Contains(what, "a value does not fit its type"):
		tagged(&fs[0], lineOf(data, fs[0].Pos.Line))
	case strings.Contains(what, "mapping values are not allowed"):
		fs[0].Fix = "a text with a colon and a space stands in quotes"
	case strings.Contains(what, tooMuchByAliases):
		fs[0].Fix = fewerAliases
	case strings.Contains(what, "unexpected end of stream"):
		fs[0].Fix = "a quote or a bracket that is opened here is not closed"
	}
	return fs
}

// tabbed is the first line with a tab in its indentation, 0 when there is none.
func tabbed(data []byte) int {
	for i, line := range bytes.Split(data, []byte("\n")) {
		text := bytes.TrimLeft(line, " \t\r")
		if len(text) > 0 && text[0] != '#' && bytes.IndexByte(line[:len(line)-len(text)], '\t') >= 0 {
			return i + 1
		}
	}
	return 0
}

// misplaced reports that a block of YAML goes on where it cannot.
func misplaced(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "did not find expected key") || strings.Contains(err.Error(), "expected '-' indicator"))
}

// firstMisplaced is the line without which the file is well indented up to there, 0 when it cannot be said.
func firstMisplaced(name string, data []byte) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	n := sort.Search(len(lines), func(n int) bool {
		_, err := FromYAML(name, bytes.Join(lines[:n+1], nil))
		return misplaced(err)
	})
	if n == len(lines) {
		return 0
	}
	return n + 1
}

// Blank reports whether a YAML or JSON file holds nothing but comments, blank lines and separators of documents.
func Blank(data []byte) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if rest, is := bytes.CutPrefix(line, []byte("---")); is && (len(rest) == 0 || rest[0] == ' ') {
			line = bytes.TrimSpace(rest)
		}
		if len(line) > 0 && line[0] != '#' && string(line) != "..." {
			return false
		}
	}
	return true
}
