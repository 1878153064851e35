package staleplan

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func same(a, b string) bool { return a == b }

func planOf(changes ...plan.Change) *plan.Plan {
	return &plan.Plan{Cluster: "eu", Bundle: "shop", Owner: "o", Changes: changes, Unchanged: 3}
}

// What a saved plan and one of now may differ in, and how it is said.
func TestVerify(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	update := plan.Change{Action: plan.Update, Ref: ref, Code: plan.CodeChanged, Digest: "d1", UID: "u1", ResourceVersion: "1", ApplyHash: "o1", Why: "w",
		Fields: []plan.FieldChange{{Path: "data.k", Old: "1", New: "2"}}}
	with := func(change func(ch *plan.Change)) plan.Change { ch := update; change(&ch); return ch }
	fresh := plan.Change{Action: plan.Create, Ref: ref, Digest: "d1"}
	letGo := func(uid string, code plan.Code) plan.Change {
		return plan.Change{Action: plan.Release, Ref: ref, UID: uid, Code: code}
	}
	for _, c := range []struct {
		reason     string
		saved, now *plan.Plan
		shown      bool
		want       string
	}{
		{"the same", planOf(update), planOf(update), true, ""},
		{"status moved", planOf(update), planOf(with(func(ch *plan.Change) { ch.ResourceVersion = "2" })), true, ""},
		{"another file of the same content", planOf(update), planOf(with(func(ch *plan.Change) { ch.Pos.File = "x" })), true, ""},
		{"somebody wrote", planOf(update), planOf(with(func(ch *plan.Change) { ch.ResourceVersion, ch.ApplyHash = "2", "o2" })), false, "a was changed since"},
		{"another object", planOf(update), planOf(with(func(ch *plan.Change) { ch.UID = "u2" })), false, "another object"},
		{"the uid was taken out", planOf(with(func(ch *plan.Change) { ch.UID = "" })), planOf(update), false, "another object"},
		{"the uid of a deletion, too", planOf(plan.Change{Action: plan.Delete, Ref: ref}), planOf(plan.Change{Action: plan.Delete, Ref: ref, UID: "u1"}), true, "another object"},
		{"a hook has made its object since", planOf(plan.Change{Action: plan.Create, Ref: ref, Hook: &plan.HookTask{}}), planOf(plan.Change{Action: plan.Create, Ref: ref, UID: "u1", Hook: &plan.HookTask{}}), true, ""},
		{"it is gone", planOf(update), planOf(fresh), false, "was deleted since"},
		{"it is there", planOf(fresh), planOf(update), false, "has appeared since"},
		{"it is there as declared", planOf(fresh), planOf(), false, "has appeared since, as declared"},
		{"unchanged then, gone now", planOf(), planOf(plan.Change{Action: plan.Create, Code: plan.CodeGone, Ref: ref}), false, "was deleted since"},
		{"unchanged then, drifted now", planOf(), planOf(with(func(ch *plan.Change) { ch.Code = plan.CodeDrift })), false, "not any more: update, w"},
		{"deletes what is not ours", planOf(plan.Change{Action: plan.Delete, Ref: ref, UID: "u1"}), planOf(), false, "not among what the bundle has here"},
		{"releases what is not ours", planOf(plan.Change{Action: plan.Release, Ref: ref}), planOf(), false, "not among what the bundle has here"},
		{"deletes what is changed", planOf(with(func(ch *plan.Change) { ch.Action = plan.Delete })), planOf(update), false, "update instead of delete"},
		{"handed over and taken", planOf(letGo("u1", plan.CodeMoved)), planOf(letGo("u1", plan.CodeForeign)), false, ""},
		{"handed over and made again", planOf(letGo("u1", plan.CodeMoved)), planOf(letGo("u2", plan.CodeReplaced)), true, ""},
		{"handed over, and another one", planOf(letGo("u1", plan.CodeMoved)), planOf(letGo("u2", plan.CodeMoved)), true, "another object"},
		{"let go, and another one", planOf(letGo("u1", plan.CodeKept)), planOf(letGo("u2", plan.CodeReplaced)), true, "another object"},
		{"renders differently", planOf(update), planOf(with(func(ch *plan.Change) { ch.Digest = "d2" })), false, "renders differently"},
		{"with force", planOf(with(func(ch *plan.Change) { ch.Force = true })), planOf(update), false, "treated otherwise"},
		{"a field less is shown", planOf(with(func(ch *plan.Change) { ch.Fields = nil })), planOf(update), true, "treated otherwise"},
		{"a field less in a sealed file", planOf(with(func(ch *plan.Change) { ch.Fields = nil })), planOf(update), false, ""},
		{"another count", planOf(update), &plan.Plan{Cluster: "eu", Bundle: "shop", Owner: "o", Changes: []plan.Change{update}, Unchanged: 9}, false, "unchanged"},
		{"another owner", planOf(update), &plan.Plan{Cluster: "eu", Bundle: "shop", Owner: "p", Changes: []plan.Change{update}, Unchanged: 3}, false, "another bundle's"},
		{"twice", planOf(update, update), planOf(update), false, "treated otherwise"},
		{"nothing", nil, planOf(update), false, "nothing to compare"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := Verify(c.saved, c.now, same, c.shown)
			if c.want == "" != (len(got) == 0) || c.want != "" && !strings.Contains(got[0].What, c.want) {
				t.Errorf("got %v, want %q", got, c.want)
			}
			for _, f := range got {
				if f.Code != CodeStale || f.Fix == "" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// Of what is declared otherwise than in a saved plan it is said that a value was changed which is in no file; of what somebody changed on the cluster
// it is not. Where nothing vouches for the plan file, it may also have been edited.
func TestVerifyTellsOfValues(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	change := func(code plan.Code, digest, hash string) *plan.Plan {
		return planOf(plan.Change{Action: plan.Update, Ref: ref, Code: code, Digest: digest, UID: "u1", ResourceVersion: hash, ApplyHash: hash})
	}
	for name, c := range map[string]struct {
		saved, now *plan.Plan
		shown      bool
		want       bool
	}{
		"unchanged then, declared otherwise now": {planOf(), change(plan.CodeChanged, "d1", "o1"), false, true},
		"unchanged then, drifted now":            {planOf(), change(plan.CodeDrift, "d1", "o1"), false, false},
		"renders differently":                    {change(plan.CodeChanged, "d1", "o1"), change(plan.CodeChanged, "d2", "o1"), false, true},
		"renders differently than in any file":   {change(plan.CodeChanged, "d1", "o1"), change(plan.CodeChanged, "d2", "o1"), true, true},
		"declared otherwise than in any file":    {planOf(), change(plan.CodeChanged, "d1", "o1"), true, true},
		"drifted, and not in any file":           {planOf(), change(plan.CodeDrift, "d1", "o1"), true, false},
		"somebody wrote":                         {change(plan.CodeChanged, "d1", "o1"), change(plan.CodeChanged, "d1", "o2"), false, false},
		"needs nothing any more":                 {change(plan.CodeChanged, "d1", "o1"), planOf(), false, false},
	} {
		got := Verify(c.saved, c.now, same, c.shown)
		if len(got) != 1 || strings.Contains(got[0].Why, "a value has changed that a reference") != c.want {
			t.Fatalf("%s: %v", name, got)
		}
		if edited := strings.Contains(got[0].Why, "the plan file was edited"); edited != (c.want && c.shown) {
			t.Errorf("%s: %v", name, got)
		}
		if len(c.saved.Changes) == 0 && strings.Contains(got[0].What, "is declared otherwise now") != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// fill gives every field of a value something else than nothing, so that what a file does not hold shows.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64Range(0, 2).Draw(t, "number"))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 2).Draw(t, "items"), 2))
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	}
}

// saved is a plan as a file has it: nothing of others but digests.
func saved(t *rapid.T, p *plan.Plan) (out, promised *plan.Plan) {
	now := *p
	now.Changes = slices.Clone(p.Changes)
	for i, ch := range now.Changes {
		now.Changes[i].ForeignDigest, now.Changes[i].Open, now.Changes[i].InFile = Digest(ch), true, true // what is not, is keyed in a file
	}
	data, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	out = &plan.Plan{}
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatal(err)
	}
	return out, &now
}

func drawPlan(t *rapid.T) *plan.Plan {
	p := &plan.Plan{Cluster: "eu", Bundle: "shop", Owner: "o", Changes: make([]plan.Change, rapid.IntRange(1, 3).Draw(t, "changes"))}
	for i := range p.Changes {
		ch := &p.Changes[i]
		fill(t, reflect.ValueOf(ch).Elem())
		ch.Action = rapid.SampledFrom([]plan.Action{plan.Create, plan.Update, plan.Delete, plan.Recreate, plan.Adopt, plan.Release}).Draw(t, "action")
		ch.Ref = object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: string(rune('a' + i))}
		ch.ForeignDigest = ""
	}
	return p
}

// Whatever a plan holds, it is itself as a file has it, also when statuses moved; it is not with a change more, less, or
// when others wrote a value that it undoes.
func TestVerifyAnyPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		was, now := saved(rt, p)
		if fs := Verify(was, now, same, true); len(fs) > 0 {
			rt.Fatalf("the plan is not itself: %v", fs)
		}
		i := rapid.IntRange(0, len(p.Changes)-1).Draw(rt, "i")
		more, less := *was, *was
		more.Changes = append(slices.Clone(was.Changes), plan.Change{Action: plan.Delete, Ref: object.Ref{Kind: "Secret", Namespace: "x", Name: "theirs"}, UID: "u"})
		less.Changes = slices.Delete(slices.Clone(was.Changes), i, i+1)
		if len(Verify(&more, now, same, false)) == 0 || len(Verify(&less, now, same, false)) == 0 {
			rt.Fatalf("an edited plan verifies: %+v", was.Changes)
		}
		now.Changes[i].ResourceVersion += "1"
		if fs := Verify(was, now, same, false); len(fs) > 0 {
			rt.Fatalf("a status makes it stale: %v", fs)
		}
		now.Changes[i].Foreign = append(slices.Clone(now.Changes[i].Foreign), object.ForeignField{Path: "data.x", By: "alice", Value: "v"})
		now.Changes[i].ForeignDigest = Digest(now.Changes[i])
		if fs := Verify(was, now, same, false); (len(fs) > 0) != Overrides(p.Changes[i]) {
			rt.Fatalf("alice wrote, %+v: %v", p.Changes[i], fs)
		}
	})
}

// Who wrote what a saved plan would undo is named as far as the two plans tell.
func TestVerifyNamesWhatOthersWrote(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	field := func(old string, hidden bool, by, since string) plan.FieldChange {
		return plan.FieldChange{Path: "data.a", Old: old, New: `"1"`, Hidden: hidden, Manager: by, Since: since}
	}
	drift := func(f plan.FieldChange, digest string, foreign ...object.ForeignField) plan.Change {
		return plan.Change{Action: plan.Update, Code: plan.CodeDrift, Force: true, Ref: ref, UID: "u", Fields: []plan.FieldChange{f}, ForeignDigest: digest, Foreign: foreign}
	}
	gone := func(digest string, foreign ...object.ForeignField) plan.Change {
		return plan.Change{Action: plan.Recreate, Ref: ref, UID: "u", ForeignDigest: digest, Foreign: foreign}
	}
	five := []object.ForeignField{{Path: "data.a", By: "alice"}, {Path: "data.b", By: "alice"}, {Path: "data.c", By: "bob"}, {Path: "data.d"}, {Path: "data.e"}}
	for _, c := range []struct {
		reason     string
		saved, now plan.Change
		want       string
	}{
		{"another value", drift(field(`"x"`, false, "alice", "1"), "d1"), drift(field(`"y"`, false, "bob", "2"), "d2"), "data.a was changed by bob since"},
		{"a hidden one", drift(field("", true, "alice", "1"), "d1"), drift(field("", true, "alice", "2"), "d2"), "data.a was changed by alice since"},
		{"removed", drift(field(`"x"`, false, "alice", "1"), "d1"), drift(field("", false, "", ""), "d2"), "data.a was removed since"},
		{"what goes", gone("d1"), gone("d2", five[0]), "was changed since: alice has data.a"},
		{"much of it", gone("d1"), gone("d2", five...), "alice, bob, nobody has data.a, data.b, data.c, data.d and 1 more"},
		{"nothing is left", gone("d1", five[0]), gone("d2"), "has no fields of others any more"},
		{"a file of before", gone(""), gone("d2", five[0]), "saved by a hawser that did not note"},
		{"a file of before, and another decision", plan.Change{Action: plan.Update, Ref: ref, UID: "u"}, drift(field("", true, "", ""), "d2"), "treated otherwise"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := Verify(planOf(c.saved), planOf(c.now), same, false)
			if len(got) != 1 || !strings.Contains(got[0].What, c.want) || got[0].Object != ref.String() {
				t.Errorf("%v, want %q", got, c.want)
			}
		})
	}
}

func TestRecheck(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	live := plan.Live{Found: true, UID: "u1", ResourceVersion: "1", ApplyHash: "o1"}
	moved, other := live, live
	moved.ResourceVersion, moved.ApplyHash = "2", "o2"
	other.UID = "u2"
	with := func(set func(*plan.Live)) plan.Live {
		l := live
		l.ResourceVersion = "2" // of the annotation, the label
		set(&l)
		return l
	}
	of := func(a plan.Action) *plan.Plan {
		return planOf(plan.Change{Action: a, Ref: ref, UID: "u1", ResourceVersion: "1", ApplyHash: "o1"})
	}
	kept := &plan.Plan{Kept: []plan.InventoryEntry{{Ref: ref, UID: "u1"}}}
	theirs := plan.Live{Found: true, UID: "u1", ResourceVersion: "1", ForeignEntries: "a"}
	edited, status := theirs, theirs
	edited.ResourceVersion, edited.ForeignEntries, status.ResourceVersion = "2", "b", "2"
	adopted := planOf(plan.Change{Action: plan.Adopt, Ref: ref, UID: "u1", ResourceVersion: "1", FormerEntries: "a"})
	for _, c := range []struct {
		reason   string
		p        *plan.Plan
		was, now plan.Live
		want     string
	}{
		{"as it was", of(plan.Update), live, live, ""},
		{"let go, and taken by the other bundle meanwhile", of(plan.Release), live, moved, ""},
		{"let go, and another one meanwhile", of(plan.Release), live, other, "another object"},
		{"created meanwhile", planOf(plan.Change{Action: plan.Create, Ref: ref}), plan.Live{}, live, "has appeared"},
		{"not created yet", planOf(plan.Change{Action: plan.Create, Ref: ref}), plan.Live{}, plan.Live{}, ""},
		{"written meanwhile", of(plan.Update), live, moved, "was changed"},
		{"replaced meanwhile", of(plan.Update), live, other, "another object"},
		{"to be taken over, and changed by its owner meanwhile", adopted, theirs, edited, "was changed"},
		{"to be taken over, and its status moved", adopted, theirs, status, ""},
		{"vanished", of(plan.Update), live, plan.Live{}, "was deleted"},
		{"to be deleted, and to be kept meanwhile", of(plan.Delete), live, with(func(l *plan.Live) { l.Keep = true }), "annotated to be kept"},
		{"to be deleted, and another bundle's meanwhile", of(plan.Delete), live, with(func(l *plan.Live) { l.ForeignBundle, l.Foreign = true, "bundle x" }), "belongs to bundle x"},
		{"to be deleted, and without our label meanwhile", of(plan.Delete), live, with(func(l *plan.Live) { l.OwnerLabel = "o" }), "belongs to somebody else"},
		{"to be deleted, and a controller's meanwhile", of(plan.Delete), live, with(func(l *plan.Live) { l.Reconciled, l.Foreign = true, "Flux" }), "belongs to Flux"},
		{"to be deleted, and of a Helm release again meanwhile", of(plan.Delete), live, with(func(l *plan.Live) { l.Released, l.Foreign = true, "Helm release x" }), "belongs to Helm release x"},
		{"to be made again, and to be kept meanwhile", of(plan.Recreate), live, with(func(l *plan.Live) { l.Keep = true }), "annotated to be kept"},
		{"to be made again, and a controller's meanwhile", of(plan.Recreate), live, with(func(l *plan.Live) { l.Reconciled, l.Foreign = true, "Flux" }), "belongs to Flux"},
		{"to be made again, annotated to be kept before", of(plan.Recreate), with(func(l *plan.Live) { l.Keep = true }), with(func(l *plan.Live) { l.Keep = true }), ""},
		{"to be written, annotated to be kept meanwhile", of(plan.Update), live, with(func(l *plan.Live) { l.Keep = true }), ""},
		{"deleted as planned, by somebody else", of(plan.Delete), live, plan.Live{}, ""},
		{"the unchanged one vanished", kept, live, plan.Live{}, "was deleted"},
		{"the unchanged one was replaced", kept, live, other, "another object"},
		{"the unchanged one drifts: it is not touched", kept, live, moved, ""},
		{"a suspended one was gone before", kept, plan.Live{}, plan.Live{}, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := Recheck(c.p, map[object.Ref]plan.Live{ref: c.was}, map[object.Ref]plan.Live{ref: c.now}, nil)
			if c.want == "" != (len(got) == 0) || c.want != "" && !strings.Contains(got[0].What, c.want) {
				t.Errorf("got %v, want %q", got, c.want)
			}
		})
	}
}

// TestRemovable: right before an object goes it is looked at as the plan is looked at again under the lock: everything that keeps
// it is one rule.
func TestRemovable(t *testing.T) {
	owner := "0123"
	seen := plan.Live{Found: true, UID: "u1", ApplyHash: "o1", OwnerLabel: owner}
	moved := plan.Live{Found: true, UID: "u1", ApplyHash: "o1", OwnerLabel: "4567", ForeignBundle: true, Foreign: "Hawser bundle x"}
	with := func(was plan.Live, set func(*plan.Live)) plan.Live { set(&was); return was }
	for _, c := range []struct {
		reason string
		was    *plan.Live
		now    plan.Live
		want   string
	}{
		{"its status moved", &seen, with(seen, func(l *plan.Live) { l.ResourceVersion = "2" }), ""},
		{"another object", &seen, with(seen, func(l *plan.Live) { l.UID = "u2" }), "it is another object now (other uid)"},
		{"our fields changed", &seen, with(seen, func(l *plan.Live) { l.ApplyHash = "o2" }), "fields we declared were changed since"},
		{"to be kept", &seen, with(seen, func(l *plan.Live) { l.Keep = true }), "it is annotated to be kept since"},
		{"to be kept before", ptr(with(seen, func(l *plan.Live) { l.Keep = true })), with(seen, func(l *plan.Live) { l.Keep = true }), ""},
		{"another bundle's label", &seen, with(seen, func(l *plan.Live) { l.OwnerLabel = "4567" }), "it belongs to somebody else since"},
		{"another bundle's fields", &seen, with(seen, func(l *plan.Live) { l.ForeignBundle, l.Foreign = true, "Hawser bundle x" }), "it belongs to Hawser bundle x since"},
		{"of a release again", &seen, with(seen, func(l *plan.Live) { l.Released, l.Foreign = true, "Helm release x" }), "it belongs to Helm release x since"},
		{"of a release before", ptr(with(seen, func(l *plan.Live) { l.Released = true })), with(seen, func(l *plan.Live) { l.Released = true }), ""},
		{"reconciled", &seen, with(seen, func(l *plan.Live) { l.Reconciled, l.Foreign = true, "Flux" }), "it belongs to Flux since"},
		{"taken over and made again, as it was", &moved, moved, ""},
		{"made in this run", nil, seen, ""},
		{"made in this run, of a release now", nil, with(seen, func(l *plan.Live) { l.Released, l.Foreign = true, "Helm release x" }), "it belongs to Helm release x since"},
	} {
		if got := Removable(plan.Change{Action: plan.Delete, UID: "u1", ApplyHash: "o1", Seen: c.was}, owner, c.now); got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

func ptr(l plan.Live) *plan.Live { return &l }

// Of objects that a plan writes over with force or takes away, what others have counts too: it is asked where the object
// moved, and more of it than the plan saw is stale. Less is not, nor is anything where the plan undoes nothing of theirs.
func TestRecheckOfWhatOthersHave(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	had := []object.ForeignField{{Path: "data.a", By: "alice", Value: "1"}, {Path: "data.b", By: "alice", Value: "1"}}
	change := func(a plan.Action, set func(*plan.Change)) plan.Change {
		ch := plan.Change{Action: a, Ref: ref, UID: "u1", ResourceVersion: "1", ApplyHash: "o1", Foreign: had}
		set(&ch)
		return ch
	}
	none := func(*plan.Change) {}
	force := func(ch *plan.Change) { ch.Force = true }
	for _, c := range []struct {
		reason string
		ch     plan.Change
		counts bool
	}{
		{"drift", change(plan.Update, force), true},
		{"an adoption", change(plan.Adopt, force), true},
		{"a change", change(plan.Update, none), false},
		{"a recreation", change(plan.Recreate, none), true},
		{"a deletion", change(plan.Delete, none), false},
		{"a deletion of what somebody took fields of", change(plan.Delete, func(ch *plan.Change) { ch.TakenBy = "alice" }), true},
		{"a hook", change(plan.Recreate, func(ch *plan.Change) { ch.Hook = &plan.HookTask{} }), false},
	} {
		p := planOf(c.ch)
		for _, version := range []string{"1", "2"} {
			now := map[object.Ref]plan.Live{ref: {Found: true, UID: "u1", ResourceVersion: version, ApplyHash: "o1"}}
			if asked := Moved(p, now); (len(asked) > 0) != (c.counts && version == "2") {
				t.Errorf("%s at version %s: asked about %v", c.reason, version, asked)
			}
			for _, more := range []struct {
				field object.ForeignField
				want  string
			}{
				{object.ForeignField{Path: "data.a", By: "bob", Value: "2"}, "data.a was changed by bob since"},
				{object.ForeignField{Path: "data.a", By: "alice"}, "data.a was removed since"},
				{object.ForeignField{Path: "data.c", By: "", Value: "2"}, "data.c was changed since"},
			} {
				if !c.counts {
					continue
				}
				got := Recheck(p, nil, now, map[object.Ref][]object.ForeignField{ref: append(had[:1:1], more.field)})
				if len(got) != 1 || !strings.Contains(got[0].What, more.want) || got[0].Object != ref.String() || got[0].Code != CodeStale {
					t.Errorf("%s: %v, want %q", c.reason, got, more.want)
				}
			}
			if got := Recheck(p, nil, now, map[object.Ref][]object.ForeignField{ref: had[1:]}); len(got) > 0 {
				t.Errorf("%s, less: %v", c.reason, got)
			}
		}
	}
}

// What is not shown is not told by a digest either.
func TestHides(t *testing.T) {
	shown := plan.FieldChange{Path: "data.a", Old: `"1"`}
	for _, c := range []struct {
		ch   plan.Change
		want bool
	}{
		{plan.Change{Action: plan.Update, Force: true, Fields: []plan.FieldChange{shown}}, false},
		{plan.Change{Action: plan.Update, Force: true, Fields: []plan.FieldChange{shown, {Path: "data.b", Hidden: true}}}, true},
		{plan.Change{Action: plan.Update, Force: true, Fields: []plan.FieldChange{{Path: "data.a", Old: `"x ***"`}}}, true},
		{plan.Change{Action: plan.Update, Force: true}, true},
		{plan.Change{Action: plan.Recreate, UID: "u", Fields: []plan.FieldChange{shown}}, true},
	} {
		if Hides(c.ch) != c.want {
			t.Errorf("%+v", c.ch)
		}
	}
}

// A Job whose time to live ends between plan and apply makes no plan stale, unless somebody awaits its end.
func TestExpiredMeanwhile(t *testing.T) {
	ref := object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "migrate"}
	was := map[object.Ref]plan.Live{ref: {Found: true, UID: "u"}}
	for _, awaited := range []bool{false, true} {
		p := &plan.Plan{Kept: []plan.InventoryEntry{{Ref: ref, Expires: true, Awaited: awaited, UID: "u"}}}
		if stale := Recheck(p, was, map[object.Ref]plan.Live{ref: {}}, nil); (len(stale) > 0) != awaited {
			t.Errorf("awaited %v: %v", awaited, stale)
		}
	}
}
