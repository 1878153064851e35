package redact

import (
	"math"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// numeral is a number as people and languages write it; numerals finds them in a text.
const numeral = `[+-]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)`

var (
	wholeNumeral = lazyregexp.New(`^` + numeral + `$`)
	numerals     = lazyregexp.New(numeral)
)

// numberOf reads a text that is a number, in whatever form: 1000, 1e3, 1000.0, 0x3e8.
func numberOf(text string) (float64, bool) {
	if text = strings.TrimSpace(text); !wholeNumeral.MatchString(text) {
		return 0, false
	}
	text = strings.ReplaceAll(text, "_", "")
	digits := strings.TrimLeft(text, "+-")
	if len(digits) > 1 && digits[0] == '0' && strings.ContainsAny(digits[1:2], "xXoObB") {
		n, err := strconv.ParseUint(digits, 0, 64)
		if f := float64(n); err == nil && text[0] == '-' {
			return -f, true
		} else if err == nil {
			return f, true
		}
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// readings are the numbers that a text may stand for: with a zero in front YAML reads an octal one.
func readings(text string) []float64 {
	f, ok := numberOf(text)
	if !ok {
		return nil
	}
	out := []float64{f}
	if text = strings.TrimSpace(text); len(text) > 1 && text[0] == '0' {
		if n, err := strconv.ParseUint(text, 8, 64); err == nil {
			out = append(out, float64(n))
		}
	}
	return out
}

// spans of the numerals in a text that stand for one of the numbers.
func numberSpans(text string, numbers map[float64]bool, out []span) []span {
	if len(numbers) == 0 {
		return out
	}
	for _, at := range numerals.FindAllStringIndex(text, -1) {
		from, to := at[0], at[1]
		if text[from] == '+' || text[from] == '-' { // a sign, or a dash between words
			if f, ok := numberOf(text[from:to]); ok && numbers[f] && !wordBefore(text, from) && !numberGoesOn(text, from, to) {
				out = append(out, span{from, to})
				continue
			}
			from++
		}
		if wordBefore(text, from) || numberGoesOn(text, from, to) {
			continue
		}
		if f, ok := numberOf(text[from:to]); ok && numbers[f] {
			out = append(out, span{from, to})
		} else if cut := strings.TrimSuffix(text[from:to], "."); cut != text[from:to] { // the end of a sentence
			if f, ok := numberOf(cut); ok && numbers[f] {
				out = append(out, span{from, to - 1})
			}
		}
	}
	return out
}

// numberGoesOn: what was found is a part of a word, a version or an address.
func numberGoesOn(text string, from, to int) bool {
	if wordAfter(text, to) {
		return true
	}
	if from > 1 && text[from-1] == '.' && isDigit(text[from-2]) {
		return true
	}
	return to+1 < len(text) && text[to] == '.' && isDigit(text[to+1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
