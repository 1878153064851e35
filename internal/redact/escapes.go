package redact

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape undoes once what languages write for a character: \uXXXX, \xXX, a backslash before punctuation, %XX, $$, and the quote
// of a shell in quotes. at are the places of the bytes in the text, with its length at the end; nil where nothing is escaped.
func unescape(text string) (string, []int) {
	if !strings.ContainsAny(text, `\%$'`) {
		return text, nil
	}
	b := make([]byte, 0, len(text))
	at := make([]int, 0, len(text)+1)
	changed := false
	for i := 0; i < len(text); {
		r, n := escaping(text[i:])
		if n == 0 {
			b, at = append(b, text[i]), append(at, i)
			i++
			continue
		}
		changed = true
		before := len(b)
		if text[i] == '%' {
			b = append(b, byte(r))
		} else {
			b = utf8.AppendRune(b, r)
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

// escaping is the character that an escape at the beginning of a text stands for, and its length; 0 where there is none. Of a
// percent escape it is a byte.
func escaping(text string) (rune, int) {
	if len(text) < 2 {
		return 0, 0
	}
	hex := func(from, to int) (rune, int) {
		if to > len(text) {
			return 0, 0
		}
		n, err := strconv.ParseUint(text[from:to], 16, 32)
		if err != nil || text[from] == '+' {
			return 0, 0
		}
		return rune(n), to
	}
	switch text[0] {
	case '%':
		return hex(1, 3)
	case '$':
		if text[1] == '$' {
			return '$', 2
		}
	case '\'':
		for _, quote := range []string{`'\''`, `'"'"'`} {
			if strings.HasPrefix(text, quote) {
				return '\'', len(quote)
			}
		}
	case '\\':
		switch c := text[1]; {
		case c == 'u':
			return hex(2, 6)
		case c == 'x':
			return hex(2, 4)
		case c > ' ' && c < utf8.RuneSelf && !isWord(rune(c)):
			return rune(c), 2
		}
	}
	return 0, 0
}

// unescapedSpans adds the places of forms in a text whose escapes are undone.
func (f *finder) unescapedSpans(text string, out []span) []span {
	plain, at := unescape(text)
	if at == nil {
		return out
	}
	for _, s := range f.exact(plain, nil) {
		out = append(out, span{at[s.from], at[s.to]})
	}
	return out
}

// escapable reports whether somebody may write a text with escapes.
func escapable(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !isWord(r) })
}
