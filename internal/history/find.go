package history

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/release"
)

// Choose narrows the history to one bundle: the one of that name, or with "" the only one.
func (h *History) Choose(bundle string) error {
	var names []string
	for _, b := range h.Bundles {
		names = append(names, b.Bundle)
	}
	i := slices.Index(names, bundle)
	if bundle == "" && len(names) == 1 {
		i = 0
	}
	if i >= 0 {
		h.Bundles = h.Bundles[i : i+1]
		return nil
	}
	f := diag.Errorf("which-bundle", "the clusters keep %d bundles", len(names))
	switch {
	case len(names) > 0 && bundle == "":
		f.Fix = "choose one with --bundle: " + strings.Join(names, ", ")
	case bundle != "":
		f = diag.Errorf("not-installed", "no selected cluster keeps a release of the bundle %s", bundle)
		f.Fix = "hawser history without a name shows every bundle"
	default:
		f = diag.Errorf("not-installed", "no selected cluster keeps a release")
		f.Fix = "apply a bundle, or select the clusters that have one"
	}
	if h.doubt(&f); f.Why != "" && f.Code == "not-installed" {
		f.Code, f.What = CodeUnknown, "nobody knows which releases"+strings.TrimSuffix(" of "+bundle, " of ")+" there are: no cluster that answered keeps any"
		const again = "ask again when these clusters answer, with credentials that may read Secrets in hawser-system there"
		if f.Fix = again + "; " + f.Fix; bundle == "" {
			f.Fix = again
		}
	}
	return diag.Findings{f.Meant(bundle, names)}.Err()
}

// CodeUnknown is that of an answer which clusters that did not answer, or do not let us read, might have.
const CodeUnknown = "releases-unknown"

// Verdict is the error of a history: its findings, and that no cluster keeps anything of the bundle that was asked for ("" for
// none), where that is known.
func (h *History) Verdict(bundle string) error {
	if bundle != "" && len(h.Bundles) == 0 && len(h.Unknown) == 0 {
		h.Findings = append(h.Findings, diag.From(h.Choose(bundle), "history")...)
	}
	h.Findings = h.Findings.Sorted()
	return h.Findings.Err()
}

// doubt says in a finding that something is not there of which clusters nobody knows.
func (h *History) doubt(f *diag.Finding) {
	const most = 3
	var unknown []string
	for i, u := range h.Unknown {
		if i == most {
			unknown = append(unknown, fmt.Sprintf("%d more", len(h.Unknown)-most))
			break
		}
		unknown = append(unknown, u.Cluster+": "+u.Why)
	}
	if len(unknown) > 0 {
		f.Why = "nobody knows of " + strings.Join(unknown, "; of ")
	}
}

// Find is the release of the one bundle of the history that a number or the name of a rollout means.
func (h *History) Find(name string) (*Release, error) {
	releases := h.Bundles[0].Releases
	number, err := strconv.Atoi(name)
	isNumber := err == nil && number > 0
	var found []*Release
	for i := range releases {
		switch r := &releases[i]; {
		case strings.EqualFold(r.Rollout, name):
			return r, nil
		case isNumber && r.Release == number:
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, h.missing(name)
	}
	f := diag.Errorf("which-release", "%d releases of %s have the number %d", len(found), h.Bundles[0].Bundle, number)
	f.Why = "they were made on clusters that did not know of one another"
	f.Fix = "name the rollout: " + strings.Join(named(found), ", ")
	return nil, diag.Findings{f}.Err()
}

// missing is the error of a release that no cluster keeps, as far as is known. A number that clusters count their own revisions by
// says which release that is.
func (h *History) missing(name string) error {
	f := diag.Errorf("no-such-release", "no cluster keeps a release %s of %s", name, h.Bundles[0].Bundle)
	if len(h.Unknown) > 0 {
		f.Code, f.What = CodeUnknown, fmt.Sprintf("nobody knows whether there is a release %s of %s: no cluster that answered keeps it", name, h.Bundles[0].Bundle)
	}
	h.doubt(&f)
	f.Fix = "kept are: " + strings.Join(h.names(), ", ")
	const most = 3
	var revisions []string
	for _, r := range h.Bundles[0].Releases {
		for _, c := range r.Clusters {
			if c.In && strconv.Itoa(c.Revision) == name && len(revisions) < most {
				revisions = append(revisions, fmt.Sprintf("revision %s of cluster %s is release %s", name, c.Cluster, r.Name()))
			}
		}
	}
	if len(revisions) > 0 {
		f.Why = strings.TrimPrefix(f.Why+"; "+strings.Join(revisions, ", "), "; ")
	}
	return diag.Findings{f}.Err()
}

// names are the names of all releases of the one bundle.
func (h *History) names() []string {
	var all []*Release
	for i := range h.Bundles[0].Releases {
		all = append(all, &h.Bundles[0].Releases[i])
	}
	return named(all)
}

// named are the names of releases for people: number and rollout.
func named(releases []*Release) []string {
	var out []string
	for _, r := range releases {
		out = append(out, r.Name())
	}
	return out
}

// Name is the release for people: "42 (7K2M3XYZ)".
func (r Release) Name() string {
	return (&release.Name{Release: r.Release, Rollout: r.Rollout}).String()
}

// Only narrows the history, which was read with an error or nil, to one bundle and one release of it.
func (h *History) Only(bundle, name string, read error) error {
	err := h.Choose(bundle)
	if _, said := errors.AsType[*diag.FindingsError](read); err != nil && said { // it says more
		return read
	}
	if err != nil {
		return errors.Join(err, read)
	}
	r, err := h.Find(name)
	if err != nil {
		return errors.Join(err, read)
	}
	h.Bundles[0].Releases = []Release{*r}
	return nil
}
