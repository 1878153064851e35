package plan

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/object"
)

func same(a, b string) bool { return a == b }

func planOf(changes ...Change) *Plan {
	return &Plan{Cluster: "eu", Bundle: "shop", Owner: "o", Changes: changes, Unchanged: 3}
}

// What a saved plan and one of now may differ in, and how it is said.
func TestVerify(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	update := Change{Action: Update, Ref: ref, Code: CodeChanged, Digest: "d1", UID: "u1", ResourceVersion: "1", Own: "o1", Why: "w",
		Fields: []FieldChange{{Path: "data.k", Old: "1", New: "2"}}}
	with := func(change func(ch *Change)) Change { ch := update; change(&ch); return ch }
	fresh := Change{Action: Create, Ref: ref, Digest: "d1"}
	for _, c := range []struct {
		reason     string
		saved, now *Plan
		shown      bool
		want       string
	}{
		{"the same", planOf(update), planOf(update), true, ""},
		{"status moved", planOf(update), planOf(with(func(ch *Change) { ch.ResourceVersion = "2" })), true, ""},
		{"another file of the same content", planOf(update), planOf(with(func(ch *Change) { ch.Pos.File = "x" })), true, ""},
		{"somebody wrote", planOf(update), planOf(with(func(ch *Change) { ch.ResourceVersion, ch.Own = "2", "o2" })), false, "a was changed since"},
		{"another object", planOf(update), planOf(with(func(ch *Change) { ch.UID = "u2" })), false, "another object"},
		{"it is gone", planOf(update), planOf(fresh), false, "was deleted since"},
		{"it is there", planOf(fresh), planOf(update), false, "has appeared since"},
		{"it is there as declared", planOf(fresh), planOf(), false, "has appeared since, as declared"},
		{"unchanged then, gone now", planOf(), planOf(Change{Action: Create, Code: CodeGone, Ref: ref}), false, "was deleted since"},
		{"unchanged then, drifted now", planOf(), planOf(with(func(ch *Change) { ch.Code = CodeDrift })), false, "not any more: update, w"},
		{"deletes what is not ours", planOf(Change{Action: Delete, Ref: ref, UID: "u1"}), planOf(), false, "not among what the bundle has here"},
		{"releases what is not ours", planOf(Change{Action: Release, Ref: ref}), planOf(), false, "not among what the bundle has here"},
		{"deletes what is changed", planOf(with(func(ch *Change) { ch.Action = Delete })), planOf(update), false, "update instead of delete"},
		{"renders differently", planOf(update), planOf(with(func(ch *Change) { ch.Digest = "d2" })), false, "renders differently"},
		{"with force", planOf(with(func(ch *Change) { ch.Force = true })), planOf(update), false, "treated otherwise"},
		{"a field less is shown", planOf(with(func(ch *Change) { ch.Fields = nil })), planOf(update), true, "treated otherwise"},
		{"a field less in a sealed file", planOf(with(func(ch *Change) { ch.Fields = nil })), planOf(update), false, ""},
		{"another count", planOf(update), &Plan{Cluster: "eu", Bundle: "shop", Owner: "o", Changes: []Change{update}, Unchanged: 9}, false, "unchanged"},
		{"another owner", planOf(update), &Plan{Cluster: "eu", Bundle: "shop", Owner: "p", Changes: []Change{update}, Unchanged: 3}, false, "another bundle's"},
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

// Every plan that Compute makes verifies against itself as a file has it, and none against the same plan with one change
// more, less or of another action.
func TestVerifyAnyPlan(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := Compute(drawInput(rt))
		data, err := json.Marshal(p)
		if err != nil {
			rt.Fatal(err)
		}
		var saved Plan
		if err := json.Unmarshal(data, &saved); err != nil {
			rt.Fatal(err)
		}
		if fs := Verify(&saved, p, same, true); len(fs) > 0 {
			rt.Fatalf("the plan is not itself: %v", fs)
		}
		edited := saved
		if n := len(saved.Changes); n > 0 && rapid.Bool().Draw(rt, "less") {
			i := rapid.IntRange(0, n-1).Draw(rt, "i")
			edited.Changes = append(append([]Change{}, saved.Changes[:i]...), saved.Changes[i+1:]...)
		} else {
			edited.Changes = append(append([]Change{}, saved.Changes...), Change{Action: Delete, Ref: object.Ref{Kind: "Secret", Namespace: "x", Name: "theirs"}, UID: "u"})
		}
		if len(Verify(&edited, p, same, false)) == 0 {
			rt.Fatalf("an edited plan verifies: %+v", edited.Changes)
		}
	})
}

func TestRecheck(t *testing.T) {
	ref := object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	live := Live{Found: true, UID: "u1", ResourceVersion: "1", Own: "o1"}
	moved, other := live, live
	moved.ResourceVersion, moved.Own = "2", "o2"
	other.UID = "u2"
	with := func(set func(*Live)) Live {
		l := live
		l.ResourceVersion = "2" // of the annotation, the label
		set(&l)
		return l
	}
	of := func(a Action) *Plan {
		return planOf(Change{Action: a, Ref: ref, UID: "u1", ResourceVersion: "1", Own: "o1"})
	}
	kept := &Plan{Kept: []Owned{{Ref: ref, UID: "u1"}}}
	theirs := Live{Found: true, UID: "u1", ResourceVersion: "1", ForeignEntries: "a"}
	edited, status := theirs, theirs
	edited.ResourceVersion, edited.ForeignEntries, status.ResourceVersion = "2", "b", "2"
	adopted := planOf(Change{Action: Adopt, Ref: ref, UID: "u1", ResourceVersion: "1", FormerEntries: "a"})
	for _, c := range []struct {
		reason   string
		p        *Plan
		was, now Live
		want     string
	}{
		{"as it was", of(Update), live, live, ""},
		{"created meanwhile", planOf(Change{Action: Create, Ref: ref}), Live{}, live, "has appeared"},
		{"not created yet", planOf(Change{Action: Create, Ref: ref}), Live{}, Live{}, ""},
		{"written meanwhile", of(Update), live, moved, "was changed"},
		{"replaced meanwhile", of(Update), live, other, "another object"},
		{"to be taken over, and changed by its owner meanwhile", adopted, theirs, edited, "was changed"},
		{"to be taken over, and its status moved", adopted, theirs, status, ""},
		{"vanished", of(Update), live, Live{}, "was deleted"},
		{"to be deleted, and to be kept meanwhile", of(Delete), live, with(func(l *Live) { l.Keep = true }), "annotated to be kept"},
		{"to be deleted, and another bundle's meanwhile", of(Delete), live, with(func(l *Live) { l.ForeignBundle, l.Foreign = true, "bundle x" }), "belongs to bundle x"},
		{"to be deleted, and without our label meanwhile", of(Delete), live, with(func(l *Live) { l.OwnerLabel = "o" }), "belongs to somebody else"},
		{"to be deleted, and a controller's meanwhile", of(Delete), live, with(func(l *Live) { l.Reconciled, l.Foreign = true, "Flux" }), "belongs to Flux"},
		{"to be written, annotated to be kept meanwhile", of(Update), live, with(func(l *Live) { l.Keep = true }), ""},
		{"deleted as planned, by somebody else", of(Delete), live, Live{}, ""},
		{"the unchanged one vanished", kept, live, Live{}, "was deleted"},
		{"the unchanged one was replaced", kept, live, other, "another object"},
		{"the unchanged one drifts: it is not touched", kept, live, moved, ""},
		{"a suspended one was gone before", kept, Live{}, Live{}, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := Recheck(c.p, map[object.Ref]Live{ref: c.was}, map[object.Ref]Live{ref: c.now})
			if c.want == "" != (len(got) == 0) || c.want != "" && !strings.Contains(got[0].What, c.want) {
				t.Errorf("got %v, want %q", got, c.want)
			}
		})
	}
}
