package release

import "hawser.dev/hawser/internal/decision"

// Waiting is a release that is kept from clusters, and the command that it waits for.
type Waiting = decision.Waiting

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

// says reports whether the hold keeps its release from the cluster, or tells why it did not come.
func (h *Hold) says() bool {
	return h.Wave != "" || h.Paused != nil || h.Aborted != nil || h.Closed != ""
}
