package redact

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// span is a part of a text, [from, to).
type span struct{ from, to int }

// union are spans in order, those that overlap or touch made one: where one secret ends and another begins is not told.
func union(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// hide writes Mask for the spans, which may overlap.
func hide(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	last := 0
	for _, s := range union(spans) {
		b.WriteString(text[last:s.from])
		b.WriteString(Mask)
		last = s.to
	}
	return b.String() + text[last:]
}

// where says in which surroundings a form counts.
type where int

const (
	anywhere where = iota // inside of words, too
	alone                 // as a whole token
	quotedly              // as a whole token that stands in quotes, or is all of the text
	enclosed              // as a whole token that stands in quotes or brackets
)

// finder finds every occurrence of many forms at once: a sorted list, and for each form the longest other one that it
// begins with. The time it takes grows with the text, not with the number of forms.
type finder struct {
	forms []string
	where []where
	start []int // the longest form that this one begins with, -1
	first [256]bool
	// pairs are the two bytes that forms begin with, single the forms of one: most places of a text are told by these.
	pairs  [1 << 10]uint64
	single [256]bool
	// folded finds forms of several words, whatever white space is between them: in a text in which it is one blank.
	folded *finder
	// escaped finds forms that have escapes themselves, in a text whose escapes are undone, as theirs are.
	escaped *finder
	numbers map[float64]bool
}

func newFinder(forms map[string]where, numbers map[float64]bool) *finder {
	f := sorted(withDigits(forms, numbers))
	f.numbers = numbers
	words := map[string]where{}
	for form, w := range forms {
		if joined, _ := fold(form); strings.Contains(strings.TrimSpace(joined), " ") {
			if old, ok := words[strings.TrimSpace(joined)]; !ok || w < old {
				words[strings.TrimSpace(joined)] = w
			}
		}
	}
	if len(words) > 0 {
		f.folded = sorted(words)
	}
	plain := map[string]where{}
	for form, w := range forms {
		for range derivedDepth {
			text, at := unescape(form)
			if at == nil || strings.TrimSpace(text) == "" {
				break
			}
			if len(text) < shortest {
				w = max(w, alone)
			}
			if old, ok := plain[text]; !ok || w < old {
				plain[text] = w
			}
			form = text
		}
	}
	if len(plain) > 0 {
		f.escaped = sorted(plain)
	}
	return f
}

func sorted(forms map[string]where) *finder {
	f := &finder{forms: make([]string, 0, len(forms))}
	for form := range forms {
		f.forms = append(f.forms, form)
	}
	slices.Sort(f.forms)
	f.where, f.start = make([]where, len(f.forms)), make([]int, len(f.forms))
	var open []int // each begins with the one before
	for i, form := range f.forms {
		f.first[form[0]] = true
		if len(form) == 1 {
			f.single[form[0]] = true
		} else {
			word, bit := pair(form)
			f.pairs[word] |= bit
		}
		f.where[i] = forms[form]
		for len(open) > 0 && !strings.HasPrefix(form, f.forms[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		f.start[i] = -1
		if len(open) > 0 {
			f.start[i] = open[len(open)-1]
		}
		open = append(open, i)
	}
	return f
}

// spans are the parts of a text that must not be seen.
func (f *finder) spans(text string) []span {
	if len(f.forms) == 0 && len(f.numbers) == 0 {
		return nil
	}
	return f.read(text, derivedDepth)
}

// read finds what must not be seen in a text, in what it stands for without escapes, and in its runs of base64: each of these is
// hidden as a whole, as what is left of it would tell of the rest. Escapes and base64 are undone as often as depth says: a text is
// looked at once for each of their orders, and never becomes longer.
func (f *finder) read(text string, depth int) []span {
	out := numberSpans(text, f.numbers, f.exact(text, nil))
	if f.folded != nil {
		joined, at := fold(text)
		for _, s := range f.folded.exact(joined, nil) {
			if at != nil {
				s = span{at[s.from], at[s.to-1] + 1}
			}
			out = append(out, s)
		}
	}
	if f.escaped != nil && depth < derivedDepth {
		out = f.escaped.exact(text, out)
	}
	if depth == 0 {
		return out
	}
	if plain, at := unescape(text); at != nil {
		for _, s := range f.read(plain, depth-1) {
			out = append(out, span{at[s.from], at[s.to]})
		}
	}
	out = append(out, f.runs(text, nil, depth)...)
	if joined, at := unwrap(text); at != nil {
		for _, s := range append(f.matches(joined, nil, anywhere), f.runs(joined, at, depth)...) {
			if crosses(at, s.from, s.to) {
				out = append(out, span{at[s.from], at[s.to-1] + 1})
			}
		}
	}
	return out
}

func (f *finder) exact(text string, out []span) []span { return f.matches(text, out, enclosed) }

// matches finds the forms that count in surroundings up to the given ones.
func (f *finder) matches(text string, out []span, most where) []span {
	if len(f.forms) == 0 {
		return out
	}
	for i := range len(text) {
		if !f.first[text[i]] {
			continue
		}
		rest := text[i:]
		if !f.single[rest[0]] {
			if len(rest) == 1 {
				continue
			}
			if word, bit := pair(rest); f.pairs[word]&bit == 0 {
				continue
			}
		}
		// all forms that rest begins with are the last one that is not behind it, or what that begins with
		k := sort.Search(len(f.forms), func(n int) bool { return f.forms[n] > rest }) - 1
		for ; k >= 0; k = f.start[k] {
			if form := f.forms[k]; f.where[k] <= most && strings.HasPrefix(rest, form) && f.where[k].fits(text, i, i+len(form)) {
				out = append(out, span{i, i + len(form)})
				break
			}
		}
	}
	return out
}

// pair is the place of a text's first two bytes among all such pairs.
func pair(text string) (word int, bit uint64) {
	n := int(text[0])<<8 | int(text[1])
	return n >> 6, 1 << (n & 63)
}

func (w where) fits(text string, from, to int) bool {
	switch w {
	case alone:
		return !wordBefore(text, from) && !wordAfter(text, to)
	case quotedly:
		if from == 0 && to == len(text) {
			return true
		}
		return from > 0 && to < len(text) && text[from-1] == text[to] && strings.IndexByte("\"'`", text[to]) >= 0
	case enclosed:
		return from > 0 && to < len(text) && (text[from-1] == text[to] && strings.IndexByte("\"'`", text[to]) >= 0 || text[from-1] == '[' && text[to] == ']')
	}
	return true
}

// fold makes one blank of every run of white space, also where it is written as an escape; at are the places of the bytes
// in the text; nil where there is one blank everywhere already.
func fold(text string) (string, []int) {
	first := 0 // what is before is as it shall be
	for first < len(text) && (blank(text, first) == 0 || text[first] == ' ' && blank(text, first+1) == 0) {
		first++
	}
	if first == len(text) {
		return text, nil
	}
	var b strings.Builder
	b.Grow(len(text))
	b.WriteString(text[:first])
	at := make([]int, first, len(text))
	for i := range at {
		at[i] = i
	}
	for i := first; i < len(text); {
		n := blank(text, i)
		if n == 0 {
			b.WriteByte(text[i])
			at = append(at, i)
			i++
			continue
		}
		start := i
		for ; n > 0; n = blank(text, i) {
			i += n
		}
		b.WriteByte(' ')
		at = append(at, start)
	}
	return b.String(), at
}

// blank is the number of bytes of white space at a place, 0 for none.
func blank(text string, i int) int {
	if i >= len(text) {
		return 0
	}
	switch text[i] {
	case ' ', '\t', '\n', '\r', '\f', '\v':
		return 1
	case '\\':
		if i+1 < len(text) && strings.IndexByte("nrt", text[i+1]) >= 0 {
			return 2
		}
	}
	return 0
}

func wordBefore(text string, i int) bool {
	r, n := utf8.DecodeLastRuneInString(text[:i])
	return n > 0 && isWord(r)
}

func wordAfter(text string, i int) bool {
	r, n := utf8.DecodeRuneInString(text[i:])
	return n > 0 && isWord(r)
}
