package plan

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// CodeStale is the code of findings about plans that are not what would be done now.
const CodeStale = "stale-plan"

// Stale is the finding that a plan is not what would be done now.
func Stale(format string, args ...any) diag.Finding {
	f := diag.Errorf(CodeStale, "the plan is stale: "+format, args...)
	f.Fix = "plan again"
	return f
}

func staleObject(ref object.Ref, what string) diag.Finding {
	f := Stale("%s %s", ref, what)
	f.Object = ref.String()
	return f
}

// Recheck compares what a plan was made from with what is there now: every object to write must be what the plan saw (uid,
// and our managed fields entry or its resourceVersion), and what it found as declared must not have gone. was is what was
// seen then, now what is seen now; there is a finding for each object that differs.
func Recheck(p *Plan, was, now map[object.Ref]Live) diag.Findings {
	var findings diag.Findings
	for _, ch := range p.Changes {
		live := now[ch.Ref]
		switch {
		case ch.Action == Create && ch.Code != CodeTerminating && live.Found:
			findings = append(findings, staleObject(ch.Ref, "has appeared since"))
		case ch.UID == "" || ch.Action == Delete && !live.Found:
		case !live.Found:
			findings = append(findings, staleObject(ch.Ref, "was deleted since"))
		case live.UID != ch.UID:
			findings = append(findings, staleObject(ch.Ref, "is another object now"))
		case moved(ch.Own, live.Own, ch.ResourceVersion, live.ResourceVersion, ch.FormerEntries, live.ForeignEntries):
			findings = append(findings, staleObject(ch.Ref, "was changed since"))
		case ch.Action == Delete:
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

// moved reports whether an object is not as it was seen: what we declared of it was changed, or, where it is not ours yet,
// what its owner has in it.
func moved(own, ownNow, version, versionNow, former, formerNow string) bool {
	return version != versionNow && (own != ownNow || own == "" && former != formerNow)
}

// reclaimed says what keeps an object from being deleted that did not when the plan was made, "" for nothing.
func reclaimed(was, now Live) string {
	switch {
	case now.Keep && !was.Keep:
		return "is annotated to be kept since"
	case now.OwnerLabel != was.OwnerLabel, now.ForeignBundle && !was.ForeignBundle, now.Reconciled && !was.Reconciled, now.Released && !was.Released:
		return "belongs to " + orUnknown(now.Foreign) + " since"
	}
	return ""
}

// Verify compares a saved plan with the one computed now for the same cluster, change by change. sameDigest compares a
// saved digest with one of now. shown also compares what is only there for people: it must be what was said, where nothing
// vouches for the file. There is a finding for each object that differs, none when the plans are the same.
func Verify(saved, now *Plan, sameDigest func(saved, now string) bool, shown bool) diag.Findings {
	if saved == nil || now == nil {
		return diag.Findings{Stale("there is nothing to compare")}
	}
	before, after := byRef(saved.Changes), byRef(now.Changes)
	refs := slices.SortedFunc(maps.Keys(before), object.Ref.Compare)
	for ref := range after {
		if _, ok := before[ref]; !ok {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, object.Ref.Compare)
	var findings diag.Findings
	for _, ref := range refs {
		if what := differs(before[ref], after[ref], sameDigest, shown); what != "" {
			findings = append(findings, staleObject(ref, what))
		}
	}
	if len(findings) > 0 {
		return findings
	}
	for _, same := range []struct {
		what     string
		old, now any
	}{
		{"it is another cluster's or another bundle's", [3]string{saved.Cluster, saved.Bundle, saved.Owner}, [3]string{now.Cluster, now.Bundle, now.Owner}},
		{"it counts other objects as unchanged", saved.Unchanged, now.Unchanged},
		{"other hooks run", normal(saved.Events), normal(now.Events)},
		{"other instances are suspended", slices.Sorted(slices.Values(saved.Suspended)), slices.Sorted(slices.Values(now.Suspended))},
		{"the order is another one", order(saved.Changes), order(now.Changes)},
		{"it says something else about deletions", saved.Brake, now.Brake},
	} {
		if !equalJSON(same.old, same.now) {
			findings = append(findings, Stale("%s", same.what))
		}
	}
	return findings
}

func byRef(changes []Change) map[object.Ref][]Change {
	out := map[object.Ref][]Change{}
	for _, ch := range changes {
		out[ch.Ref] = append(out[ch.Ref], ch)
	}
	return out
}

func order(changes []Change) []object.Ref {
	out := make([]object.Ref, len(changes))
	for i, ch := range changes {
		out[i] = ch.Ref
	}
	return out
}

// normal makes nil and empty the same.
func normal(m map[string]Moment) map[string]Moment {
	if len(m) == 0 {
		return nil
	}
	return m
}

// differs says how what would happen to an object now differs from what a plan says, "" when it does not.
func differs(saved, now []Change, sameDigest func(saved, now string) bool, shown bool) string {
	switch {
	case len(now) == 0 && saved[0].Action == Create:
		return "has appeared since, as declared"
	case len(now) == 0 && (saved[0].Action == Delete || saved[0].Action == Release):
		return "is not among what the bundle has here and no longer declares"
	case len(now) == 0:
		return "needs nothing any more"
	case len(saved) == 0 && now[0].Code == CodeGone:
		return "was deleted since"
	case len(saved) == 0:
		return "was as declared, and is not any more: " + string(now[0].Action) + because(now[0])
	case len(saved) != len(now):
		return "would be treated otherwise now"
	}
	for i := range saved {
		if what := differ(saved[i], now[i], sameDigest, shown); what != "" {
			return what
		}
	}
	return ""
}

func because(ch Change) string {
	if ch.Why == "" {
		return ""
	}
	return ", " + ch.Why
}

func differ(saved, now Change, sameDigest func(saved, now string) bool, shown bool) string {
	switch {
	case saved.Action == Create && saved.UID == "" && now.UID != "" && saved.Hook == nil:
		return "has appeared since"
	case saved.UID != "" && now.UID == "" && now.Action == Create:
		return "was deleted since"
	case saved.UID != now.UID && saved.UID != "" && now.UID != "":
		return "is another object now"
	case saved.Action != now.Action:
		return "would be treated otherwise now: " + string(now.Action) + " instead of " + string(saved.Action) + because(now)
	case !sameDigest(saved.Digest, now.Digest):
		return "renders differently now"
	case moved(saved.Own, now.Own, saved.ResourceVersion, now.ResourceVersion, saved.FormerEntries, now.FormerEntries):
		return "was changed since"
	case !equalJSON(decision(saved, shown), decision(now, shown)):
		return "would be treated otherwise now"
	}
	return ""
}

// decision is a change without what has been compared and, unless shown, without what is only there for people. Places
// in files, and what a server's dry run said, may differ from machine to machine.
func decision(ch Change, shown bool) Change {
	ch.UID, ch.ResourceVersion, ch.Own, ch.FormerEntries, ch.Digest, ch.Pos, ch.Was = "", "", "", "", "", diag.Pos{}, nil
	ch.Checked, ch.Deferred = false, ""
	fields := ch.Fields
	ch.Fields = nil
	if !shown {
		ch.Why, ch.Loss, ch.Content = "", "", nil
		return ch
	}
	for _, f := range fields {
		ch.Fields = append(ch.Fields, FieldChange{Path: f.Path, Old: f.Old, New: f.New, Hidden: f.Hidden})
	}
	return ch
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
