package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/decision"
	"hawser.dev/hawser/internal/diag"
)

// told are the releases of a bundle of which somebody decided something, each once, with all decisions that any cluster keeps.
func told(owner string, clusters []Cluster) (out []decision.Told) {
	for _, c := range clusters {
		for _, h := range c.Held {
			if h.Owner != owner {
				continue
			}
			for _, t := range h.Decisions() {
				at := slices.IndexFunc(out, func(o decision.Told) bool { return o.Rollout == t.Rollout })
				if at < 0 {
					at = len(out)
					as := t
					as.Said = nil
					out = append(out, as)
				}
				out[at].Said = also(out[at].Said, t.Said, c.Name)
			}
		}
	}
	return out
}

// also are decisions with those that one more cluster keeps, the first one first.
func also(all, said []decision.Decision, cluster string) []decision.Decision {
	for _, d := range said {
		i := slices.IndexFunc(all, d.Same)
		if i < 0 {
			i, d.Clusters = len(all), nil
			all = append(all, d)
		}
		if !slices.Contains(all[i].Clusters, cluster) {
			all[i].Clusters = append(all[i].Clusters, cluster)
		}
	}
	slices.SortStableFunc(all, func(a, b decision.Decision) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Verb, b.Verb))
	})
	return all
}

// tell adds what people decided to the releases of all bundles. One that was aborted stays that when newer ones come.
func (h *History) tell(clusters []Cluster) {
	names := map[string]string{} // by owner
	for _, c := range clusters {
		for _, hold := range c.Held {
			names[hold.Owner] = hold.Bundle
		}
	}
	for owner, name := range names {
		for _, t := range told(owner, clusters) {
			h.decided(name, owner, t, clusters)
		}
	}
}

func (h *History) decided(name, owner string, t decision.Told, clusters []Cluster) {
	has := func(r Release) bool { return r.Rollout == t.Rollout }
	if !t.Aborted() && !slices.ContainsFunc(h.Bundles, func(b Bundle) bool { return b.Bundle == name && slices.ContainsFunc(b.Releases, has) }) {
		return // it came nowhere, and another one took its place
	}
	b := h.bundle(name, owner)
	at := slices.IndexFunc(b.Releases, has)
	if at < 0 {
		if at = slices.IndexFunc(b.Releases, func(r Release) bool { return r.Release < t.Release }); at < 0 {
			at = len(b.Releases)
		}
		b.nowhere(at, Release{Release: t.Release, Rollout: t.Rollout, State: Aborted, Started: t.Since, Author: t.Author, Message: t.Message}, clusters)
	}
	r := &b.Releases[at]
	if r.Decisions = t.Said; r.State.over() && r.gaveUp(t) {
		r.State = Aborted
	}
}

// gaveUp reports whether somebody gave the release up before it came everywhere, as far as that is known, and was seen to be well after its soak: nobody could, after that, and who
// writes such a word then does not change what the release is called, nor where a rollback goes.
func (r Release) gaveUp(t decision.Told) bool {
	return t.Aborted() && slices.ContainsFunc(r.Clusters, func(c Standing) bool {
		return c.Unknown == "" && !c.Unchanged && !(c.In && c.Phase.Complete() && !c.unjudged)
	})
}

// Decided is what people decided of the release, besides what it is said to wait for: "aborted by ann@laptop at ...: message; ...".
func (r Release) Decided() string {
	waits := r.Awaits()
	var out []string
	for _, d := range r.Decisions {
		if !strings.Contains(waits, d.Word.String()) {
			out = append(out, d.String())
		}
	}
	return strings.Join(out, "; ")
}

// givenUp makes Aborted the state of those releases of the one bundle that somebody gave up after they had succeeded where they came to. It
// returns, by rollout, what one should know who goes back to a release that was given up.
func (h *History) givenUp(clusters []Cluster) map[string]diag.Findings {
	out, b := map[string]diag.Findings{}, h.Bundles[0]
	for _, t := range told(b.Owner, clusters) {
		at := slices.IndexFunc(b.Releases, func(r Release) bool { return r.Rollout == t.Rollout })
		if at < 0 || !b.Releases[at].gaveUp(t) {
			continue
		}
		r := &b.Releases[at]
		if r.Decisions = t.Said; r.State.over() {
			r.State = Aborted
		}
		f := diag.Warnf("aborted-release", "release %s was aborted %s", r.Name(), r.abort().Word)
		f.Why = "somebody gave it up, and it is gone back to"
		f.Fix = "if that is not meant, choose another release with --to; hawser history shows which there are"
		out[t.Rollout] = diag.Findings{f}
	}
	return out
}

// abort is the first word that gave the release up, with all clusters that keep one.
func (r Release) abort() (out decision.Decision) {
	for _, d := range slices.Backward(r.Decisions) {
		if d.Verb == decision.Aborted {
			d.Clusters = slices.Concat(d.Clusters, out.Clusters)
			out = d
		}
	}
	return out
}

// passedOver says which releases a rollback passes over because they were aborted, on the word of which clusters; an error where others that had the
// bundle then, and that the release did not come to, know nothing of it: the word of one does not choose for all.
func (h *History) passedOver(found string) (out diag.Findings, err error) {
	for _, r := range h.Bundles[0].Releases[1:] {
		if r.Rollout == found {
			break
		}
		word, silent := r.abort(), []string{}
		if r.State != Aborted {
			continue
		}
		for _, c := range r.Clusters {
			if !c.In && !c.Unchanged && c.Unknown == "" && c.Rollout != "" && !slices.Contains(word.Clusters, c.Cluster) {
				silent = append(silent, c.Cluster)
			}
		}
		if len(silent) > 0 {
			return nil, h.undecided(fmt.Sprintf("the clusters do not say the same of release %s", r.Name()),
				"it was aborted "+word.Word.String()+", as "+diag.Few(word.Clusters)+" says, and "+diag.Few(silent)+" does not")
		}
		f := diag.Warnf("aborted-release", "release %s was aborted %s, and is passed over", r.Name(), word.Word)
		f.Why, f.Fix = "so says "+diag.Few(word.Clusters), "if it is meant after all, name it with --to"
		out = append(out, f)
	}
	return out, nil
}

// cameNowhere are the numbers of releases that were aborted before they came to any cluster: every one answers, and has no revision that it does
// not keep where the release would be.
func (h *History) cameNowhere(clusters []Cluster) map[int]bool {
	out, owner := map[int]bool{}, h.Bundles[0].Owner
	if len(h.Unknown) > 0 {
		return out
	}
	for _, t := range told(owner, clusters) {
		came := slices.ContainsFunc(clusters, func(c Cluster) bool {
			return slices.ContainsFunc(c.Bundles, func(k Kept) bool { return len(k.Records) > 0 && k.Records[0].Owner == owner && k.mayHave(t) })
		})
		if t.Aborted() && !came {
			out[t.Release] = true
		}
	}
	return out
}

// mayHave reports whether the release came to the cluster, as far as what is kept can tell.
func (k Kept) mayHave(t decision.Told) bool {
	for i, r := range k.Records {
		switch {
		case r.Rollout == t.Rollout:
			return true
		case r.Release < t.Release:
			return i > 0 && k.Records[i-1].Revision != r.Revision+1
		}
	}
	last := k.Records[len(k.Records)-1]
	return last.Revision > 1 || last.Rebuilt
}
