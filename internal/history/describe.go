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

// Reach is on how many of the clusters the release is, where its record is no longer kept, and of how many nobody knows: "3/12, no longer kept on eu, 1 unknown".
func (r Release) Reach() string {
	in, unknown, pruned := 0, 0, r.pruned()
	for _, c := range r.Clusters {
		if c.In || c.Unchanged {
			in++
		} else if c.Unknown != "" {
			unknown++
		}
	}
	text := fmt.Sprintf("%d/%d", in, len(r.Clusters))
	if len(pruned) > 0 {
		text += ", no longer kept on " + pruned[0]
		if more := len(pruned) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	if unknown -= len(pruned); unknown > 0 {
		text += fmt.Sprintf(", %d unknown", unknown)
	}
	return text
}

// pruned are the clusters that answered, and keep their record of the release no longer: it may have come there.
func (r Release) pruned() []string {
	var out []string
	for _, c := range r.Clusters {
		if c.Unknown == notKept {
			out = append(out, c.Cluster)
		}
	}
	return out
}

// Least is what was done, as far as it is known, with the word that it was more where clusters do not keep it any more.
func (r Release) Least(done string) string {
	if done == "" || len(r.pruned()) == 0 {
		return done
	}
	return "at least " + done
}

// Doubt says why nobody knows what the cluster had.
func (s Standing) Doubt() string {
	if s.Unknown == notKept {
		return "what it had then is no longer kept"
	}
	return Unknown{Unreachable: s.Unreachable}.State() + ": " + s.Unknown
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
