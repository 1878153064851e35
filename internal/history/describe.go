package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/decision"
	"hawser.dev/hawser/internal/release"
)

// describe takes over what the records of a release have in common; the first that says it is believed.
func (r *Release) describe(rec release.Record) {
	r.Author, r.Message, r.Commit = cmp.Or(r.Author, rec.Author), cmp.Or(r.Message, rec.Message), cmp.Or(r.Commit, rec.Commit)
	if r.Tree == "" || rec.Tree == release.Dirty { // one that was is enough
		r.Tree = rec.Tree
	}
	r.Fleet, r.Plan = cmp.Or(r.Fleet, rec.Fleet), cmp.Or(r.Plan, rec.Plan)
	r.Hawser, r.Source, r.RollbackTo = cmp.Or(r.Hawser, rec.Version), cmp.Or(r.Source, rec.Source), cmp.Or(r.RollbackTo, rec.RollbackTo)
	for _, a := range rec.Approvals {
		if !slices.Contains(r.Approvals, a) {
			r.Approvals = append(r.Approvals, a)
		}
	}
}

// Reach is on how many of the clusters the release is, and of how many nobody knows: "3/12, 1 unknown".
func (r Release) Reach() string {
	in, unknown := 0, 0
	for _, c := range r.Clusters {
		if c.In || c.Unchanged {
			in++
		} else if c.Unknown != "" {
			unknown++
		}
	}
	text := fmt.Sprintf("%d/%d", in, len(r.Clusters))
	if unknown > 0 {
		text += fmt.Sprintf(", %d unknown", unknown)
	}
	return text
}

// From is the commit of the release for people, and how what was read was to it; "" for none.
func (r Release) From() string {
	if r.Commit != "" && r.Tree == release.Dirty {
		return r.Commit + ", dirty: what was read had changes that are not in it"
	}
	return r.Commit
}

// Approved are the approvals of the release, for people: one after another.
func (r Release) Approved() string {
	var out []string
	for _, a := range r.Approvals {
		if !slices.ContainsFunc(r.Decisions, func(d decision.Decision) bool { return d.Verb == decision.Approved && d.Is(a.Word) }) { // else Decided says so
			out = append(out, a.Wave+" "+a.String())
		}
	}
	return strings.Join(out, "; ")
}
