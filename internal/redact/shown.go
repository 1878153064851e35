package redact

import (
	"encoding/json"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
)

// maxShown bounds the texts that are shown.
const maxShown = 1 << 20

// Show shows texts that stand in objects of an instance where nothing is secret, "" for those that are shown even where the instance itself
// takes such a secret: Sweep hides nothing of one that stands whole in what it is given, or of a line of it: in quotes, in brackets, between
// blanks or slashes, on a line of its own, or escaped for JSON. Whoever chooses a secret so that it equals one of them, or holds one between
// quotes or blanks, hides nothing of it. What is said about an instance (Said, Told) hides the secrets that it takes itself all the same: what is shown
// of others may equal one.
func (r *Redactor) Show(instance string, texts ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown == nil {
		r.shown = map[string][]string{}
	}
	for _, text := range texts {
		r.show(instance, text)
		if strings.Contains(text, "\n") {
			for line := range strings.Lines(text) {
				r.show(instance, strings.TrimSpace(line))
			}
		}
	}
}

func (r *Redactor) show(instance, text string) {
	if of, there := r.shown[text]; text != "" && (there || len(r.shown) < maxShown) && !slices.Contains(of, instance) {
		r.shown[text] = append(of, instance)
	}
}

// shows is how a part of a line is shown: not at all, where all that is hidden lies in it, or whatever is hidden around it.
type shows int

const (
	never shows = iota
	narrowly
	widely
)

// isShown reports how a text is shown in what is said about an instance, "" for none: one of Show, for an instance that does not take a secret in
// it itself, or one of ShowMasked; neither is where the instance that is spoken about takes a secret in it.
func (r *Redactor) isShown(about, text string) shows {
	r.mu.RLock()
	of, left := r.shown[text], r.left[text]
	r.mu.RUnlock()
	if slices.Contains(of, "") {
		return widely
	}
	plain := func(text string) bool { return about == "" || r.Own(about, text) == text }
	if slices.ContainsFunc(of, func(instance string) bool { return r.Own(instance, text) == text }) && plain(text) {
		return widely
	}
	out := never
	for _, l := range left {
		if r.open(l, text, plain) {
			out = max(out, l.kind.shows())
		}
	}
	return out
}

// parts are the ways in which a line is parted into texts that may be shown: each gives the end of the one that a line begins with. The first
// wide ones also part what is hidden; the narrow ones do not, so that nobody finds out what a secret is made of by guessing parts of it.
var parts = []func(line string) int{
	func(line string) int { return len(line) },
	upToQuote,
	until("\""),
	until("[]"),
	until(" \t"),
	until("\"'`\\[](){}<>,;= \t"),
	until("\"'`\\[](){}<>,;= \t/"),
}

// wide is how many of the parts are wide.
const wide = 5

// until parts at any of some characters.
func until(ends string) func(string) int {
	return func(line string) int {
		if i := strings.IndexAny(line, ends); i >= 0 {
			return i
		}
		return len(line)
	}
}

// upToQuote parts at quotes that are not escaped.
func upToQuote(line string) int {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(line)
}

// unshown is what spans of a text about an instance hide without what is shown.
func (r *Redactor) unshown(about, text string, spans []span) []span {
	r.mu.RLock()
	none := len(r.shown)+len(r.left) == 0
	r.mu.RUnlock()
	if none || len(spans) == 0 {
		return spans
	}
	spans = union(spans)
	for i, part := range parts {
		spans = r.without(about, text, spans, part, i < wide, i == 1 || i == 2)
	}
	return inked(text, spans)
}

// inked are spans without the blanks and line ends at their own ends: where a line ends is no secret.
func inked(text string, spans []span) (out []span) {
	for _, s := range spans {
		s.from = s.to - len(strings.TrimLeft(text[s.from:s.to], " \t\r\n"))
		s.to = s.from + len(strings.TrimRight(text[s.from:s.to], " \t\r\n"))
		if s.from < s.to {
			out = append(out, s)
		}
	}
	return out
}

// without is what spans hide without what is shown when lines are parted in one way; where that is not wide, no less than a whole span is shown.
// A text that stands for itself alone is shown likewise where it is not in quotes. It reads each byte of the text a few times at most.
func (r *Redactor) without(about, text string, spans []span, part func(string) int, wide, quotes bool) (out []span) {
	at, end, line, shown := 0, -1, -1, never // the part that was looked at last, what ends it and its line, and whether it is shown
	for _, s := range spans {
		for whole := s; s.from < s.to; {
			next := end < s.from
			if next {
				end += strings.LastIndexByte(text[end+1:s.from], '\n') + 1 // lines before are not looked at
			}
			for end < s.from {
				at = end + 1
				if line < at {
					if line = strings.IndexByte(text[at:], '\n') + at; line < at {
						line = len(text)
					}
				}
				end = at + part(text[at:line])
			}
			if next {
				shown = r.isWhole(about, text[at:end])
			}
			whole := at <= whole.from && whole.to <= end
			if to := min(end, s.to); to > s.from && shown > never && (whole || wide && (shown == widely || quotes)) {
				s.from = to
				continue
			}
			to := min(max(end, s.from+1), s.to) // what ends a part is in none
			out, s.from = hidden(out, span{from: s.from, to: to}), to
		}
	}
	return out
}

// isWhole reports how a part of a line is shown: as it stands, or escaped for JSON.
func (r *Redactor) isWhole(about, part string) shows {
	out := r.isShown(about, part)
	if strings.Contains(part, `\`) {
		whole, plain := strings.TrimRight(part, `\`), ""
		if out = max(out, r.isShown(about, whole)); json.Unmarshal([]byte(`"`+whole+`"`), &plain) == nil {
			out = max(out, r.isShown(about, plain))
		}
	}
	return out
}

// hidden are spans with one more, which is one with the last where they touch.
func hidden(spans []span, s span) []span {
	if n := len(spans); n > 0 && spans[n-1].to == s.from {
		spans[n-1].to = s.to
		return spans
	}
	return append(spans, s)
}

// position is where something stands in a file: the name of one of a kind that we read, line and column.
var position = lazyregexp.New(`\.(?:cue|ya?ml|json|tpl|txt|env|toml)(?::[0-9]{1,7}){1,2}\b`)

// unplaced are spans without numbers of lines and columns: those tell nothing of a secret that they equal.
func unplaced(text string, spans []span) []span {
	if len(spans) == 0 || !strings.Contains(text, ":") {
		return spans
	}
	places := position.FindAllStringIndex(text, -1)
	return slices.DeleteFunc(slices.Clone(spans), func(s span) bool {
		return strings.Trim(text[s.from:s.to], "0123456789:") == "" && slices.ContainsFunc(places, func(at []int) bool { return at[0] < s.from && s.to <= at[1] })
	})
}
