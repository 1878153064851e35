package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/madeguard"
	"hawser.dev/hawser/internal/release"
)

// Rollback is a release to go back to, and what each cluster had in it.
type Rollback struct {
	// To is the release, with where each cluster stood in it.
	To Release
	// Records are those that clusters of the run stood at, by name; none for one that had nothing then or is not known.
	Records map[string]*release.Record
	// Later are the releases that those clusters had after it, the first one first.
	Later map[string][]madeguard.Later
	// Findings say where it cannot be gone back (errors), and what one should know about it.
	Findings diag.Findings
}

// Name is how records and plans name the release.
func (r *Rollback) Name() *release.Name {
	return &release.Name{Release: r.To.Release, Rollout: r.To.Rollout}
}

// Back finds the release of a bundle to go back to: the one that to names by number or rollout, whatever cluster of the fleet it came
// to. With "" it is decided of the releases that came to the clusters of the run (in later waves, too): a rollback that is the newest one goes on, to where it went,
// however often that is asked; else it is the newest release before the newest one that
// succeeded wherever it came to in the fleet and that nobody aborted, or, without one, the newest that nobody waited for, then the one before the newest. Which one is the newest must be known then, and clusters
// that contradict one another leave the choice to the user. Clusters that the release
// did not come to have what they had at that time. The error is for a release that there is not; clusters that did not answer have
// neither record nor finding.
func Back(clusters []Cluster, bundle, to string) (*Rollback, error) {
	h := Of(clusters)
	if err := h.Choose(bundle); err != nil {
		return nil, err
	}
	given := h.givenUp(clusters)
	all := ledgers(clusters)
	l := all[slices.IndexFunc(all, func(l *ledger) bool { return l.owner == h.Bundles[0].Owner })]
	found, said, err := h.back(clusters, to)
	if err != nil {
		return nil, err
	}
	said = append(said, given[found.Rollout]...)
	out := &Rollback{To: *found, Records: map[string]*release.Record{}, Later: map[string][]madeguard.Later{}, Findings: said}
	for _, r := range l.rows {
		if r.cluster.Unreachable != "" || r.cluster.Beside || r.cluster.Later {
			continue
		}
		rec, in, unknown := l.at(r, found.Rollout)
		if rec != nil && rec.Phase != release.Interrupted {
			out.Records[r.cluster.Name] = rec
			for _, later := range slices.Backward(r.kept.Records) {
				if later.Revision > rec.Revision {
					out.Later[r.cluster.Name] = append(out.Later[r.cluster.Name], madeguard.Later{Name: later.Called().String(), Marks: later.Marks})
				}
			}
		}
		fs := l.doubts(*found, rec, unknown)
		if !in && unknown == "" && len(r.kept.Records) > 0 && !l.unchanged(r, rec, found.Rollout) {
			fs = append(fs, l.skipped(*found, rec, r.kept.Records[0]))
		}
		out.Findings = append(out.Findings, fs.OnCluster(r.cluster.Name)...)
	}
	return out, nil
}

// skipped says what becomes of a cluster that the release did not come to: rec is what it had then, nil for nothing.
func (l *ledger) skipped(to Release, rec *release.Record, now release.Record) diag.Finding {
	f := diag.Warnf("skipped-release", "release %s did not come here", to.Name())
	f.Why = "the bundle had nothing here then: what it has now goes"
	if rec != nil {
		had := (&release.Name{Release: l.ranks[rec.Rollout].number, Rollout: rec.Rollout}).String()
		f.Why = "it goes back to release " + had + ", which it had then"
		if rec.Revision == now.Revision {
			f.Why = "it stays at release " + had + ", which it had then and has now"
		}
	}
	return f
}

// back is the release that to names, and what one should know of the choice.
func (h *History) back(clusters []Cluster, to string) (*Release, diag.Findings, error) {
	beside := map[string]bool{}
	for _, c := range clusters {
		beside[c.Name] = c.Beside
	}
	here := h.of(func(cluster string) bool { return !beside[cluster] })
	if len(here.Bundles[0].Releases) == 0 {
		f := diag.Errorf("not-installed", "no selected cluster keeps a release of the bundle %s, and others do", h.Bundles[0].Bundle)
		if here.doubt(&f); f.Why != "" {
			f.Code = CodeUnknown
		}
		f.Fix = "select the clusters that have it; hawser history shows which"
		return nil, nil, diag.Findings{f}.Err()
	}
	newest := here.Bundles[0].Releases[0]
	if to == "" {
		if err := h.agreed(newest); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case to != "":
		found, err := h.Find(to)
		return found, nil, err
	case newest.RollbackTo != nil:
		found, err := h.Find(newest.RollbackTo.Rollout)
		if err != nil || newest.State != Succeeded && newest.State != Written {
			return found, here.goesOn(newest, found), err
		}
		f := diag.Warnf("already-back", "release %s went back to %s already", newest.Name(), found.Name())
		f.Fix = "choose a release with --to to go further, or to undo it; hawser history shows which there are"
		return found, append(here.goesOn(newest, found), f), nil
	case len(here.Unknown) > 0:
		f := diag.Errorf("newest-unknown", "nobody knows whether %s is the newest release of %s", newest.Name(), h.Bundles[0].Bundle)
		here.doubt(&f)
		f.Fix = "name the release to go back to with --to: kept are " + strings.Join(h.names(), ", ")
		return nil, nil, diag.Findings{f}.Err()
	}
	if found := here.before(); found != nil {
		if err := here.disputed(found.Rollout); err != nil {
			return nil, nil, err
		}
		passed, err := here.passedOver(found.Rollout)
		return found, append(passed, h.gap(*found, newest, clusters)...), err
	}
	f := diag.Errorf("no-earlier-release", "there is no release of %s before %s", h.Bundles[0].Bundle, newest.Name())
	f.Why = "nothing else is kept on the clusters that were looked at: those that are selected"
	f.Fix = "apply the files as they were; hawser delete " + h.Bundles[0].Bundle + " removes what there is"
	return nil, nil, diag.Findings{f}.Err()
}

// agreed refuses to take from one cluster where all go: those that have the newest release say one thing of what it went back to,
// and its number is the one that they have.
func (h *History) agreed(newest Release) error {
	said := map[string][]string{}
	for _, c := range newest.Clusters {
		if c.In {
			said[c.backTo.String()] = append(said[c.backTo.String()], c.Cluster)
		}
	}
	if len(said) < 2 {
		return nil
	}
	var parts []string
	for _, to := range slices.Sorted(maps.Keys(said)) {
		what := "went back to release " + to
		if to == "" {
			what = "was applied from files"
		}
		parts = append(parts, diag.Few(said[to])+": it "+what)
	}
	return h.undecided(fmt.Sprintf("the clusters do not say the same of release %s, the newest", newest.Name()), strings.Join(parts, "; "))
}

// disputed refuses to pass over a release, on the way to the one that was found, that succeeded on some clusters and not on
// others: the record of one would choose for all.
func (h *History) disputed(found string) error {
	all := h.Bundles[0].Releases
	for _, r := range all[1:] {
		if r.Rollout == found {
			return nil
		}
		var good, bad []string
		for _, c := range r.Clusters {
			switch {
			case c.In && c.Phase == release.Succeeded:
				good = append(good, c.Cluster)
			case c.In:
				bad = append(bad, c.Cluster+" ("+string(c.Phase)+")")
			}
		}
		if len(good) > 0 && len(bad) > 0 && (r.Release < all[0].Release || all[0].Release == 0) {
			return h.undecided(fmt.Sprintf("the clusters do not say the same of release %s, the one before %s", r.Name(), all[0].Name()),
				"it succeeded on "+diag.Few(good)+", and not on "+diag.Few(bad))
		}
	}
	return nil
}

// undecided is the error of a choice that clusters do not agree about.
func (h *History) undecided(what, why string) error {
	f := diag.Errorf("disputed-release", "%s", what)
	f.Why = why + ": the record of one does not choose for all"
	f.Fix = "name the release to go back to with --to: kept are " + strings.Join(h.names(), ", ")
	return diag.Findings{f}.Err()
}

// goesOn says where a rollback goes that is gone on with and has not come to every cluster yet, and which ones say so; nothing
// where the others would go there by themselves.
func (h *History) goesOn(newest Release, found *Release) diag.Findings {
	var say, wait []string
	for _, c := range newest.Clusters {
		if c.In {
			say = append(say, c.Cluster)
		} else if c.Rollout != "" {
			wait = append(wait, c.Cluster)
		}
	}
	rest := &History{Bundles: []Bundle{h.Bundles[0]}}
	rest.Bundles[0].Releases = rest.Bundles[0].Releases[1:]
	if len(wait) == 0 || len(rest.Bundles[0].Releases) == 0 {
		return nil
	}
	if own := rest.before(); found == nil || own != nil && own.Rollout == found.Rollout {
		return nil
	}
	f := diag.Warnf("rollback-goes-on", "the rollback to %s goes on, as %s says it began; %s would go elsewhere", found.Name(), diag.Few(say), diag.Few(wait))
	f.Why, f.Fix = "a rollback that has not come to all clusters is gone on with", "where nobody began it, or another release is meant, name one with --to"
	return diag.Findings{f}
}

// of is the history of the one bundle as far as some clusters have a part in it.
func (h *History) of(wanted func(cluster string) bool) *History {
	b := h.Bundles[0]
	b.Releases = slices.DeleteFunc(slices.Clone(b.Releases), func(r Release) bool {
		return !slices.ContainsFunc(r.Clusters, func(c Standing) bool { return (c.In || c.Unchanged) && wanted(c.Cluster) })
	})
	unknown := slices.DeleteFunc(slices.Clone(h.Unknown), func(u Unknown) bool { return !wanted(u.Cluster) })
	return &History{Bundles: []Bundle{b}, Unknown: unknown}
}

// gap warns of releases between the chosen one and the newest that no cluster keeps which was asked: one of them may be the one
// before the newest, unless it is known that it came nowhere.
func (h *History) gap(chosen, newest Release, clusters []Cluster) diag.Findings {
	known := h.cameNowhere(clusters)
	for _, r := range h.Bundles[0].Releases {
		known[r.Release] = true
	}
	const most = 5
	var lack []string
	for n := newest.Release - 1; n > chosen.Release && chosen.Release > 0 && len(lack) <= most; n-- {
		if !known[n] {
			lack = append(lack, strconv.Itoa(n))
		}
	}
	if len(lack) == 0 {
		return nil
	}
	if len(lack) > most {
		lack[most] = "more"
	}
	f := diag.Warnf("release-gap", "between %s, the newest, and %s, which is gone back to, are releases that nobody keeps: %s", newest.Name(), chosen.Name(), strings.Join(lack, ", "))
	if h.doubt(&f); f.Why == "" {
		f.Why = "the clusters that they came to keep them no longer, their runs died and others went over them, or the bundle was deleted there"
	}
	f.Fix = "if another one was meant, name it with --to; hawser history shows which there are"
	return diag.Findings{f}
}

// before is the newest release before the newest one that succeeded wherever it came to, and that nobody aborted; without one the newest that nobody waited
// for, then the one before the newest, and nil when there is none.
func (h *History) before() *Release {
	all := h.Bundles[0].Releases
	var first, written *Release
	for i := range all[1:] {
		r := &all[i+1]
		if r.Release >= all[0].Release && all[0].Release != 0 {
			continue
		}
		switch r.State {
		case Interrupted: // nobody can go back to that
		case Failed, Partial, Aborted, Applying, Deleting, Ejecting:
			first = cmp.Or(first, r)
		case Written:
			written = cmp.Or(written, r)
		default:
			return r
		}
	}
	return cmp.Or(written, first)
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
	case rec.Phase == release.Interrupted:
		f := diag.Errorf("release-open", "the run of release %s died here, and another one went over it", (&release.Name{Release: l.ranks[rec.Rollout].number, Rollout: rec.Rollout}).String())
		f.Why = "what it declared is recorded when a run ends: it is nowhere"
		f.Fix = choose
		return diag.Findings{f}
	case rec.Phase != release.Succeeded:
		at := to
		if rec.Rollout != to.Rollout {
			at = Release{Release: l.ranks[rec.Rollout].number, Rollout: rec.Rollout}
		}
		f := diag.Warnf("failed-release", "release %s had failed here", at.Name())
		if rec.Phase == release.Written { // which of the two, kept revisions do not tell
			f = diag.Warnf("unawaited-release", "release %s was written here, and nobody waited (--wait=false), or could look after its soak: nobody knows whether it is ready", at.Name())
		}
		f.Fix = choose
		return diag.Findings{f}
	}
	return nil
}

// behind reports whether a cluster stands at an older release than this one, and at other files than its head says; after a
// rollback, at another release than the one that was gone back to, and newer than that.
func (l *ledger) behind(rollout string, is release.Record) bool {
	return slices.ContainsFunc(l.rows, func(r row) bool {
		rec, in, _ := l.at(r, rollout)
		return rec != nil && !in && rec.Revision == r.kept.Records[0].Revision && rec.Has() != is.SourceDigest && !is.RollbackTo.Reached(*rec)
	})
}
