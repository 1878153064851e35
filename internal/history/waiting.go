package history

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
)

// Await adds to the histories of bundles what their newest releases wait for, and what was decided of all that there were: one that came nowhere
// yet, or was aborted before it did, has a row of its own, in which every cluster stands where it stood. owner is the id of a bundle's owner.
func (h *History) Await(owner func(bundle string) string, clusters []Cluster, all ...*release.Waiting) {
	for _, w := range all {
		h.await(owner(w.Bundle), w, clusters)
	}
	h.tell(clusters)
}

func (h *History) await(owner string, w *release.Waiting, clusters []Cluster) {
	b := h.bundle(w.Bundle, owner)
	state := Waiting
	if w.Aborted != nil {
		state = Aborted
	}
	at := slices.IndexFunc(b.Releases, func(r Release) bool { return r.Rollout == w.Rollout })
	if at < 0 {
		at = 0
		b.nowhere(at, Release{Release: w.Release, Rollout: w.Rollout, State: state, Started: w.Since, Author: w.Author, Message: w.Message}, clusters)
	}
	r := &b.Releases[at]
	if r.Waits == nil {
		r.Waits = w
	} else {
		r.AlsoWaits = append(r.AlsoWaits, w)
	}
	if r.State.over() && !r.cameTo(w.Clusters) {
		r.State = state
	}
}

// cameTo reports whether the release came to all of the clusters: what it waits for there is that somebody looks at it, as nobody could after its
// soak, and that is no other state of it.
func (r Release) cameTo(clusters []string) bool {
	return !slices.ContainsFunc(clusters, func(name string) bool {
		return !slices.ContainsFunc(r.Clusters, func(c Standing) bool { return c.Cluster == name && c.In && c.Phase.Complete() })
	})
}

// Awaits is everything that the release waits for, one after another; of several waits each with the clusters that it is kept from.
func (r Release) Awaits() string {
	if len(r.AlsoWaits) == 0 {
		return r.Waits.String()
	}
	var out []string
	for _, w := range append([]*release.Waiting{r.Waits}, r.AlsoWaits...) {
		out = append(out, diag.Few(w.Clusters)+": "+w.String())
	}
	return strings.Join(out, "; ")
}

// over reports whether a release has ended well, so that what people said of it tells more.
func (s State) over() bool {
	return slices.Contains([]State{Succeeded, Written, Pending, Superseded}, s)
}

// bundle is the history of the bundle of that name, which is there from then on.
func (h *History) bundle(name, owner string) *Bundle {
	of := slices.IndexFunc(h.Bundles, func(b Bundle) bool { return b.Bundle == name })
	if of < 0 {
		if of = slices.IndexFunc(h.Bundles, func(b Bundle) bool { return b.Bundle > name }); of < 0 {
			of = len(h.Bundles)
		}
		h.Bundles = slices.Insert(h.Bundles, of, Bundle{Bundle: name, Owner: owner})
	}
	return &h.Bundles[of]
}

// nowhere puts a release that came nowhere before the one at a place, as which the clusters stand.
func (b *Bundle) nowhere(at int, row Release, clusters []Cluster) {
	for i, c := range clusters {
		st := Standing{Cluster: c.Name, Group: c.Group}
		if at < len(b.Releases) {
			st = b.Releases[at].Clusters[i]
			st.In, st.Unchanged, st.Done, st.Instances, st.Origins, st.Corrections, st.InProgress = false, false, row.Done, nil, nil, nil, ""
		}
		row.Clusters = append(row.Clusters, st)
	}
	b.Releases = slices.Insert(b.Releases, at, row)
}
