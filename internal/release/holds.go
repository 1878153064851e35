package release

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// Holds are those of a run's clusters, by cluster; nil or missing for none.
type Holds map[string]*Hold

// CodePaused is the code of the finding of Paused.
const CodePaused = "release-paused"

// Continues is Continues with what keeps releases back: a release that waits for its first cluster is gone on with like one that
// some cluster has, and one that was aborted is not, wherever it came to. firstTry is Record.FirstTry.
func (hs Holds) Continues(next Record, selected, left []*Record, settled func(cluster string) bool) (number int, rollout string, firstTry int) {
	aborted := hs.Aborted()
	mask := func(records []*Record) []*Record {
		out := slices.Clone(records)
		for i, r := range out {
			if r != nil && aborted[r.Rollout] {
				as := *r
				as.Rollout, out[i] = "", &as
			}
		}
		return out
	}
	for _, cluster := range slices.Sorted(maps.Keys(hs)) {
		if h := hs[cluster]; h != nil {
			left = append(left, &Record{Cluster: cluster, Release: h.Release, Rollout: h.Rollout, SourceDigest: h.SourceDigest, Phase: Succeeded, RollbackTo: h.RollbackTo})
		}
	}
	next.Release, next.Rollout = Continues(next, mask(selected), mask(left), settled)
	return next.Release, next.Rollout, next.firstTry(slices.Concat(selected, left))
}

// Approval is what lets a release come to a cluster whose wave is approved by somebody first: the cluster's hold, or its record where
// the release has come to it already; nil where nobody has said so. wave is how people call it.
func (hs Holds) Approval(cluster, wave string, on *Record, release Record) *Approval {
	if h := hs[cluster]; h != nil && (h.keeps(release) || h.triedAgain(wave, on, release)) && h.Approved != nil && !hs.Aborted()[h.Rollout] {
		return &Approval{Wave: wave, Word: *h.Approved}
	}
	if on != nil && on.Rollout == release.Rollout && on.SourceDigest == release.SourceDigest {
		if i := slices.IndexFunc(on.Approvals, func(a Approval) bool { return a.Wave == wave }); i >= 0 {
			return &on.Approvals[i]
		}
	}
	return nil
}

// Aborted are the rollouts that were aborted on any cluster, by whichever release the holds are now.
func (hs Holds) Aborted() map[string]bool {
	out := map[string]bool{}
	for _, h := range hs {
		for _, t := range h.Decisions() {
			out[t.Rollout] = out[t.Rollout] || t.Aborted()
		}
	}
	return out
}

// triedAgain reports whether a release brings the files of the hold's once more, which failed on the cluster (on is its record), could not be looked at after
// its soak there, or stopped before it came there, and was tried again and again since: what was approved is the same.
func (h *Hold) triedAgain(wave string, on *Record, release Record) bool {
	switch {
	case h.SourceDigest != release.SourceDigest || h.Wave != wave:
		return false
	case on.undecided() && on.SourceDigest == release.SourceDigest:
		return true
	}
	inARow := h.Release+1 == release.Release || release.FirstTry > 0 && h.Release >= release.FirstTry
	return inARow && h.Release < release.Release && !OnCluster{Record: on}.has(h.Rollout)
}

// undecided reports whether nobody knows yet of what a release brought whether it is well: it failed, or could not be looked at after its soak.
func (r *Record) undecided() bool {
	return r != nil && (r.Phase == Failed || r.Phase == Written && r.Unjudged)
}

// keeps reports whether the hold is about this release of these files.
func (h *Hold) keeps(release Record) bool {
	return h != nil && h.Rollout == release.Rollout && h.SourceDigest == release.SourceDigest
}

// Paused refuses to go on with a bundle of which somebody has paused a release. That holds for every release of it, as a pause of a
// Deployment does: what is run again may be another one by then, because something drifted or failed.
func (hs Holds) Paused(release Record) diag.Findings {
	for _, cluster := range slices.Sorted(maps.Keys(hs)) {
		if h := hs[cluster]; h != nil && h.Aborted == nil && h.Paused != nil {
			f := diag.Errorf(CodePaused, "%s", h.Stops(release.Rollout))
			f.Fix = "hawser resume " + release.Bundle + ", then run it again; hawser abort " + release.Bundle + " " + h.Rollout + " gives that release up, and others may come"
			return diag.Findings{f}
		}
	}
	return nil
}

// Stops is why a run does not begin with the cluster of a hold, "" where it may: its release was aborted meanwhile, or one of the
// bundle was paused. A nil hold stops nothing.
func (h *Hold) Stops(rollout string) string {
	switch name, word := h.GaveUp(rollout); {
	case word != nil:
		return "release " + name.String() + " was aborted " + word.String()
	case h != nil && h.Aborted == nil && h.Paused != nil:
		return "release " + h.name().String() + " was paused " + h.Paused.String()
	}
	return ""
}

// CodeDamagedHold is the code of the finding of DamagedHold.
const CodeDamagedHold = "damaged-hold"

// DamagedHold is about what keeps releases from a cluster, where that cannot be read. name is that of the Secret.
func DamagedHold(name string, err error) diag.Finding {
	f := diag.Errorf(CodeDamagedHold, "nobody can tell whether a release is approved, paused or aborted there")
	f.Why = "the Secret " + object.SystemNamespace + "/" + name + ": " + err.Error()
	f.Fix = "kubectl delete secret --namespace " + object.SystemNamespace + " " + name + " on that cluster, and say again what was said there"
	return f
}

// Waiting makes of a cluster's hold the one of a release whose wave waits for an approval, or with opens until its window does, nil where
// that stands there already. What was said about the same release stays, and what was decided of others is kept. An error says which other one was faster: a release of a run that
// knew of it has a higher number.
func (r Record) Waiting(wave string, opens *time.Time) func(*Hold) (*Hold, error) {
	return func(h *Hold) (*Hold, error) {
		out := Hold{Bundle: r.Bundle, Release: r.Release, Rollout: r.Rollout, SourceDigest: r.SourceDigest, Author: r.Author, Message: r.Message, Since: r.Started, RollbackTo: r.RollbackTo, Told: h.Decisions()}
		if opens == nil {
			out.Wave = wave
		} else {
			out.Closed, out.Opens = wave, opens
		}
		if h != nil && h.Rollout != r.Rollout && h.Stops(r.Rollout) != "" {
			return nil, errors.New(h.Stops(r.Rollout))
		}
		if h != nil && h.Aborted == nil && h.Rollout != r.Rollout && h.Release >= r.Release {
			return nil, fmt.Errorf("release %s, by %s since %s, waits there now: run it again", h.name(), cmp.Or(h.Author, "somebody"), h.Since.UTC().Format(time.RFC3339))
		}
		if h.keeps(r) {
			if h.Wave == out.Wave && h.Closed == out.Closed && (opens == nil || h.Opens != nil && h.Opens.Equal(*opens)) {
				return nil, nil
			}
			if opens != nil || h.Wave == wave { // who has said so of the wave has said it for good
				out.Wave, out.Approved = h.Wave, h.Approved
			}
			out.Paused, out.Aborted = h.Paused, h.Aborted
		}
		return &out, nil
	}
}
