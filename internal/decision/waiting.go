package decision

import (
	"cmp"
	"time"
)

// Waiting is a release that is kept from clusters, and the command that it waits for. Its JSON form is public.
type Waiting struct {
	Bundle  string    `json:"-"` // who shows it knows
	Release int       `json:"release"`
	Rollout string    `json:"rollout"`
	Author  string    `json:"author,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Wave is what waits for an approval, as people call it; Approved is that approval, where all of it has one.
	Wave     string `json:"wave,omitempty"`
	Approved *Word  `json:"approved,omitempty"`
	// Paused: somebody has paused the release. Aborted: somebody has given it up, so that it comes to them no more.
	Paused  *Word `json:"paused,omitempty"`
	Aborted *Word `json:"aborted,omitempty"`
	// Closed is the wave whose window the release came to when it was closed, Opens when that opens.
	Closed string     `json:"closed,omitempty"`
	Opens  *time.Time `json:"opens,omitempty"`
	// Next is the command that lets it go on; of one that was aborted, that begins another one.
	Next string `json:"next"`
	// Clusters are those that it is kept from.
	Clusters []string `json:"clusters"`
}

// String is what it waits for: "waits for an approval of wave 2 (production), asked for by ann@laptop since 2026-09-01T12:00:00Z: hawser
// approve shop". A nil one is "".
func (w *Waiting) String() string {
	switch {
	case w == nil:
		return ""
	case w.Aborted != nil:
		return "aborted " + w.Aborted.String() + "; the same files applied are another release: " + w.Next
	case w.Paused != nil:
		return "paused " + w.Paused.String() + "; it goes on after: " + w.Next
	case w.Closed != "" && w.Opens != nil && (w.Wave == "" || w.Approved != nil):
		return "waits for the window of " + w.Closed + ", which opens " + w.Opens.UTC().Format("Mon 2006-01-02 15:04 MST") + "; it goes on then with: " + w.Next
	case w.Approved != nil:
		return w.Wave + " was approved " + w.Approved.String() + "; it goes on with: " + w.Next
	}
	return "waits for an approval of " + w.Wave + ", asked for by " + cmp.Or(w.Author, "somebody") + " since " + w.Since.UTC().Format(time.RFC3339) + ": " + w.Next
}
