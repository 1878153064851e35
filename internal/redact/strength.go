package redact

import (
	"strings"
	"unicode"

	"hawser.dev/hawser/internal/lazyregexp"
)

// strength says where a value is looked for. What somebody may choose so that it equals a word of ours, a name or a common
// value hides nothing but in the fields that it went to; what stands for nothing else is hidden wherever it turns up.
type strength int

const (
	// common: a word, a name, a short text, a short number. It is looked for in what an instance that takes it declares, and
	// in what is said about that instance.
	common strength = iota
	// phrase: many plain words. It is looked for in all texts of others and all values, not in sentences of our own.
	phrase
	// unmistakable: long enough, and not made of words. It is looked for everywhere.
	unmistakable
)

// Lengths from which a value can be more than common: letters mixed with digits, words in a row, names of many words, one
// word of letters alone.
const (
	shortestMixed = 7
	wordsOfPhrase = 4
	longestName   = 40
	longestWord   = 20
)

// knownMixed are words with digits that are no secret: versions, algorithms, architectures.
var knownMixed = lazyregexp.New(`(?i)^(?:v\d+(?:(?:alpha|beta|rc)\d*)?|(?:sha|md|aes|rsa|utf|ipv|amd|arm|x|i|s|rc|alpha|beta|base|tls|http|oauth|ec|h|p)\d+|k8s|k3s|i18n|l10n|e2e|h2c|\d+(?:ms|s|m|h|d|mi|gi|ki|ti|k|g|t|st|nd|rd|th)?)$`)

// Common reports whether a text is a word, a name, a short text or a short number: what may stand anywhere without being a secret.
func Common(text string) bool { return strengthOf(text) == common }

// strengthOf judges a text by its words: what letters and digits make up between all other characters.
func strengthOf(text string) strength {
	text = strings.TrimSpace(text)
	if _, ok := numberOf(text); ok {
		if digitsIn(text) >= shortestNumber {
			return unmistakable
		}
		return common
	}
	if len(text) < shortestMixed {
		return common
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	digits, odd := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			digits++
		case !unicode.IsLetter(r) && !strings.ContainsRune(" \t\r\n-_./:,;=+@", r):
			odd++
		}
	}
	for _, w := range words {
		if !plainWord(w) {
			return unmistakable
		}
	}
	switch {
	case len(words) == 0, odd > 1 && len(text) > shortestMixed, digits >= 2*shortestNumber:
		return unmistakable // punctuation, or groups of digits: no name looks like it
	case len(strings.Fields(text)) >= wordsOfPhrase, len(text) > longestName:
		return phrase
	}
	return common
}

// plainWord reports whether letters and digits make a word, several ones written together as fields are (camelCase), a
// number, or one of the known words with digits.
func plainWord(w string) bool {
	letters, digits, pieces, piece := 0, 0, 1, 0
	long := false
	var before rune
	for _, r := range w {
		if unicode.IsDigit(r) {
			digits++
		} else {
			letters++
		}
		if piece++; before != 0 && unicode.IsUpper(r) && unicode.IsLower(before) {
			pieces++
			piece = 1
		}
		long = long || piece > longestWord
		before = r
	}
	switch {
	case letters == 0:
		return digits < shortestNumber
	case digits == 0:
		return !long && letters >= 3*(pieces-1) && !shuffled(w)
	}
	return knownMixed.MatchString(w)
}

// shuffled reports letters without the vowels that every word has.
func shuffled(w string) bool {
	run, longest := 0, 0
	for _, r := range strings.ToLower(w) {
		if strings.ContainsRune("aeiouyäöüáéíóú", r) || r > unicode.MaxASCII {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest > 6
}

// Lengths, in characters, from which words are a password rather than a word: by the number of their pieces, one, two, or more.
const (
	longestPiece, longestPair = 12, 9
	shortestPieced            = 8
)

// ofPieces reports whether a text is what people put together of words for a password: correct-horse-battery-staple, admin@2026,
// CorrectHorse. A piece ends where letters, digits, capitals or a script do; each sign of a script without blanks is one.
func ofPieces(text string) bool {
	pieces, signs := 0, 0
	class := func(r rune) int {
		switch {
		case unicode.IsDigit(r):
			return 1
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			return 4
		case unicode.IsUpper(r):
			return 3
		case unicode.IsLetter(r):
			return 2
		}
		return 0
	}
	before := 0
	for _, r := range strings.TrimSpace(text) {
		signs++
		now := class(r)
		if now != 0 && (now != before && !(now == 2 && before == 3) || now == 4) {
			pieces++
		}
		before = now
	}
	switch pieces {
	case 0:
		return false
	case 1:
		return signs > longestPiece
	case 2:
		return signs > longestPair
	}
	return signs >= shortestPieced
}

func digitsIn(text string) int {
	n := 0
	for _, r := range text {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}
