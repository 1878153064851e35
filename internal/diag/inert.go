package diag

import (
	"fmt"
	"regexp"
	"strings"
)

// overrides are what makes a terminal or a review show a text in another order than it has.
func isOverride(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

// commands are what systems of continuous integration take for orders when it stands in a log.
var (
	commandLine = regexp.MustCompile(`(^|\s)::([A-Za-z][A-Za-z-]*(?:[ \t][^\n]*?)?::)`)
	commandWord = regexp.MustCompile(`##(vso\[|teamcity\[|\[)`)
)

// Inert is a text of others as it may stand in a log or terminal: what turns the order of characters is shown as an escape
// (\u202e), and what a CI system would obey is broken by a space. Other texts stay as they are.
func Inert(text string) string {
	if strings.IndexFunc(text, isOverride) >= 0 {
		var b strings.Builder
		for _, r := range text {
			if isOverride(r) {
				fmt.Fprintf(&b, "\\u%04x", r)
				continue
			}
			b.WriteRune(r)
		}
		text = b.String()
	}
	if strings.Contains(text, "::") {
		text = commandLine.ReplaceAllString(text, "$1: :$2")
	}
	if strings.Contains(text, "##") {
		text = commandWord.ReplaceAllString(text, "# #$1")
	}
	return text
}

// Escaped is JSON in which such characters, and the controls that JSON leaves as they are, stand as escapes: the texts in it
// stay what they are.
func Escaped(json string) string { return escaped(json, `\u%04x`) }

// Spelled is JSON in which they are spelled out in the texts: what is made of it has no way to escape them.
func Spelled(json string) string { return escaped(json, `\\u%04x`) }

func escaped(text, as string) string {
	odd := func(r rune) bool { return isOverride(r) || r >= 0x7f && r <= 0x9f }
	if strings.IndexFunc(text, odd) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if odd(r) {
			fmt.Fprintf(&b, as, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
