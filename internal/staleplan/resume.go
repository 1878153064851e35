package staleplan

import (
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
)

// Standing is how a cluster stands to a saved plan that is to be carried out there.
type Standing string

const (
	// Untouched: it is as when the plan was made, and has to be so in all.
	Untouched Standing = "untouched"
	// Done: this plan was carried out there, and nothing is done any more, whatever others did since.
	Done Standing = "done"
	// Begun: this plan was begun there and did not come to its end; what is left of it is done.
	Begun Standing = "begun"
	// Superseded: another run was there since.
	Superseded Standing = "superseded"
)

// Vouched reports whether the cluster's own record says that this very file was carried out there.
func (s Standing) Vouched() bool { return s == Done || s == Begun }

// Left is what the newest record of a cluster tells of the run that wrote it; the zero value is no record.
type Left struct {
	// Plan names the saved plan that the run carried out, "" for none.
	Plan     string
	Revision int
	// Ended: it came to its end, and nothing is waited for any more.
	Ended bool
}

// Stands tells how a cluster stands to a saved plan: file names the file, which nobody can change and keep its name; planned is the
// revision that the plan was made at. Only the record says that the plan was carried out: a run wrote it that had compared the
// whole file with what was there.
func Stands(file string, planned int, now Left) Standing {
	switch {
	case file != "" && now.Plan == file && now.Revision > planned && now.Ended:
		return Done
	case file != "" && now.Plan == file && now.Revision > planned:
		return Begun
	case now.Revision == planned:
		return Untouched
	}
	return Superseded
}

// Remains compares what is left of a saved plan that was begun with what was shown: now, the plan computed since, may do what was
// shown, or less of it, and writes the same. written reports whether a change writes what one with that digest in the file was to
// write; same compares digests of what others have. There is a finding for each object of which more would be done.
func Remains(saved, now *plan.Plan, written func(ch plan.Change, digest string) bool, same func(saved, now string) bool) diag.Findings {
	before, steps := byRef(saved.Changes), *now
	steps.Changes = slices.DeleteFunc(slices.Clone(now.Changes), func(ch plan.Change) bool { return reruns(before[ch.Ref], ch) })
	findings := Allows(saved, &steps)
	for i := range findings {
		findings[i].Fix = "plan again: what is left to do is another thing now"
	}
	for _, ch := range now.Changes {
		was := before[ch.Ref]
		if len(was) == 0 || !ch.Action.Writes() || ch.Action == plan.Delete && !Overrides(ch) {
			continue
		}
		switch {
		case ch.Action != plan.Delete && !slices.ContainsFunc(was, func(s plan.Change) bool { return written(ch, s.Digest) }):
			findings = append(findings, staleObject(ch.Ref, "renders differently now"))
		case ch.ForeignDigest != "" && !slices.ContainsFunc(was, func(s plan.Change) bool { return same(s.ForeignDigest, ch.ForeignDigest) }):
			findings = append(findings, staleObject(ch.Ref, overridden(was[0], ch)))
		}
	}
	return findings
}

// reruns reports whether a change is about a hook's object that was to be made, whatever is there of it now: the hook was begun,
// and runs again, or has ended, and what is left of it goes.
func reruns(was []plan.Change, ch plan.Change) bool {
	runs := []plan.Action{plan.Create, plan.Recreate}
	return ch.Hook != nil && slices.Contains(append(runs, plan.Delete), ch.Action) &&
		slices.ContainsFunc(was, func(w plan.Change) bool { return w.Hook != nil && slices.Contains(runs, w.Action) })
}
