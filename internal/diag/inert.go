package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"hawser.dev/hawser/internal/lazyregexp"
)

// isUnseen reports whether nobody sees a character: what turns the order of others, what joins, parts or varies them, and what
// breaks a line for some readers alone. Systems that compare texts by their language take it for not being there.
func isUnseen(r rune) bool {
	return r >= 0xad && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// isRaw are the controls and others that JSON leaves as they are, and YAML refuses.
func isRaw(r rune) bool { return r >= 0x7f && r <= 0x9f || r == 0xfffe || r == 0xffff }

// isOdd is what stands as an escape in documents.
func isOdd(r rune) bool { return isUnseen(r) || isRaw(r) }

// isPart reports whether a character belongs to one that is seen before it: emoji and scripts other than ASCII need some.
func isPart(r rune) bool {
	return r == 0x200c || r == 0x200d || unicode.Is(unicode.Variation_Selector, r)
}

// escape puts escapes for the characters that nobody sees, and for others that are odd.
func escape(text string, odd func(rune) bool, as func(rune) string) string {
	if strings.IndexFunc(text, odd) < 0 {
		return text
	}
	var b strings.Builder
	seen := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case !odd(r):
			b.WriteString(text[i : i+size])
			seen = r >= 0x80 && unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S)
		case seen && isPart(r):
			b.WriteRune(r)
		default:
			b.WriteString(as(r))
			seen = false
		}
		i += size
	}
	return b.String()
}

// long and paired are escapes of any character: as YAML, Go and people read them, and as JSON does.
func long(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

func paired(r rune) string {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return long(high) + long(low)
	}
	return long(r)
}

// white is what a reader of logs passes over at the beginning of a line.
const white = `\s\v\x{85}\p{Z}`

// What systems of continuous integration take for orders when it stands in a log, and what may become one inside of strings,
// where another string ends it.
var (
	commandLine = lazyregexp.New(`(^|[` + white + `])::([A-Za-z][A-Za-z-]*(?:[ \t][^\n\r]*?)?::)`)
	commandWord = lazyregexp.New(`(?i)##(vso\[|teamcity\[|\[)`)
	commandText = lazyregexp.New(`(^|["` + white + `]|\\[bfnrt]|\\u[0-9a-f]{4})::([A-Za-z][A-Za-z-]*(?:::|[ \t]|\\t))`)
)

// Inert is a text of others as it may stand in a log or terminal: what nobody sees, or what turns the order of characters, is
// shown as an escape (\u202e), and what a CI system would obey is broken by a space. Other texts stay as they are.
func Inert(text string) string {
	text = escape(text, isUnseen, long)
	if strings.Contains(text, "::") {
		text = commandLine.ReplaceAllString(text, "$1: :$2")
	}
	if strings.Contains(text, "##") {
		text = commandWord.ReplaceAllString(text, "# #$1")
	}
	return text
}

// Escaped is JSON in which such characters, the first sign of such orders, and the controls that JSON leaves as they are, stand
// as escapes: the texts in it stay what they are.
func Escaped(json string) string { return unordered(json, paired) }

// unordered is JSON, or one of its strings, that gives no orders.
func unordered(json string, as func(rune) string) string {
	json = escape(json, isOdd, as)
	if strings.Contains(json, "::") {
		json = commandText.ReplaceAllString(json, `$1\u003a:$2`)
	}
	if strings.Contains(json, "##") {
		json = commandWord.ReplaceAllString(json, `\u0023#$1`)
	}
	return json
}
