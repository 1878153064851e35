package staleplan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
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

// Verify compares a saved plan with the one computed now for the same cluster, change by change. sameDigest compares a
// saved digest with one of now. shown also compares what is only there for people: it must be what was said, where nothing
// vouches for the file. There is a finding for each object that differs, none when the plans are the same.
func Verify(saved, now *plan.Plan, sameDigest func(saved, now string) bool, shown bool) diag.Findings {
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
			f := staleObject(ref, what)
			if otherwise(before[ref], after[ref], sameDigest) {
				f.Because(whyOtherwise(shown))
			}
			findings = append(findings, f)
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
			findings = append(findings, Stale("%s: %s", same.what, Differ(same.old, same.now)))
		}
	}
	return findings
}

// otherwise reports whether an object is declared otherwise now than when a plan was saved, whatever became of it on the cluster.
func otherwise(saved, now []plan.Change, sameDigest func(saved, now string) bool) bool {
	switch {
	case len(now) == 0:
		return false
	case len(saved) == 0:
		return now[0].Code == plan.CodeChanged
	}
	return len(saved) == len(now) && saved[0].Digest != "" && now[0].Digest != "" && !sameDigest(saved[0].Digest, now[0].Digest)
}

// whyOtherwise says how an object comes to be declared otherwise by the same files. Where nothing vouches for the plan file it may say what nobody planned.
func whyOtherwise(unvouched bool) string {
	const why = "it is declared otherwise, though the files and sources are the same: a value has changed that a reference, a secret of the environment, the cluster or another object gives"
	if unvouched {
		return why + "; or the plan file was edited, which is not sealed with this user's key"
	}
	return why
}

func byRef(changes []plan.Change) map[object.Ref][]plan.Change {
	out := map[object.Ref][]plan.Change{}
	for _, ch := range changes {
		out[ch.Ref] = append(out[ch.Ref], ch)
	}
	return out
}

func order(changes []plan.Change) []object.Ref {
	out := make([]object.Ref, len(changes))
	for i, ch := range changes {
		out[i] = ch.Ref
	}
	return out
}

// normal makes nil and empty the same.
func normal(m map[string]plan.LifecycleStep) map[string]plan.LifecycleStep {
	if len(m) == 0 {
		return nil
	}
	return m
}

// differs says how what would happen to an object now differs from what a plan says, "" when it does not.
func differs(saved, now []plan.Change, sameDigest func(saved, now string) bool, shown bool) string {
	switch {
	case len(now) == 0 && saved[0].Action == plan.Create:
		return "has appeared since, as declared"
	case len(now) == 0 && (saved[0].Action == plan.Delete || saved[0].Action == plan.Release):
		return "is not among what the bundle has here and no longer declares"
	case len(now) == 0:
		return "needs nothing any more"
	case len(saved) == 0 && now[0].Code == plan.CodeGone:
		return "was deleted since"
	case len(saved) == 0 && now[0].Code == plan.CodeChanged:
		return "was as declared, and is declared otherwise now: " + string(now[0].Action) + because(now[0])
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

func because(ch plan.Change) string {
	if ch.Why == "" {
		return ""
	}
	return ", " + ch.Why
}

func differ(saved, now plan.Change, sameDigest func(saved, now string) bool, shown bool) string {
	switch {
	case saved.Action == plan.Release && saved.Code == plan.CodeMoved && now.Action == plan.Release && (now.Code == plan.CodeForeign || now.Code == plan.CodeReplaced):
		return "" // the bundle that it is handed to has taken it since, or has made it again
	case saved.Action == plan.Create && saved.UID == "" && now.UID != "" && saved.Hook == nil:
		return "has appeared since"
	case saved.UID != "" && now.UID == "" && now.Action == plan.Create:
		return "was deleted since"
	case saved.UID != now.UID && now.UID != "" && (saved.UID != "" || saved.Hook == nil || saved.Action != plan.Create): // a hook may have run since
		return "is another object now"
	case saved.Action != now.Action:
		return "would be treated otherwise now: " + string(now.Action) + " instead of " + string(saved.Action) + because(now)
	case !sameDigest(saved.Digest, now.Digest):
		return "renders differently now"
	case saved.MovedSince(now, sameDigest):
		return "was changed since"
	case saved.ForeignDigest == "" && now.ForeignDigest != "" && equalJSON(decision(saved, false), decision(now, false)):
		return "has fields of others, and the plan was saved by a hawser that did not note what they hold"
	case saved.ForeignDigest != "" && now.ForeignDigest != "" && !sameDigest(saved.ForeignDigest, now.ForeignDigest):
		return overridden(saved, now)
	case !equalJSON(decision(saved, shown), decision(now, shown)):
		return "would be treated otherwise now: " + Differ(decision(saved, shown), decision(now, shown))
	}
	return ""
}

// overridden says which of the values that a change undoes were written since a plan was saved, and by whom, as far as the two
// plans tell: values themselves are not in a file.
func overridden(saved, now plan.Change) string {
	before := map[string]plan.FieldChange{}
	for _, f := range saved.Fields {
		before[f.Path] = f
	}
	for _, written := range []func(was, f plan.FieldChange) bool{
		func(was, f plan.FieldChange) bool { return was.Path == "" || was.Old != f.Old },
		func(was, f plan.FieldChange) bool {
			return f.Hidden && (was.Manager != f.Manager || was.Since != f.Since)
		},
	} {
		for _, f := range now.Fields {
			if written(before[f.Path], f) {
				return object.ForeignField{Path: f.Path, By: f.Manager, Value: cmp.Or(f.Old, map[bool]string{true: "hidden"}[f.Hidden])}.Since()
			}
		}
	}
	if len(now.Foreign) == 0 {
		return "has no fields of others any more, and had some"
	}
	var by, paths []string
	for _, f := range now.Foreign {
		by, paths = append(by, cmp.Or(f.By, "nobody")), append(paths, f.Path)
	}
	slices.Sort(by)
	text := "was changed since: " + strings.Join(slices.Compact(by), ", ") + " has " + strings.Join(paths[:min(len(paths), shownFields)], ", ")
	if more := len(paths) - shownFields; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// shownFields is how many fields of others a finding names.
const shownFields = 4

// decision is a change without what has been compared and, unless shown, without what is only there for people. Places
// in files, and what a server's dry run said, may differ from machine to machine.
func decision(ch plan.Change, shown bool) plan.Change {
	ch.UID, ch.ResourceVersion, ch.ApplyHash, ch.FormerEntries, ch.ForeignDigest, ch.Digest, ch.Pos, ch.Was = "", "", "", "", "", "", diag.Pos{}, nil
	ch.Checked, ch.Deferred = false, ""
	fields := ch.Fields
	ch.Fields = nil
	if !shown {
		ch.Why, ch.Loss, ch.Content = "", "", nil
		return ch
	}
	for _, f := range fields {
		ch.Fields = append(ch.Fields, plan.FieldChange{Path: f.Path, Old: f.Old, New: f.New, Hidden: f.Hidden, Added: f.Added, Removed: f.Removed, Undeclared: f.Undeclared, Stays: f.Stays})
	}
	return ch
}

func equalJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
