// Package nesting counts how deep the parser of Go's templates (text/template/parse) would call itself for a text, without parsing it.
//
// nesting must not know charts, nor how deep is too deep.
package nesting

import (
	"strings"
	"unicode"
)

// Of is how deep the parser of templates calls itself for a text: for blocks, and for parentheses of one action. It reads actions as
// that parser's lexer does, and ends where the lexer finds a fault, or where it is deeper than most.
func Of(text string, most int) (blocks, parens int) {
	depth := 0
	var open []int // of every open block, how many calls: one, and one more for every else if and else with
	for blocks <= most && parens <= most {
		_, rest, found := strings.Cut(text, "{{")
		if !found {
			return blocks, parens
		}
		if after, marked := cutTrimMarker(rest); strings.HasPrefix(after, "/*") {
			_, text, found = strings.Cut(after[len("/*"):], "*/")
			if !found {
				return blocks, parens
			}
			continue // with what closes the comment's action, where nothing opens one
		} else if marked {
			rest = after
		}
		word, after := firstWord(rest)
		switch word {
		case "if", "range", "with", "block", "define":
			open = append(open, 1)
			depth++
		case "else":
			if word, _ = firstWord(after); len(open) > 0 && (word == "if" || word == "with") {
				open[len(open)-1]++
				depth++
			}
		case "end":
			if len(open) > 0 {
				depth -= open[len(open)-1]
				open = open[:len(open)-1]
			}
		}
		length, within, ok := action(rest)
		blocks, parens = max(blocks, depth), max(parens, within)
		if !ok {
			return blocks, parens
		}
		text = rest[length:]
	}
	return blocks, parens
}

// cutTrimMarker is what follows a trim marker at the beginning of an action.
func cutTrimMarker(s string) (after string, found bool) {
	if len(s) >= 2 && s[0] == '-' && strings.IndexByte(templateSpace, s[1]) >= 0 {
		return s[2:], true
	}
	return s, false
}

// templateSpace is what separates words of an action.
const templateSpace = " \t\r\n"

// firstWord is the word that a text begins with after space, "" when that is no word, and what follows.
func firstWord(s string) (word, after string) {
	s = strings.TrimLeft(s, templateSpace)
	end := strings.IndexFunc(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

// action is the length of an action whose beginning was cut off, the end included, and how deep parentheses stand in it; not ok is one
// that does not end.
func action(s string) (length, parens int, ok bool) {
	depth := 0
	for at := 0; at < len(s); at++ {
		switch c := s[at]; c {
		case '"', '\'', '`':
			end := quoted(s[at:])
			if end < 0 {
				return 0, parens, false
			}
			at += end
		case '(':
			depth++
			parens = max(parens, depth)
		case ')':
			depth--
		case '}':
			if strings.HasPrefix(s[at:], "}}") {
				return at + len("}}"), parens, true
			}
		}
	}
	return 0, parens, false
}

// quoted is where the quotation ends that a text begins with, negative when it does not: only a raw one has lines.
func quoted(s string) int {
	quote := s[0]
	if quote == '`' {
		if end := strings.IndexByte(s[1:], quote); end >= 0 {
			return 1 + end
		}
		return -1
	}
	for at := 1; at < len(s); at++ {
		switch s[at] {
		case quote:
			return at
		case '\n':
			return -1
		case '\\':
			if at++; at < len(s) && s[at] == '\n' {
				return -1
			}
		}
	}
	return -1
}
