package history

import (
	"slices"

	"hawser.dev/hawser/internal/release"
)

// Await adds to the history of one bundle what its newest release waits for, nil for nothing: one that came nowhere yet has a row of its
// own, in which every cluster stands where it stood.
func (h *History) Await(bundle, owner string, w *release.Waiting, clusters []Cluster) {
	if w == nil {
		return
	}
	if len(h.Bundles) == 0 {
		h.Bundles = []Bundle{{Bundle: bundle, Owner: owner}}
	}
	b := &h.Bundles[0]
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
