package release

import (
	"cmp"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/decision"
)

// Waiting is a release that is kept from clusters, and the command that it waits for.
type Waiting = decision.Waiting

// Await is what keeps releases of a bundle from some of the clusters: a release that is paused, which holds all others, too, else the
// newest one, once for each wave that waits, the one that an approval is wanted for first; nil where nothing does.
func Await(bundle string, clusters []OnCluster) (newest []*Waiting) {
	for i, h := range known(clusters) {
		switch w := h.await(bundle, clusters); {
		case len(w) > 0 && w[0].Paused != nil:
			return w
		case i == 0:
			newest = w
		}
	}
	return newest
}

// await is the release where it is kept from some of the clusters, by what each of them waits for. One that was aborted is kept by that
// alone, whatever else was said of it, and so is one that is paused.
func (h Hold) await(bundle string, clusters []OnCluster) (out []*Waiting) {
	for _, c := range clusters {
		if c.Hold == nil || c.Hold.Rollout != h.Rollout || !c.Hold.says() || c.has(h.Rollout) {
			continue
		}
		w := &Waiting{Bundle: bundle, Release: h.Release, Rollout: h.Rollout, Author: h.Author, Message: h.Message, Since: h.Since, Wave: c.Hold.Wave, Approved: c.Hold.Approved,
			Closed: c.Hold.Closed, Opens: c.Hold.Opens, Paused: h.Paused, Aborted: h.Aborted}
		switch {
		case w.Aborted != nil:
			w.Wave, w.Approved, w.Closed, w.Opens, w.Paused = "", nil, "", nil, nil
		case w.Paused != nil: // it is told once, with the wave that waits
			w.Wave, w.Approved = h.Wave, h.Approved
		}
		i := slices.IndexFunc(out, func(o *Waiting) bool { return o.Paused != nil || o.Wave == w.Wave && o.Closed == w.Closed })
		if i < 0 {
			i, out = len(out), append(out, w)
		}
		out[i].Clusters = append(out[i].Clusters, c.Cluster)
		if w.Approved == nil {
			out[i].Approved = nil
		}
		switch w = out[i]; {
		case w.Paused != nil:
			w.Next = "hawser resume " + bundle
		case w.Wave != "" && w.Approved == nil:
			w.Next = "hawser approve " + bundle
		default:
			w.Next = "hawser apply"
		}
	}
	slices.SortStableFunc(out, func(a, b *Waiting) int {
		return cmp.Compare(map[bool]int{true: 1}[b.Wave == h.Wave], map[bool]int{true: 1}[a.Wave == h.Wave])
	})
	nameWaves(out)
	return out
}

// nameWaves has the commands that approve name their waves, where there are several: without a name it is the first one.
func nameWaves(all []*Waiting) {
	asked := slices.DeleteFunc(slices.Clone(all), func(w *Waiting) bool { return w.Paused != nil || w.Wave == "" || w.Approved != nil })
	for _, w := range asked {
		if n := waveNumber(w.Wave); n > 0 && len(asked) > 1 {
			w.Next += fmt.Sprintf(" --wave %d", n)
		}
	}
}

// says reports whether the hold keeps its release from the cluster, or tells why it did not come.
func (h *Hold) says() bool {
	return h.Wave != "" || h.Paused != nil || h.Aborted != nil || h.Closed != ""
}
