package redact

import (
	"maps"
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
	return quantitySpans(text, numbers, groupedSpans(text, numbers, out))
}

// Lengths from which a number is looked for without the sign of its base, and from which digits of another base are taken for it.
const (
	smallestBased = 1000
	shortestBased = 6
)

// withDigits are forms, and numbers in hexadecimal, octal and binary digits without a sign that says so, as a whole token.
func withDigits(forms map[string]where, numbers map[float64]bool) map[string]where {
	if len(numbers) == 0 {
		return forms
	}
	out := maps.Clone(forms)
	for f := range numbers {
		if f = math.Abs(f); f < smallestBased || f != math.Trunc(f) || f > 1<<53 { // beyond, numbers are known by their first digits
			continue
		}
		x := strconv.FormatUint(uint64(f), 16)
		for _, digits := range []string{x, strings.ToUpper(x), strconv.FormatUint(uint64(f), 8), strconv.FormatUint(uint64(f), 2)} {
			if _, there := out[digits]; !there && len(digits) >= shortestBased {
				out[digits] = alone
			}
		}
	}
	return out
}

var (
	// grouped finds numbers with commas between their thousands, quantities those with a suffix, as Kubernetes writes them.
	grouped    = lazyregexp.New(`[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?`)
	quantities = lazyregexp.New(`([+-]?(?:\d+(?:\.\d*)?|\.\d+))([KMGTPE]i|[numkMGTPE])`)
)

// tenPowers and twoPowers are what the suffixes of quantities stand for: powers of ten and of two.
var (
	tenPowers = map[string]string{"n": "e-9", "u": "e-6", "m": "e-3", "k": "e3", "M": "e6", "G": "e9", "T": "e12", "P": "e15", "E": "e18"}
	twoPowers = map[string]int{"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
)

// fewestDigits is how many digits a number has at least that is hidden before a suffix: 1 is in 1Gi by chance.
const fewestDigits = 3

// groupedSpans are those of numbers such as 1,000,000.5.
func groupedSpans(text string, numbers map[float64]bool, out []span) []span {
	if !strings.Contains(text, ",") {
		return out
	}
	for _, at := range grouped.FindAllStringIndex(text, -1) {
		from, to := at[0], at[1]
		if to+1 < len(text) && text[to] == ',' && isDigit(text[to+1]) {
			continue
		}
		out = standing(text, from, to, out, func(digits string) bool {
			f, ok := numberOf(strings.ReplaceAll(digits, ",", ""))
			return ok && numbers[f]
		})
	}
	return out
}

// quantitySpans are those of quantities that are one of the numbers (1k), or have its digits (4711Mi).
func quantitySpans(text string, numbers map[float64]bool, out []span) []span {
	for _, at := range quantities.FindAllStringSubmatchIndex(text, -1) {
		suffix := text[at[4]:at[5]]
		out = standing(text, at[0], at[1], out, func(quantity string) bool {
			digits := strings.TrimSuffix(quantity, suffix)
			f, ok := numberOf(digits)
			if !ok || digitsIn(digits) >= fewestDigits && numbers[f] {
				return ok
			}
			if power, ok := twoPowers[suffix]; ok {
				return numbers[math.Ldexp(f, power)]
			}
			f, err := strconv.ParseFloat(digits+tenPowers[suffix], 64)
			return err == nil && numbers[f]
		})
	}
	return out
}

// standing adds [from, to) when it stands for itself and is one of the numbers, with its sign or, where that is a dash between words, without.
func standing(text string, from, to int, out []span, is func(string) bool) []span {
	if numberGoesOn(text, from, to) {
		return out
	}
	if text[from] == '+' || text[from] == '-' {
		if !wordBefore(text, from) && is(text[from:to]) {
			return append(out, span{from, to})
		}
		from++
	}
	if !wordBefore(text, from) && is(text[from:to]) {
		return append(out, span{from, to})
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
