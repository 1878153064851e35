package cuelang

import (
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// regexpPiece is what an error about a regular expression quotes of it, which may have quotes itself.
var regexpPiece = lazyregexp.New("(?s)(error parsing regexp: [^`:]*):? ?`(?:.*`|.*$)")

// parsing is a call of a function that reads a text, and quotes in an error what of it is wrong: a reference, a tag, an escape. A template's error names
// what stands in it without quotes, too: of that the line is kept.
var (
	parsing       = lazyregexp.New(`(?s)error in call to (?:encoding/(?:yaml|json|toml|csv|hex|base64)|net|uuid|time|strconv)\.\w+: (.*)$`)
	parsedPiece   = lazyregexp.New("(?s)\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|\\B'[^']*'|U\\+[0-9A-F]{4,}")
	repeatedKey   = lazyregexp.New(`(?s)(duplicate key: ).*$`)
	templatePiece = lazyregexp.New(`(?s)(error in call to text/template\.\w+: )(?:template: :?(\d+)[: ])?.*$`)
)

// withoutPieces is an error's text without the pieces of values that parsers quote: three characters of a password that was put into a regular
// expression are not known as a part of it. What kind of error it is stays.
func withoutPieces(text string) string {
	if strings.Contains(text, "error parsing regexp: ") {
		text = regexpPiece.ReplaceAllString(text, "$1")
	}
	if !strings.Contains(text, "error in call to ") {
		return text
	}
	text = templatePiece.ReplaceAllString(text, "${1}the template is not valid, or fails (line $2)")
	text = strings.TrimSuffix(text, " (line )")
	if said := parsing.FindStringSubmatch(text); said != nil {
		text = strings.TrimSuffix(text, said[1]) + repeatedKey.ReplaceAllString(parsedPiece.ReplaceAllString(said[1], `"***"`), `$1"***"`)
	}
	return text
}
