package redact

import "strings"

const (
	// A text longer than longestSaid is no message of a parser, what is quoted in one is at most longestQuoted bytes long, and of fewer than
	// leastQuoted nothing can be told.
	longestSaid, longestQuoted, leastQuoted = 16 << 10, 256, 3
)

// remainders are what stands in quotes in a text and is a part of what is hidden in it: parsers quote the value, and then again what of it they could
// not read.
func remainders(text string, spans []span) []span {
	if len(spans) == 0 || len(text) > longestSaid {
		return spans
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(text[s.from:s.to])
		b.WriteByte(0)
	}
	hidden := b.String()
	out := spans
	for i := range len(text) {
		if strings.IndexByte("\"'`", text[i]) < 0 {
			continue
		}
		rest := text[i+1 : min(len(text), i+1+longestQuoted+1)]
		n := strings.IndexByte(rest, text[i])
		if n >= leastQuoted && strings.Contains(hidden, rest[:n]) {
			out = append(out, span{i + 1, i + 1 + n})
		}
	}
	return out
}
