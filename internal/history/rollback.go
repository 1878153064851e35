package history

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
)

// Rollback is a release to go back to, and what each cluster had in it.
type Rollback struct {
	// To is the release, with where each cluster stood in it.
	To Release
	// Records are those that the clusters stood at, in their order; nil for one that had nothing then or is not known.
	Records []*release.Record
	// Findings say where it cannot be gone back (errors), and what one should know about it.
	Findings diag.Findings
}

// Name is how records and plans name the release.
func (r *Rollback) Name() *release.Name {
	return &release.Name{Release: r.To.Release, Rollout: r.To.Rollout}
}

// Back finds the release of a bundle to go back to: the one that to names by number or rollout. With "" a rollback that is the
// newest release goes on, to where it went, however often that is asked; else it is the newest release before the newest one that
// failed nowhere, or, without one, the one before the newest. Which one is the newest must be known then. Clusters that the release
// did not come to have what they had at that time. The error is for a release that there is not; clusters that did not answer have
// neither record nor finding.
func Back(clusters []Cluster, bundle, to string) (*Rollback, error) {
	h := Of(clusters)
	if err := h.Choose(bundle); err != nil {
		return nil, err
	}
	found, again, err := h.back(to)
	if err != nil {
		return nil, err
	}
	all := ledgers(clusters)
	l := all[slices.IndexFunc(all, func(l *ledger) bool { return l.owner == h.Bundles[0].Owner })]
	out := &Rollback{To: *found, Findings: again}
	for _, r := range l.rows {
		rec, _, unknown := l.at(r, found.Rollout)
		if r.cluster.Unreachable != "" {
			rec, unknown = nil, ""
		}
		out.Records = append(out.Records, rec)
		out.Findings = append(out.Findings, l.doubts(*found, rec, unknown).OnCluster(r.cluster.Name)...)
	}
	return out, nil
}

// back is the release that to names, and a warning where it was gone back to already.
func (h *History) back(to string) (*Release, diag.Findings, error) {
	newest := h.Bundles[0].Releases[0]
	switch {
	case to != "":
		found, err := h.Find(to)
		return found, nil, err
	case newest.RollbackTo != nil:
		found, err := h.Find(newest.RollbackTo.Rollout)
		if err != nil || newest.State != Succeeded && newest.State != Written {
			return found, nil, err
		}
		f := diag.Warnf("already-back", "release %s went back to %s already", newest.Name(), found.Name())
		f.Fix = "choose a release with --to to go further, or to undo it; hawser history shows which there are"
		return found, diag.Findings{f}, nil
	case len(h.Unknown) > 0:
		f := diag.Errorf("newest-unknown", "nobody knows whether %s is the newest release of %s", newest.Name(), h.Bundles[0].Bundle)
		h.doubt(&f)
		f.Fix = "name the release to go back to with --to: kept are " + strings.Join(h.names(), ", ")
		return nil, nil, diag.Findings{f}.Err()
	}
	if found := h.before(); found != nil {
		return found, nil, nil
	}
	f := diag.Errorf("no-earlier-release", "there is no release of %s before %s", h.Bundles[0].Bundle, newest.Name())
	f.Why = "nothing else is kept on the clusters that were looked at: those that are selected, in waves that this run may come to"
	f.Fix = "apply the files as they were; hawser delete " + h.Bundles[0].Bundle + " removes what there is"
	return nil, nil, diag.Findings{f}.Err()
}

// before is the newest release before the newest one that ended well wherever it came to; without one the one before the
// newest, and nil when there is none.
func (h *History) before() *Release {
	all := h.Bundles[0].Releases
	var first *Release
	for i := range all[1:] {
		r := &all[i+1]
		if r.Release >= all[0].Release && all[0].Release != 0 {
			continue
		}
		switch r.State {
		case Failed, Partial, Applying, Deleting:
			if first == nil {
				first = r
			}
		default:
			return r
		}
	}
	return first
}

// doubts are the reasons why a cluster cannot go back to a record, and warnings.
func (l *ledger) doubts(to Release, rec *release.Record, unknown string) diag.Findings {
	const choose = "choose another release with --to; hawser history shows which there are"
	switch {
	case unknown != "":
		f := diag.Errorf("not-kept", "nobody knows what was here in release %s", to.Name())
		f.Why, f.Fix = unknown, choose
		return diag.Findings{f}
	case rec == nil:
		return nil
	case rec.Phase.Open():
		f := diag.Errorf("release-open", "release %s has not ended here", to.Name())
		f.Why = "its run is at work, or died: what it declares is recorded when it ends"
		f.Fix = "apply its files again, or " + choose
		return diag.Findings{f}
	case rec.Phase == release.Failed:
		at := to
		if rec.Rollout != to.Rollout {
			at = Release{Release: l.ranks[rec.Rollout].number, Rollout: rec.Rollout}
		}
		f := diag.Warnf("failed-release", "release %s had failed here", at.Name())
		f.Fix = choose
		return diag.Findings{f}
	}
	return nil
}
