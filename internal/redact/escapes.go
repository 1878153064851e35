package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape undoes once what languages write for a character: \uXXXX, also as a pair of surrogates, \u{X}, \x{X}, \UXXXXXXXX, a backslash before
// punctuation or a letter that stands for white space, $$, HTML's entities, and the quote of a shell in quotes; and for a byte of one:
// %XX, \xXX, \OOO. at are the places of the bytes in the text, with its length at the end; nil where nothing is escaped.
func unescape(text string) (string, []int) {
	if !strings.ContainsAny(text, `\%$'&`) {
		return text, nil
	}
	b := make([]byte, 0, len(text))
	at := make([]int, 0, len(text)+1)
	changed := false
	for i := 0; i < len(text); {
		before, n := len(b), 0
		if b, n = escaping(b, text[i:]); n == 0 {
			b, n = append(b, text[i]), 1
		} else {
			changed = true
		}
		for range len(b) - before {
			at = append(at, i)
		}
		i += n
	}
	if !changed {
		return text, nil
	}
	return string(b), append(at, len(text))
}

// blanks are the letters that stand for white space behind a backslash.
const blanks, blanked = "abfnrtv", "\a\b\f\n\r\t\v"

// longestEntity bounds what is looked at of HTML's entities.
const longestEntity = 12

// longestBraced is the length of \u{H} with all the digits that a character has.
const longestBraced = len(`\u{00000000}`)

// escaping appends what an escape at the beginning of a text stands for; n is its length, 0 where there is none.
func escaping(b []byte, text string) (_ []byte, n int) {
	if len(text) < 2 {
		return b, 0
	}
	digits := func(from, to, base int) (rune, bool) {
		if to > len(text) || text[from] == '+' {
			return 0, false
		}
		n, err := strconv.ParseUint(text[from:to], base, 32)
		return rune(n), err == nil && n <= unicode.MaxRune
	}
	switch c := text[1]; text[0] {
	case '%':
		if r, ok := digits(1, 3, 16); ok {
			return append(b, byte(r)), 3
		}
	case '$':
		if c == '$' {
			return append(b, '$'), 2
		}
	case '&':
		if end := strings.IndexByte(text[:min(len(text), longestEntity)], ';'); end > 0 {
			if plain := html.UnescapeString(text[:end+1]); utf8.RuneCountInString(plain) == 1 {
				return append(b, plain...), end + 1
			}
		}
	case '\'':
		for _, quote := range []string{`'\''`, `'"'"'`} {
			if strings.HasPrefix(text, quote) {
				return append(b, '\''), len(quote)
			}
		}
	case '\\':
		switch {
		case (c == 'u' || c == 'x') && len(text) > 2 && text[2] == '{':
			if end := strings.IndexByte(text[:min(len(text), longestBraced)], '}'); end > 3 {
				if r, ok := digits(3, end, 16); ok {
					return utf8.AppendRune(b, r), end + 1
				}
			}
		case c == 'u':
			r, ok := digits(2, 6, 16)
			if !ok {
				return b, 0
			}
			if strings.HasPrefix(text[6:], `\u`) {
				if low, ok := digits(8, 12, 16); ok && utf16.DecodeRune(r, low) != unicode.ReplacementChar {
					return utf8.AppendRune(b, utf16.DecodeRune(r, low)), 12
				}
			}
			return utf8.AppendRune(b, r), 6
		case c == 'U':
			if r, ok := digits(2, 10, 16); ok {
				return utf8.AppendRune(b, r), 10
			}
		case c == 'x':
			if r, ok := digits(2, 4, 16); ok {
				return append(b, byte(r)), 4
			}
		case c >= '0' && c <= '3':
			if r, ok := digits(1, 4, 8); ok {
				return append(b, byte(r)), 4
			}
		case strings.IndexByte(blanks, c) >= 0:
			return append(b, blanked[strings.IndexByte(blanks, c)]), 2
		case c > ' ' && c < utf8.RuneSelf && !isWord(rune(c)):
			return append(b, c), 2
		}
	}
	return b, 0
}
