package redact

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"hawser.dev/hawser/internal/secret"
)

// shortestCased is the length from which a value is masked in upper and lower case, too.
const shortestCased = 8

// form is one look of a value: where it is looked for follows from its strength, and, for what is common, from whether it is
// a plain word.
type form struct {
	text     string
	strength strength
	word     bool
	// made: nobody chose it.
	made bool
	// pieced: of so many pieces that a sentence about the instance that takes it says it for nothing else.
	pieced bool
}

// formsOf lists what a value may look like: as it is, without white space at its ends, each of its lines, each text in it
// where it is a JSON or YAML document, the password of a URL; each of these quoted (JSON, also twice and with HTML escapes;
// Go, CUE; YAML; HTML), percent-encoded, in upper and lower case, as titles, in base64 (also twice, and inside the base64 of a longer
// text) and hex. Every part is as strong as it is itself, whatever it was taken from.
// Numbers are left to numbersOf, unless they stand for nothing else.
func formsOf(value string, parts []string) []form {
	if harmless(value) {
		return nil
	}
	seen := map[form]bool{}
	var forms []form
	some := false // pieces, of the part that forms are made of
	add := func(text string, s strength, word bool) {
		f := form{text: text, strength: s, word: word, pieced: some}
		if _, number := numberOf(text); number && s == common {
			return
		}
		if trimmed := strings.TrimSpace(text); trimmed != "" && !harmless(trimmed) && !seen[f] {
			seen[f] = true
			forms = append(forms, f)
		}
	}
	for i, part := range parts {
		s, word := strengthOf(part), plainText(part)
		some = ofPieces(part)
		if i >= maxForms {
			add(part, s, word)
			add(quoteInner(part), s, word)
			continue
		}
		for _, cased := range cases(part, s) {
			add(cased, s, word)
			for _, text := range quoted(cased) {
				add(text, s, word)
			}
		}
		for _, text := range escaped(part) {
			add(text, s, word)
		}
		for _, text := range encoded(part) {
			if len(part) >= shortestMixed && len(text) >= shortestEncoded {
				add(text, unmistakable, false)
			} else {
				add(text, common, true)
			}
		}
	}
	return forms
}

// shortestEncoded is the length from which base64 and hex are taken for nothing else.
const shortestEncoded = 9

// plainText reports whether a text is made of words and numbers, so that it could stand in any sentence.
func plainText(text string) bool {
	if _, ok := numberOf(text); ok {
		return true
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !plainWord(w) {
			return false
		}
	}
	return true
}

// numbersOf are the numbers among the parts of a value, whatever form they are written in.
func numbersOf(parts []string) map[float64]strength {
	out := map[float64]strength{}
	for _, part := range parts {
		for _, n := range readings(part) {
			out[n] = max(out[n], strengthOf(part))
		}
	}
	return out
}

// maxForms bounds how many lines and leaves of one value are looked for in all forms; the others as they are.
const maxForms = 200

// partsOf are the texts that must not be seen: the value, its lines, its leaves. Short lines (a closing brace) say nothing
// alone.
func partsOf(value string) []string {
	parts := []string{value, strings.TrimSpace(value)}
	lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= shortest {
				parts = append(parts, line)
			}
		}
	}
	if u, err := url.Parse(strings.TrimSpace(value)); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok && password != "" {
			parts = append(parts, password)
		}
	}
	leaves := leavesOf(value)
	parts = append(parts, leaves...)
	parts = append(parts, derivedFrom(value)...)
	seen := map[string]bool{}
	return slices.DeleteFunc(parts, func(part string) bool {
		was := seen[part]
		seen[part] = true
		return was
	})
}

// maxLeaves bounds how many texts of a document are hidden one by one.
const maxLeaves = 1000

// leavesOf are the texts in a value that is a document: a template may take it apart. Plain short words stay: they are
// names and types that would be missing everywhere.
func leavesOf(value string) []string {
	if !strings.ContainsAny(value, ":{[") {
		return nil
	}
	parse := secret.ParseYAML
	if t := strings.TrimSpace(value); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		parse = secret.ParseJSON
	}
	doc, err := parse([]byte(value))
	if err != nil {
		return nil
	}
	var out []string
	var walk func(n *secret.Node)
	walk = func(n *secret.Node) {
		if n.Kind == secret.Scalar && telling(n.Text) && len(out) < maxLeaves {
			out = append(out, n.Text)
		}
		for _, f := range n.Fields {
			walk(f.Value)
		}
		for _, item := range n.Items {
			walk(item)
		}
	}
	if doc.Kind == secret.Map || doc.Kind == secret.List {
		walk(doc)
	}
	return out
}

// telling reports whether a text in a document is worth hiding alone: a long one, or one that is no plain word.
func telling(text string) bool {
	if len(text) < shortest {
		return false
	}
	return len(text) >= shortestCased || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// inner is a quoted text without its quotes.
func inner(quoted string) string { return strings.TrimSuffix(strings.TrimPrefix(quoted, `"`), `"`) }

// quoteInner is what JSON writes between the quotes.
func quoteInner(s string) string { return inner(quoteJSON(s)) }

// quoted are the texts between the quotes of the languages around.
func quoted(part string) []string {
	once := quoteInner(part)
	forms := []string{once, quoteInner(once), inner(strconv.Quote(part)), inner(strconv.QuoteToASCII(part)),
		strings.ReplaceAll(part, "'", "''"), html.EscapeString(part)}
	if marshalled, err := json.Marshal(part); err == nil {
		forms = append(forms, inner(string(marshalled)))
	}
	return forms
}

// escaped are the forms in URLs, with capital and small digits.
func escaped(part string) []string {
	forms := []string{url.QueryEscape(part), url.PathEscape(part)}
	for _, f := range forms[:2] {
		if strings.Contains(f, "%") {
			forms = append(forms, lowerEscapes(f))
		}
	}
	return forms
}

// lowerEscapes writes the digits of percent escapes small.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// Lengths from which and up to which a value is looked for byte by byte: it is three to five times as long so.
const shortestBytewise, longestBytewise = 3, 16 << 10

// bytewise is hex as Go prints it with spaces between the bytes, and with 0x before all or each of them.
func bytewise(data []byte) (forms []string) {
	for _, format := range []string{"% x", "% X", "% #x", "% #X", "%#x", "%#X"} {
		forms = append(forms, fmt.Sprintf(format, data))
	}
	return forms
}

// encoded are base64, base32 and hex.
func encoded(whole string) []string {
	var forms []string
	data := []byte(whole)
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		forms = append(forms, enc.EncodeToString(data))
	}
	if len(data) >= shortestBytewise && len(data) <= longestBytewise {
		forms = append(forms, bytewise(data)...)
	}
	if len(whole) < shortest {
		return forms
	}
	x := hex.EncodeToString(data)
	b32 := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(data)
	forms = append(forms, b32, strings.ToLower(b32), x, strings.ToUpper(x), base64.StdEncoding.EncodeToString([]byte(forms[0])))
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			if inside := within(enc, data, shift); len(inside) > shortest {
				forms = append(forms, inside)
			}
		}
	}
	return forms
}

// within is what the base64 of a longer text shows of data that begins shift bytes (0 to 2) after a group's start: the
// digits that depend on data alone.
func within(enc *base64.Encoding, data []byte, shift int) string {
	padded := append(make([]byte, shift, shift+len(data)), data...)
	digits := enc.EncodeToString(padded)
	from := (shift*8 + 5) / 6
	return digits[min(from, len(digits)):max(min(from, len(digits)), len(padded)*8/6)]
}

func harmless(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "", "true", "false", "null", "yes", "no", "on", "off":
		return true
	}
	return false
}

// quoteJSON is JSON's quoting without HTML escapes.
func quoteJSON(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return s
	}
	return strings.TrimSuffix(b.String(), "\n")
}
