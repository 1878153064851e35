// Package secret is what secret values have in common: references to them, the Store socket, the documents they stand in,
// and a Redactor that masks them by provenance: it knows the values themselves and never guesses from the look of a text.
//
// secret must not know which stores there are, nor what a value or a text is for.
package secret

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Mask stands in for every secret value.
const Mask = "***"

// shortest is the length from which a value is masked wherever it turns up; shorter ones only as whole tokens, and so are
// numbers of less than shortestNumber digits: they are parts of many others.
const (
	shortest       = 4
	shortestNumber = 8
)

// Redactor masks the values it was given, in the forms they usually take (forms.go). The zero Redactor is ready and masks
// nothing; all methods may be called concurrently. A nil *Redactor masks nothing.
type Redactor struct {
	mu    sync.Mutex
	forms map[string]bool // form -> whole tokens only
	// built is nil when forms changed since it was made.
	built atomic.Pointer[masks]
}

type masks struct {
	long  *strings.Replacer
	short tokens
	// folded finds values of several words, whatever white space is between them; nil for none.
	folded *regexp.Regexp
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

// Redact returns the text with every known value, and the user part of URLs that authenticates, replaced by Mask.
func (r *Redactor) Redact(text string) string {
	if r == nil || text == "" {
		return text
	}
	m := r.masks()
	if m == nil {
		return hideURLs(text)
	}
	return hideURLs(m.short.mask(m.sweep(text)))
}

// Sweep is Redact without the values that are masked as whole tokens alone: for text that holds figures and words of our
// own, after what came from elsewhere in it has been redacted.
func (r *Redactor) Sweep(text string) string {
	if r == nil || text == "" {
		return text
	}
	m := r.masks()
	if m == nil {
		return hideURLs(text)
	}
	return hideURLs(m.sweep(text))
}

func (m *masks) sweep(text string) string {
	if m.long != nil {
		text = m.long.Replace(text)
	}
	if m.folded != nil {
		text = m.folded.ReplaceAllString(text, Mask)
	}
	return text
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
	var long, folded []string
	m := &masks{short: tokens{}}
	for form, token := range r.forms {
		m.max = max(m.max, len(form))
		if token {
			m.short[form] = true
			continue
		}
		long = append(long, form)
		if words := strings.Fields(form); len(words) > 1 && len(form) <= longestFolded {
			for i := range words {
				words[i] = regexp.QuoteMeta(words[i])
			}
			folded = append(folded, strings.Join(words, `(?:\s|\\[nrt])+`))
		}
	}
	m.folded = anyOf(folded)
	slices.SortFunc(long, byLength)
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

// Limits of what is looked for with other white space than its own: bytes of one form, bytes of all.
const (
	longestFolded = 4 << 10
	mostFolded    = 128 << 10
)

// anyOf is the expression that finds any of the patterns, the longest ones first; nil for none.
func anyOf(patterns []string) *regexp.Regexp {
	slices.SortFunc(patterns, byLength)
	size := 0
	patterns = slices.DeleteFunc(patterns, func(p string) bool { size += len(p); return size > mostFolded })
	if len(patterns) == 0 {
		return nil
	}
	re, err := regexp.Compile(strings.Join(patterns, "|"))
	if err != nil {
		return nil // too large; the forms themselves are masked all the same
	}
	return re
}

// byLength puts the longest text first: it counts where others begin at the same place.
func byLength(a, b string) int {
	if len(a) != len(b) {
		return len(b) - len(a)
	}
	return strings.Compare(a, b)
}

// tokens are forms too short to be masked inside words.
type tokens map[string]bool

// mask replaces tokens that have no letter, digit or underscore beside them.
func (t tokens) mask(text string) string {
	if len(t) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for i := 0; i < len(text); i++ {
		for n := min(shortestNumber-1, len(text)-i); n > 0; n-- {
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
