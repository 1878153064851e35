package release

import (
	"cmp"
	"time"
)

// Waiting is a release that is kept from clusters, and the command that it waits for. Its JSON form is public.
type Waiting struct {
	Release int       `json:"release"`
	Rollout string    `json:"rollout"`
	Author  string    `json:"author,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Wave is what waits for an approval, as people call it; Approved is that approval, where all of it has one.
	Wave     string `json:"wave,omitempty"`
	Approved *Word  `json:"approved,omitempty"`
	// Paused: somebody has paused the release.
	Paused *Word `json:"paused,omitempty"`
	// Next is the command that lets it go on.
	Next string `json:"next"`
	// Clusters are those that it is kept from.
	Clusters []string `json:"clusters"`
}

// Await is what keeps releases of a bundle from some of the clusters: a release that is paused, which holds all others, too, else the
// newest one; nil where nothing does, and where that was aborted.
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

// await is the release where it is kept from some of the clusters, nil where it is from none, and where it was aborted.
func (h Hold) await(bundle string, clusters []OnCluster) *Waiting {
	if h.Aborted != nil {
		return nil
	}
	out := &Waiting{Release: h.Release, Rollout: h.Rollout, Author: h.Author, Message: h.Message, Since: h.Since, Wave: h.Wave, Approved: h.Approved, Paused: h.Paused}
	for _, c := range clusters {
		if c.Hold != nil && c.Hold.Rollout == h.Rollout && (c.Hold.Wave != "" || c.Hold.Paused != nil) && !c.has(h.Rollout) {
			out.Clusters = append(out.Clusters, c.Cluster)
		}
	}
	if len(out.Clusters) == 0 {
		return nil
	}
	switch {
	case h.Paused != nil:
		out.Next = "hawser resume " + bundle
	case h.Approved == nil:
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
	case w.Paused != nil:
		return "paused " + w.Paused.String() + "; it goes on after: " + w.Next
	case w.Approved != nil:
		return w.Wave + " was approved " + w.Approved.String() + "; it goes on with: " + w.Next
	}
	return "waits for an approval of " + w.Wave + ", asked for by " + cmp.Or(w.Author, "somebody") + " since " + w.Since.UTC().Format(time.RFC3339) + ": " + w.Next
}
