// Package secret is what secret values have in common: references to them, the Store socket, the documents they stand in,
// and a Redactor that masks them by provenance: it knows the values themselves and never guesses from the look of a text.
//
// secret must not know which stores there are, nor what a value or a text is for.
package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Mask stands in for every secret value.
const Mask = "***"

// shortest is the length from which a value is masked wherever it turns up; shorter ones only as whole tokens.
const shortest = 4

// Redactor masks the values it was given, in the forms they usually take: as they are, each line of several, quoted
// as in JSON, Go and CUE, percent-encoded, in base64 and hex. The zero Redactor is ready and masks nothing; all
// methods may be called concurrently. A nil *Redactor masks nothing.
type Redactor struct {
	mu    sync.Mutex
	forms map[string]bool // form -> whole tokens only
	// built is nil when forms changed since it was made.
	built atomic.Pointer[masks]
}

type masks struct {
	long  *strings.Replacer
	short tokens
	// max is the longest form, for callers that redact streams.
	max int
}

// New makes a Redactor that knows the values.
func New(values ...string) *Redactor {
	r := &Redactor{}
	for _, v := range values {
		r.Add(v)
	}
	return r
}

// Add makes a value secret from now on. Empty values and the words true, false and null hide nothing and are left
// alone: masking them would ruin every text.
func (r *Redactor) Add(value string) {
	forms := formsOf(value)
	if len(forms) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.forms == nil {
		r.forms = map[string]bool{}
	}
	changed := false
	for form, token := range forms {
		if old, ok := r.forms[form]; !ok || old && !token {
			r.forms[form] = token
			changed = true
		}
	}
	if changed {
		r.built.Store(nil)
	}
}

// Redact returns the text with every known value replaced by Mask.
func (r *Redactor) Redact(text string) string {
	if r == nil || text == "" {
		return text
	}
	m := r.masks()
	if m == nil {
		return text
	}
	if m.long != nil {
		text = m.long.Replace(text)
	}
	return m.short.mask(text)
}

// Longest is the length in bytes of the longest form that is masked: who redacts a stream in pieces keeps that much.
func (r *Redactor) Longest() int {
	if r == nil {
		return 0
	}
	if m := r.masks(); m != nil {
		return m.max
	}
	return 0
}

func (r *Redactor) masks() *masks {
	if m := r.built.Load(); m != nil {
		return m
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.forms) == 0 {
		return nil
	}
	var long []string
	m := &masks{short: tokens{}}
	for form, token := range r.forms {
		m.max = max(m.max, len(form))
		if token {
			m.short[form] = true
		} else {
			long = append(long, form)
		}
	}
	slices.SortFunc(long, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	if len(long) > 0 {
		pairs := make([]string, 0, 2*len(long))
		for _, form := range long {
			pairs = append(pairs, form, Mask)
		}
		m.long = strings.NewReplacer(pairs...)
	}
	r.built.Store(m)
	return m
}

// tokens are forms shorter than shortest.
type tokens map[string]bool

// mask replaces tokens that have no letter, digit or underscore beside them.
func (t tokens) mask(text string) string {
	if len(t) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for i := 0; i < len(text); i++ {
		for n := min(shortest-1, len(text)-i); n > 0; n-- {
			if !t[text[i:i+n]] || wordBefore(text, i) || wordAfter(text, i+n) {
				continue
			}
			b.WriteString(text[last:i] + Mask)
			last, i = i+n, i+n-1
			break
		}
	}
	return b.String() + text[last:]
}

func wordBefore(text string, i int) bool {
	r, n := utf8.DecodeLastRuneInString(text[:i])
	return n > 0 && isWord(r)
}

func wordAfter(text string, i int) bool {
	for _, r := range text[i:] {
		return isWord(r)
	}
	return false
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// formsOf lists what a value may look like; true means: mask as a whole token only.
func formsOf(value string) map[string]bool {
	forms := map[string]bool{}
	if harmless(value) {
		return nil
	}
	add := func(form string) {
		if trimmed := strings.TrimSpace(form); trimmed != "" && !harmless(trimmed) {
			forms[form] = len(form) < shortest
		}
	}
	parts := []string{value, strings.TrimSpace(value)}
	if lines := strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' }); len(lines) > 1 {
		for _, line := range lines {
			// Short lines (a closing brace) say nothing alone.
			if line = strings.TrimSpace(line); len(line) >= shortest {
				parts = append(parts, line)
			}
		}
	}
	for _, part := range parts {
		add(part)
		for _, quoted := range []string{quoteJSON(part), strconv.Quote(part), strconv.QuoteToASCII(part)} {
			add(strings.TrimSuffix(strings.TrimPrefix(quoted, `"`), `"`))
		}
		add(url.QueryEscape(part))
		add(url.PathEscape(part))
	}
	for _, whole := range parts[:2] {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
			base64.RawURLEncoding} {
			add(enc.EncodeToString([]byte(whole)))
		}
		if len(whole) >= shortest {
			add(hex.EncodeToString([]byte(whole)))
		}
	}
	return forms
}

func harmless(s string) bool {
	switch strings.TrimSpace(s) {
	case "", "true", "false", "null":
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
