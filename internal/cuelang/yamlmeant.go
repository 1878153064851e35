package cuelang

import (
	"bytes"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

var (
	// quoteInQuotes is a text in quotes that goes on behind a quote inside of it.
	quoteInQuotes = lazyregexp.New(`(?:^|[\s:,\[{-])"(?:[^"\\]|\\.)*"\w`)
	ownTag        = lazyregexp.New(`(?:^|[\s:,\[{-])!(\w+)?[^\s,\[\]{}]*(?:\s|$)`)
)

// knownTags are those of other programs that may be named: any other one may be a password that nobody put in quotes.
var knownTags = []string{"Base64", "GetAtt", "Ref", "Sub", "encrypted", "env", "env_var", "file", "include", "input", "lookup", "ref", "reference", "secret", "secrets", "sops", "unsafe", "var", "vault"}

// lineOf is a line of a file, counted from 1; nil where there is none.
func lineOf(data []byte, line int) []byte {
	lines := bytes.Split(data, []byte("\n"))
	if line < 1 || line > len(lines) {
		return nil
	}
	return lines[line-1]
}

// nestedQuotes says of a line that a quote inside of its quotes ends the text, where it does.
func nestedQuotes(f *diag.Finding, line []byte) bool {
	if !quoteInQuotes.MatchString(string(line)) {
		return false
	}
	f.What, f.Fix = "a quote inside of the quotes ends the text", `write '...' around a text with " in it`
	if bytes.Contains(line, []byte("{{")) {
		f.Fix += "; a template, {{ ... }}, is not evaluated here: a secret is ref://[STORE:]NAME, a runtime value {$cluster: values.NAME}"
	}
	return true
}

// tagged says of a value that cannot be read that the tag before it is not.
func tagged(f *diag.Finding, line []byte) {
	m := ownTag.FindStringSubmatch(string(line))
	if m == nil {
		return
	}
	f.What, f.Fix = "a tag of YAML is not read", "leave it out; a secret is ref://[STORE:]NAME, a text"
	if name := m[1]; slices.Contains(knownTags, name) {
		f.What = "the tag !" + name + " is not read"
	}
}
