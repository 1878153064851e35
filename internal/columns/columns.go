// Package columns measures, cuts and wraps text by the columns it takes in a terminal, and makes text of others harmless
// there. Colours (ANSI sequences) take none.
//
// columns must not know what is printed, nor where.
package columns

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// wide are the ranges of runes two columns wide: East Asian Wide and Fullwidth and the emoji blocks (Unicode UAX #11,
// whole blocks rather than single code points).
var wide = [...][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
}

// runeWidth is the number of columns a rune takes: 0 for marks and controls, 2 for wide ones.
func runeWidth(r rune) int {
	if r < 0x20 || r == 0x7f {
		return 0
	}
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// escapeLen is the length of the ANSI colour sequence s begins with, 0 if none.
func escapeLen(s string) int {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return 0
}

// Width is the number of columns text takes, without its colours.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if e := escapeLen(s[i:]); e > 0 {
			i += e
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		n += runeWidth(r)
		i += size
	}
	return n
}

// Truncate cuts text to at most cols columns, ending in the ellipsis when something was cut. Colours stay closed.
func Truncate(s string, cols int, ellipsis string) string {
	if Width(s) <= cols {
		return s
	}
	room := cols - Width(ellipsis)
	if room <= 0 {
		return strings.Repeat(".", max(0, cols))
	}
	var b strings.Builder
	n, colored := 0, false
	for i := 0; i < len(s); {
		if e := escapeLen(s[i:]); e > 0 {
			b.WriteString(s[i : i+e])
			colored = s[i:i+e] != "\x1b[0m"
			i += e
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if n+runeWidth(r) > room {
			break
		}
		b.WriteString(s[i : i+size])
		n += runeWidth(r)
		i += size
	}
	b.WriteString(ellipsis)
	if colored {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// Around is the part of a line of text around a column that fits cols columns, with an ellipsis where something is left out, and the column
// in it. What is before the column gives way first where it is farther away than the line is wide.
func Around(s string, col, cols int, ellipsis string) (part string, at int) {
	const behind = 20 // columns that are kept behind it, where there are as many
	from := col + min(behind, cols/2, max(1, Width(s)-col)) - cols
	if from <= 0 {
		return Truncate(s, cols, ellipsis), col
	}
	from += Width(ellipsis)
	skipped := 0
	for i, r := range s {
		if skipped >= from {
			return Truncate(ellipsis+s[i:], cols, ellipsis), col - skipped + Width(ellipsis)
		}
		skipped += runeWidth(r)
	}
	return Truncate(s, cols, ellipsis), min(col, max(0, cols-1))
}

// Pad fills text with spaces up to cols columns.
func Pad(s string, cols int) string {
	if n := cols - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// At puts next behind s, beginning in column col, or two spaces later when s reaches further.
func At(s string, col int, next string) string {
	if next == "" {
		return s
	}
	if Width(s)+2 > col {
		return s + "  " + next
	}
	return Pad(s, col) + next
}

// Wrap breaks text at spaces into lines of at most cols columns; longer words are cut.
func Wrap(s string, cols int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		for head := Cut(word, cols); len(head) < len(word); head = Cut(word, cols) {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= cols:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// Cut is the longest beginning of s that fits cols columns, at least one rune.
func Cut(s string, cols int) string {
	n := 0
	for i, r := range s {
		if n += runeWidth(r); n > cols && i > 0 {
			return s[:i]
		}
	}
	return s
}

// Chunks cuts text into pieces of at most cols columns, spaces kept.
func Chunks(s string, cols int) []string {
	var out []string
	for s != "" {
		c := Cut(s, cols)
		out, s = append(out, c), s[len(c):]
	}
	return out
}

// Clean makes foreign text safe for one line of a terminal: control characters become spaces or their escapes.
func Clean(s string) string {
	s = diag.Inert(s)
	if strings.IndexFunc(s, unicode.IsControl) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsControl(r):
			fmt.Fprintf(&b, "\\x%02x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Cleaned is Clean for each of several cells.
func Cleaned(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = Clean(c)
	}
	return out
}

// Plain reports whether text holds nothing that Clean changes: a name that comes from others is refused otherwise.
func Plain(s string) bool { return Clean(s) == s }

// own are the sequences that we write ourselves: colours, and what repaints the lines at the end of a terminal.
var own = lazyregexp.New("\x1b\\[(?:(?:0|1|2|31|32|33|35|36)m|K|J|[0-9]{1,4}A)")

// Painted is Clean for a line that has our colours.
func Painted(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return Clean(s)
	}
	var b strings.Builder
	for {
		at := own.FindStringIndex(s)
		if at == nil {
			return b.String() + Clean(s)
		}
		b.WriteString(Clean(s[:at[0]]) + s[at[0]:at[1]])
		s = s[at[1]:]
	}
}

// Screen makes what goes to a terminal or a log harmless: line ends, tabs and our own sequences stay, and so does every
// byte that is no control character.
func Screen(s string) string {
	s = diag.Inert(s)
	if strings.IndexFunc(s, isOrder) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == 0x1b {
			if at := own.FindStringIndex(s[i:min(len(s), i+8)]); at != nil && at[0] == 0 {
				size, r = at[1], ' '
			}
		}
		if isOrder(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

func isOrder(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }
