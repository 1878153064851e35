package redact

import (
	"slices"
	"strings"
)

// source is a value that an instance takes, and what it is called where it comes from.
type source struct{ instance, value, name string }

// Called says where a value of an instance comes from, as a reference names it (ref://NAME): that may be told wherever the value is hidden.
func (r *Redactor) Called(instance, value, name string) {
	if r == nil || value == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := (source{instance, value, name}); !slices.Contains(r.sources, s) {
		r.sources = append(r.sources, s)
	}
}

// Sources are what the values are called that an instance takes and that are, or stand in, a text; in order of name, each once.
func (r *Redactor) Sources(instance, text string) (names []string) {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, s := range r.sources {
		if s.instance == instance && (text == s.value || len(s.value) >= shortestPiece && strings.Contains(text, s.value)) {
			names = append(names, s.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
