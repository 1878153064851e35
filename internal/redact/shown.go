package redact

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxShown bounds the texts that are shown.
const maxShown = 1 << 20

// Show shows texts that stand in objects of an instance where nothing is secret, "" for those that are shown even where the instance itself
// takes such a secret: Sweep hides nothing in one that stands whole in what it is given, in quotes, in brackets, between blanks, or
// escaped for JSON. Whoever chooses a secret so that it equals one of them hides nothing.
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
		if of, there := r.shown[text]; (there || len(r.shown) < maxShown) && !slices.Contains(of, instance) {
			r.shown[text] = append(of, instance)
		}
	}
}

// isShown reports whether a text is one of those, for an instance that does not take a secret in it itself.
func (r *Redactor) isShown(text string) bool {
	r.mu.RLock()
	of := r.shown[text]
	r.mu.RUnlock()
	return slices.ContainsFunc(of, func(instance string) bool { return instance == "" || r.Own(instance, text) == text })
}

// ends are what a text may stand between, the widest first.
var ends = []string{"\"\n", "[]\n", " \t\n", "\"'`\\[](){}<>,;= \t\n"}

// longestShown is how far around a span the ends of a text are looked for, in bytes.
const longestShown = 1 << 10

// unshown are the spans of a text that are not part of a text that is shown.
func (r *Redactor) unshown(text string, spans []span) []span {
	r.mu.RLock()
	none := len(r.shown) == 0
	r.mu.RUnlock()
	if none {
		return spans
	}
	return slices.DeleteFunc(spans, func(s span) bool {
		before, behind := text[max(0, s.from-longestShown):s.from], text[s.to:min(len(text), s.to+longestShown)]
		return slices.ContainsFunc(ends, func(ends string) bool {
			from := s.from - len(before) + strings.LastIndexAny(before, ends) + 1
			to := s.to + len(behind)
			if i := strings.IndexAny(behind, ends); i >= 0 {
				to = s.to + i
			}
			whole := strings.TrimRight(text[from:to], `\`)
			if r.isShown(whole) {
				return true
			}
			var plain string
			return strings.Contains(whole, `\`) && json.Unmarshal([]byte(`"`+whole+`"`), &plain) == nil && r.isShown(plain)
		})
	})
}
