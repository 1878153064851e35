package staleplan

import (
	"cmp"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/redact"
)

// Recheck compares what a plan was made from with what is there now: every object to write must be what the plan saw (uid,
// and our managed fields entry or its resourceVersion), and what it found as declared must not have gone. was is what was
// seen then, now what is seen now, and foreign what others have now of the objects that Moved names; there is a finding for
// each object that differs.
func Recheck(p *plan.Plan, was, now map[object.Ref]plan.Live, foreign map[object.Ref][]object.ForeignField) diag.Findings {
	var findings diag.Findings
	for _, ch := range p.Changes {
		live := now[ch.Ref]
		switch {
		case ch.Action == plan.Create && ch.Code != plan.CodeTerminating && live.Found:
			findings = append(findings, staleObject(ch.Ref, "has appeared since"))
		case ch.UID == "" || ch.Action == plan.Delete && !live.Found:
		case !live.Found:
			findings = append(findings, staleObject(ch.Ref, "was deleted since"))
		case live.UID != ch.UID:
			findings = append(findings, staleObject(ch.Ref, "is another object now"))
		case ch.Action != plan.Release && ch.Moved(live.ResourceVersion, live.ApplyHash, live.ForeignEntries):
			findings = append(findings, staleObject(ch.Ref, "was changed since"))
		case object.Unforeseen(ch.Foreign, foreign[ch.Ref]) != nil:
			findings = append(findings, staleObject(ch.Ref, object.Unforeseen(ch.Foreign, foreign[ch.Ref]).Since()))
		case ch.Action == plan.Delete, ch.Action == plan.Recreate:
			if what := reclaimed(was[ch.Ref], live); what != "" {
				findings = append(findings, staleObject(ch.Ref, what))
			}
		}
	}
	for _, o := range p.Kept {
		switch before, live := was[o.Ref], now[o.Ref]; {
		case !before.Found || o.Hook != nil || o.Expired(live.Found):
		case !live.Found:
			findings = append(findings, staleObject(o.Ref, "was deleted since"))
		case live.UID != before.UID:
			findings = append(findings, staleObject(o.Ref, "is another object now"))
		}
	}
	return findings
}

// reclaimed says what keeps an object from being deleted that did not when the plan was made, "" for nothing.
func reclaimed(was, now plan.Live) string {
	switch {
	case now.Keep && !was.Keep:
		return "is annotated to be kept since"
	case now.OwnerLabel != was.OwnerLabel, now.ForeignBundle && !was.ForeignBundle, now.Reconciled && !was.Reconciled, now.Released && !was.Released:
		return "belongs to " + cmp.Or(now.Foreign, "somebody else") + " since"
	}
	return ""
}

// Changed says why an object is not the one that a plan saw, or not as it was then by what we declared; "" when it is.
func Changed(ch plan.Change, now plan.Live) string {
	switch {
	case now.UID != ch.UID:
		return "it is another object now (other uid)"
	case now.ApplyHash != ch.ApplyHash:
		return "fields we declared were changed since"
	}
	return ""
}

// Removable says why an object that a change deletes is not deleted any more, as it is there now, "" when it is: it is another
// one, ours of it was changed, or something keeps it that did not when the plan was made. owner is the id of our bundle.
func Removable(ch plan.Change, owner string, now plan.Live) string {
	was := plan.Live{OwnerLabel: owner} // of what was made in this run
	if ch.Seen != nil {
		was = *ch.Seen
	}
	if why := Changed(ch, now); why != "" {
		return why
	}
	if why := reclaimed(was, now); why != "" {
		return "it " + why
	}
	return ""
}

// Destroys reports whether an object goes of which others may have fields that the plan speaks of: it is deleted and made
// again, or deleted although somebody took fields of it.
func Destroys(ch plan.Change) bool {
	return ch.Hook == nil && ch.UID != "" && (ch.Action == plan.Recreate || ch.Action == plan.Delete && ch.TakenBy != "")
}

// Overrides reports whether a change undoes what others have in an object: it is written over, or goes.
func Overrides(ch plan.Change) bool {
	return ch.Hook == nil && ch.Force && (ch.Action == plan.Update || ch.Action == plan.Adopt) || Destroys(ch)
}

// Undone are the fields of a live object that a change would undo: those that it writes over with force, or what others have
// in an object that goes. body is what is declared, manager is ours; none where nothing is there.
func Undone(ch plan.Change, body object.Object, live map[string]any, manager string) []object.ForeignField {
	if live == nil {
		return nil
	}
	if Destroys(ch) {
		return object.ForeignFields(live, manager, ch.Ignore)
	}
	return body.Overwritten(live, ch.Written(body.Body, live, manager), manager)
}

// Goes are the changes of a plan of whose objects it has to be asked what others have in them, before it is shown.
func Goes(p *plan.Plan) []plan.Change {
	return changes(p, Destroys)
}

// Moved are the changes of a plan that undo what others have, and whose objects were written since, by whomever: what others
// have in them has to be asked again.
func Moved(p *plan.Plan, now map[object.Ref]plan.Live) []plan.Change {
	return changes(p, func(ch plan.Change) bool {
		live := now[ch.Ref]
		return Overrides(ch) && live.Found && live.UID == ch.UID && live.ResourceVersion != ch.ResourceVersion
	})
}

func changes(p *plan.Plan, which func(plan.Change) bool) []plan.Change {
	var out []plan.Change
	for _, ch := range p.Changes {
		if which(ch) {
			out = append(out, ch)
		}
	}
	return out
}

// Keep gives the changes that Goes names what others have in their objects.
func Keep(p *plan.Plan, foreign map[object.Ref][]object.ForeignField) {
	for i, ch := range p.Changes {
		if Destroys(ch) {
			p.Changes[i].Foreign = foreign[ch.Ref]
		}
	}
}

// Digest is the digest of what a change undoes of others, "" where that does not count.
func Digest(ch plan.Change) string {
	if !Overrides(ch) {
		return ""
	}
	return object.DigestForeign(ch.Foreign)
}

// Hides reports whether a plan does not show the values of others that a change undoes: then their digest is not to tell them
// to whoever guesses either.
func Hides(ch plan.Change) bool {
	return Destroys(ch) || len(ch.Fields) == 0 || slices.ContainsFunc(ch.Fields, func(f plan.FieldChange) bool {
		return f.Hidden || strings.Contains(f.Old+f.Path, redact.Mask)
	})
}
