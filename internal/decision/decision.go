// Package decision is what people decide of releases: that one is approved, paused, resumed or aborted, by whom, when and why, and the list
// of that which is kept when other releases follow.
//
// The package must not know how a release is kept back, nor where anything is stored.
package decision

import (
	"slices"
	"time"
)

// The verbs of decisions.
const (
	Approved = "approved"
	Paused   = "paused"
	Resumed  = "resumed"
	Aborted  = "aborted"
)

// most bounds how many decisions are kept of a bundle on a cluster; of more the oldest go.
const most = 50

// Word is what somebody said about a release.
type Word struct {
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Message string    `json:"message,omitempty"`
}

// String is "by ann@laptop at 2026-09-01T12:00:00Z: message".
func (w Word) String() string {
	out := "by " + w.By + " at " + w.At.UTC().Format(time.RFC3339)
	if w.Message != "" {
		out += ": " + w.Message
	}
	return out
}

// Is reports whether it is the very same word.
func (w Word) Is(other Word) bool {
	return w.By == other.By && w.Message == other.Message && w.At.Equal(other.At)
}

// Approval is that of one wave, as records keep it.
type Approval struct {
	Wave string `json:"wave"`
	Word
}

// Granted are the approvals that a release has, with those of one more wave, whose clusters each have one, or nil where the run goes past it: each
// once, and skipped for those. Run again it adds nothing: who went past the wave before has not done so anew.
func Granted(has []Approval, of []*Approval, skipped Approval) []Approval {
	for _, a := range of {
		same := func(o Approval) bool { return o.Wave == a.Wave && o.Is(a.Word) }
		if a == nil {
			a = &skipped
			same = func(o Approval) bool { return o.Wave == a.Wave && o.By == a.By && o.Message == a.Message }
		}
		if !slices.ContainsFunc(has, same) {
			has = append(has, *a)
		}
	}
	return has
}

// Decision is what somebody has decided of a release. Its JSON form is public.
type Decision struct {
	// Verb is approved, paused, resumed or aborted; Wave is the one that was approved, as people call it.
	Verb string `json:"verb"`
	Wave string `json:"wave,omitempty"`
	Word
	// Clusters are those that keep it; of one that is kept there is none.
	Clusters []string `json:"clusters,omitempty"`
}

// String is "approved wave 2 (production) by ann@laptop at 2026-09-01T12:00:00Z: message".
func (d Decision) String() string {
	out := d.Verb + " "
	if d.Wave != "" {
		out += d.Wave + " "
	}
	return out + d.Word.String()
}

// Same reports whether it is the very same decision, as several clusters keep it.
func (d Decision) Same(other Decision) bool {
	return d.Verb == other.Verb && d.Wave == other.Wave && d.Is(other.Word)
}

// Told is a release of which somebody has decided something, and what, the first decision first.
type Told struct {
	// Release, Rollout, Author, Message and Since are those of the release.
	Release int        `json:"release"`
	Rollout string     `json:"rollout"`
	Author  string     `json:"author,omitempty"`
	Message string     `json:"message,omitempty"`
	Since   time.Time  `json:"since,omitzero"`
	Said    []Decision `json:"said"`
}

// Aborted reports whether somebody gave the release up.
func (t Told) Aborted() bool {
	return slices.ContainsFunc(t.Said, func(d Decision) bool { return d.Verb == Aborted })
}

// AbortOf is the word that gave a release up, with the number of that, nil where the list has none.
func AbortOf(list []Told, rollout string) (number int, word *Word) {
	for _, t := range list {
		if i := slices.IndexFunc(t.Said, func(d Decision) bool { return d.Verb == Aborted }); i >= 0 && t.Rollout == rollout {
			return t.Release, &t.Said[i].Word
		}
	}
	return 0, nil
}

// Add is a list with one more decision of a release, as the newest, and without the oldest ones where they are too many. The list stays as it is.
func Add(list []Told, of Told, d Decision) []Told {
	if d.Verb != Approved {
		d.Wave = ""
	}
	out, n := []Told{}, 1
	for _, t := range list {
		if n += len(t.Said); t.Rollout == of.Rollout {
			of.Said = slices.Clone(t.Said)
		} else {
			out = append(out, t)
		}
	}
	of.Said = append(of.Said, d)
	out = append(out, of)
	for ; n > most; n-- {
		out = forget(out)
	}
	return out
}

// With is a list with the words that stand of a release, by verb, nil for none, where the list does not have them: who wrote those knew of none.
func With(list []Told, of Told, wave string, words map[string]*Word) []Told {
	at := slices.IndexFunc(list, func(t Told) bool { return t.Rollout == of.Rollout })
	var lack []Decision
	for verb, w := range words {
		if w != nil && (at < 0 || !slices.ContainsFunc(list[at].Said, func(d Decision) bool { return d.Verb == verb && d.Is(*w) })) {
			lack = append(lack, Decision{Verb: verb, Wave: wave, Word: *w})
		}
	}
	slices.SortFunc(lack, func(a, b Decision) int { return a.At.Compare(b.At) })
	for _, d := range lack {
		list = Add(list, of, d)
	}
	return list
}

// Fit is what encode makes of a list that is the only thing which may be shortened, without its oldest decisions as long as it is too large.
func Fit(list *[]Told, encode func() ([]byte, error)) ([]byte, error) {
	for {
		out, err := encode()
		if err == nil || len(*list) == 0 {
			return out, err
		}
		*list = forget(*list)
	}
}

// forget is a list without its oldest decision.
func forget(list []Told) []Told {
	first := list[0]
	if len(first.Said) < 2 {
		return list[1:]
	}
	first.Said = first.Said[1:]
	return append([]Told{first}, list[1:]...)
}

// Sound are those of a list that a release of a number up to the highest can have.
func Sound(list []Told, highest int) (out []Told) {
	for _, t := range list {
		if t.Rollout != "" && t.Release >= 0 && t.Release <= highest && len(t.Said) > 0 {
			out = append(out, t)
		}
	}
	return out
}
