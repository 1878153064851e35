package chance

import (
	"encoding/base64"
	"slices"
)

// Book finds the kept answers of the calls of one render. It is used by one goroutine, for one render.
type Book struct {
	answers Answers
	taken   []bool
	present func(Call) bool
}

// NewBook opens the book. present reports whether the sources still hold a call at this place: same template, function
// and line. It decides whether an answer may follow its call to another line.
func NewBook(kept Answers, present func(Call) bool) *Book {
	return &Book{answers: Answers{Calls: slices.Clone(kept.Calls), Secrets: kept.Secrets}, taken: make([]bool, len(kept.Calls)), present: present}
}

// Hold leaves the answers to nobody that stand in what look-ups find: they belong to those keys.
func (b *Book) Hold(found Entries) {
	held := map[string]bool{}
	for _, entries := range found {
		for _, value := range entries {
			if text, err := base64.StdEncoding.DecodeString(value); err == nil {
				held[string(text)] = true
			}
			held[value] = true
		}
	}
	for i, c := range b.answers.Calls {
		if held[c.Value] {
			b.taken[i] = true
		}
	}
}

// Find gives the kept answer of a call; it is nobody else's from then on. It is the first of those with the same
// template, function, arguments and line; else the first whose line is no longer there, which has moved.
func (b *Book) Find(c Call) (value string, ok bool) {
	at := slices.IndexFunc(b.free(), func(i int) bool { k := b.answers.Calls[i]; return c.Same(k) && k.Line == c.Line })
	if at < 0 {
		at = slices.IndexFunc(b.free(), func(i int) bool { k := b.answers.Calls[i]; return c.Same(k) && !b.present(k) })
	}
	if at < 0 {
		return "", false
	}
	i := b.free()[at]
	b.taken[i], b.answers.Calls[i].Line = true, c.Line
	return b.answers.Calls[i].Value, true
}

func (b *Book) free() []int {
	var out []int
	for i, taken := range b.taken {
		if !taken {
			out = append(out, i)
		}
	}
	return out
}

// Add keeps a new answer.
func (b *Book) Add(c Call) {
	b.answers.Calls, b.taken = append(b.answers.Calls, c), append(b.taken, true)
}

// Answers are all the book holds now: the old ones, also those that nobody asked for, and the new ones.
func (b *Book) Answers() Answers { return b.answers }
