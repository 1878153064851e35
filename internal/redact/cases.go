package redact

import (
	"slices"
	"strings"
	"unicode"
)

// longestRecased bounds the texts that are looked for with the first letters of their words changed, and with capitals and small letters swapped:
// nobody does that to a token of a server.
const longestRecased = 256

// cases are a text as it is, and if it is long enough in upper and lower case; one that stands for nothing else also as templates write titles, and
// with capitals and small letters swapped, after all letters were made large or small, too (title (lower x)).
func cases(part string, s strength) []string {
	if len(part) < shortestCased {
		return []string{part}
	}
	upper, lower := strings.ToUpper(part), strings.ToLower(part)
	out := []string{part, upper, lower}
	if s == unmistakable && len(part) <= longestRecased {
		for _, part := range []string{part, upper, lower} {
			out = append(out, firsts(part, titleEnds, unicode.ToTitle), firsts(part, unicode.IsSpace, unicode.ToLower), swapped(part))
		}
	}
	slices.Sort(out[1:])
	return slices.Compact(out)
}

// titleEnds are the characters behind which a word begins in titles: of ASCII all but letters, digits and _, of others blanks.
func titleEnds(r rune) bool {
	if r <= unicode.MaxASCII {
		return !isWord(r)
	}
	return unicode.IsSpace(r)
}

// firsts changes the first character of each word.
func firsts(text string, ends func(rune) bool, change func(rune) rune) string {
	begins := true
	return strings.Map(func(r rune) rune {
		was := begins
		if begins = ends(r); was {
			return change(r)
		}
		return r
	}, text)
}

// swapped has small letters for capitals and the other way round; a first letter becomes one of a title.
func swapped(text string) string {
	begins := true
	return strings.Map(func(r rune) rune {
		was := begins
		switch {
		case unicode.IsUpper(r), unicode.IsTitle(r):
			begins = false
			return unicode.ToLower(r)
		case unicode.IsLower(r):
			if begins = false; was {
				return unicode.ToTitle(r)
			}
			return unicode.ToUpper(r)
		}
		begins = unicode.IsSpace(r)
		return r
	}, text)
}
