package history

import (
	"slices"

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

// Back finds the release of a bundle to go back to: the one that to names by number or rollout, with "" the one before the
// newest, by number; a rollback that has not come to its end goes on. Clusters that it did not come to have what they had at that time. The error is for a release that there
// is not; clusters that did not answer have neither record nor finding.
func Back(clusters []Cluster, bundle, to string) (*Rollback, error) {
	h := Of(clusters)
	if err := h.Choose(bundle); err != nil {
		return nil, err
	}
	newest := h.Bundles[0].Releases[0]
	if to == "" && newest.RollbackTo != nil && newest.State != Succeeded && newest.State != Written {
		to = newest.RollbackTo.Rollout // it goes on
	}
	found, err := h.before(), error(nil)
	if to != "" {
		found, err = h.Find(to)
	}
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		f := diag.Errorf("no-earlier-release", "there is no release of %s before %s", bundle, newest.Name())
		f.Why = "nothing else is kept on the selected clusters"
		f.Fix = "apply the files as they were; hawser delete " + bundle + " removes what there is"
		h.doubt(&f)
		return nil, diag.Findings{f}.Err()
	}
	all := ledgers(clusters)
	l := all[slices.IndexFunc(all, func(l *ledger) bool { return l.owner == h.Bundles[0].Owner })]
	out := &Rollback{To: *found}
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

// before is the release before the newest one, nil when there is none.
func (h *History) before() *Release {
	all := h.Bundles[0].Releases
	for i := range all[1:] {
		if r := &all[i+1]; r.Release < all[0].Release || all[0].Release == 0 {
			return r
		}
	}
	return nil
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
