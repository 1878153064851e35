package history

import (
	"slices"

	"hawser.dev/hawser/internal/release"
)

// Await adds to the histories of bundles what their newest releases wait for: one that came nowhere yet has a row of its own, in which every
// cluster stands where it stood. owner is the id of a bundle's owner.
func (h *History) Await(owner func(bundle string) string, clusters []Cluster, all ...*release.Waiting) {
	for _, w := range all {
		h.await(owner(w.Bundle), w, clusters)
	}
}

func (h *History) await(owner string, w *release.Waiting, clusters []Cluster) {
	of := slices.IndexFunc(h.Bundles, func(b Bundle) bool { return b.Bundle == w.Bundle })
	if of < 0 {
		if of = slices.IndexFunc(h.Bundles, func(b Bundle) bool { return b.Bundle > w.Bundle }); of < 0 {
			of = len(h.Bundles)
		}
		h.Bundles = slices.Insert(h.Bundles, of, Bundle{Bundle: w.Bundle, Owner: owner})
	}
	b := &h.Bundles[of]
	state := Waiting
	if w.Aborted != nil {
		state = Aborted
	}
	at := slices.IndexFunc(b.Releases, func(r Release) bool { return r.Rollout == w.Rollout })
	if at < 0 {
		row := Release{Release: w.Release, Rollout: w.Rollout, State: state, Started: w.Since, Author: w.Author, Message: w.Message}
		for i, c := range clusters {
			st := Standing{Cluster: c.Name, Group: c.Group}
			if len(b.Releases) > 0 {
				st = b.Releases[0].Clusters[i]
				st.In, st.Unchanged, st.Done, st.Instances, st.Origins = false, false, row.Done, nil, nil
			}
			row.Clusters = append(row.Clusters, st)
		}
		at, b.Releases = 0, slices.Insert(b.Releases, 0, row)
	}
	r := &b.Releases[at]
	if r.Waits = w; slices.Contains([]State{Succeeded, Written, Pending, Superseded}, r.State) {
		r.State = state
	}
}
