package release

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

// Await is what keeps releases of a bundle from some of the clusters: a release that is paused, which holds all others, too, else the
// newest one; nil where nothing does.
func Await(bundle string, clusters []OnCluster) *Waiting {
	all := known(clusters)
	for _, h := range all {
		if w := h.await(bundle, clusters); w != nil && w.Paused != nil {
			return w
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[0].await(bundle, clusters)
}

// await is the release where it is kept from some of the clusters, nil where it is from none. One that was aborted is kept by that
// alone, whatever else was said of it.
func (h Hold) await(bundle string, clusters []OnCluster) *Waiting {
	out := &Waiting{Bundle: bundle, Release: h.Release, Rollout: h.Rollout, Author: h.Author, Message: h.Message, Since: h.Since, Wave: h.Wave, Approved: h.Approved, Paused: h.Paused, Aborted: h.Aborted}
	if out.Aborted != nil {
		out.Wave, out.Approved, out.Paused = "", nil, nil
	}
	for _, c := range clusters {
		if c.Hold == nil || c.Hold.Rollout != h.Rollout || !c.Hold.says() || c.has(h.Rollout) {
			continue
		}
		if out.Clusters = append(out.Clusters, c.Cluster); out.Closed == "" && out.Aborted == nil {
			out.Closed, out.Opens = c.Hold.Closed, c.Hold.Opens
		}
	}
	if len(out.Clusters) == 0 {
		return nil
	}
	switch {
	case out.Paused != nil:
		out.Next = "hawser resume " + bundle
	case out.Wave != "" && out.Approved == nil:
		out.Next = "hawser approve " + bundle
	default:
		out.Next = "hawser apply"
	}
	return out
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

// says reports whether the hold keeps its release from the cluster, or tells why it did not come.
func (h *Hold) says() bool {
	return h.Wave != "" || h.Paused != nil || h.Aborted != nil || h.Closed != ""
}
