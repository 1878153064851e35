package cuelang

import (
	"strconv"
	"strings"
	"unicode"

	"hawser.dev/hawser/internal/lazyregexp"
)

// quotedInYAML are the sentences in which YAML libraries repeat an anchor, a tag, a key or a value, and what is kept of them.
var quotedInYAML = []struct {
	said *lazyregexp.Regexp
	kind string
}{
	{lazyregexp.New(`unknown anchor '(?s:.*)' referenced`), "an alias of an anchor that is not there"},
	{lazyregexp.New(`anchor '(?s:.*)' value contains itself`), "the value of an anchor contains itself"},
	{lazyregexp.New("cannot (?:decode|unmarshal|construct) (?s:.*)"), "a value does not fit its type"},
	{lazyregexp.New(`invalid map key:? (?s:.*)`), "a key that is no text"},
	{lazyregexp.New(`(?:mapping )?key (?s:.*) already (?:set in map|defined)(?: at line \d+)?`), "a key is given twice"},
	{lazyregexp.New(`(?:found )?unknown (?:tag|escape)(?s:.*)`), "an unknown tag or escape"},
}

// quotedWords are texts in quotes.
var quotedWords = lazyregexp.New("'[^'\n]*'|\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`]*`")

// unsaid leaves out what stands in quotes, save for signs: in "did not find expected ','" they are the grammar's.
func unsaid(quoted string) string {
	if strings.ContainsFunc(quoted, func(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSymbol(r) }) || len(quoted) > 5 {
		return "..."
	}
	return quoted
}

// YAMLFault is what a YAML library says of a text that it cannot read: line and kind, and nothing of what stands there. An
// alias, a tag or a key may be a password that nobody put in quotes, or a part of one, which no mask knows.
func YAMLFault(text string) string {
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "error converting YAML to JSON: "), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "unmarshal errors:\n"); ok {
		text, _, _ = strings.Cut(strings.TrimSpace(rest), "\n")
	}
	head := ""
	if m := yamlLine.FindString(text); m != "" {
		text = text[len(m):]
		line, _ := strconv.Atoi(strings.Trim(m, "line: "))
		head = "line " + strconv.Itoa(YAMLLine(line, text)) + ": "
	}
	for _, q := range quotedInYAML {
		text = q.said.ReplaceAllString(text, q.kind)
	}
	return head + quotedWords.ReplaceAllStringFunc(text, unsaid)
}

var yamlLine = lazyregexp.New(`^line \d+: `)
