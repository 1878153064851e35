package madeguard

import (
	"testing"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestMovedAsItIs: what comes from another bundle is refused only where it would hold something else.
func TestMovedAsItIs(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	made := chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: "new-password-of-app"}}}
	taken := made
	taken.From, taken.Moves = "bb", 1
	bodies := map[object.Ref]object.Object{ref: {Body: map[string]any{"data": map[string]any{"p": "bmV3LXBhc3N3b3JkLW9mLWFwcA==", "url": "aHR0cHM6Ly9hLmV4YW1wbGU=", "a.b": "bmV3LXBhc3N3b3JkLW9mLWFwcA=="},
		"stringData": map[string]any{"region": "eu", "login": "app:new-password-of-app"}}}}
	for _, c := range []struct {
		reason  string
		code    plan.Code
		kept    chance.Answers
		checked bool
		changes []string
		want    string
	}{
		{"adopted from a bundle that was deleted, and so were the values", plan.CodeAdopted, taken, true, []string{"metadata.labels.x"}, ""},
		{"adopted from there, and it would change", plan.CodeAdopted, taken, true, []string{"metadata.labels.x", "data.p"}, "kept-values-moved"},
		{"adopted from there, and nobody asked", plan.CodeAdopted, taken, false, nil, "kept-values-moved"},
		{"moved here, and the values were taken before", plan.CodeMoved, taken, true, []string{"metadata.labels.x"}, ""},
		{"moved here, and what was taken from there before is another's", plan.CodeMoved, taken, true, []string{"data.p"}, "kept-values-moved"},
		{"moved here, and it holds the same", plan.CodeMoved, made, true, nil, ""},
		{"moved here, with changes beside the password", plan.CodeMoved, taken, true, []string{"metadata.labels.x", "data.url", "data.region"}, ""},
		{"adopted, with changes beside the password", plan.CodeAdopted, taken, true, []string{"data.url"}, ""},
		{"moved here, and a value that holds the password changes", plan.CodeMoved, taken, true, []string{"data.login"}, "kept-values-moved"},
		{"moved here, and a value of a name with a dot", plan.CodeMoved, taken, true, []string{"data.a.b"}, "kept-values-moved"},
		{"moved here, and a value goes", plan.CodeMoved, taken, true, []string{"data.former"}, "kept-values-moved"},
		{"moved here, and something else of it changes", plan.CodeMoved, taken, true, []string{"type"}, "kept-values-moved"},
		{"moved here, and it would change", plan.CodeMoved, made, true, []string{"data.p"}, "kept-values-moved"},
		{"moved here, and nobody asked", plan.CodeMoved, made, false, nil, "kept-values-moved"},
	} {
		ch := plan.Change{Ref: ref, Instance: "app", Action: plan.Adopt, Code: c.code, FromManagers: []string{object.Manager("bb")}, Checked: c.checked}
		if c.code == plan.CodeMoved && c.kept.From == "" {
			ch.FromManagers = []string{object.Manager("bc")}
		}
		for _, path := range c.changes {
			ch.Fields = append(ch.Fields, plan.FieldChange{Path: path, Hidden: true})
		}
		in := plan.Input{Desired: []plan.Desired{{Ref: ref, Instance: "app"}}}
		got := ""
		if fs := MadeAnew(&plan.Plan{Changes: []plan.Change{ch}}, in, "app", chance.Settled{Kept: map[string]chance.Answers{"app": c.kept}}, made, bodies); len(fs) > 0 {
			got = fs[0].Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

// TestOfARemovedBundle: what a bundle kept that the files do not hold any more goes with objects, or not at all.
func TestOfARemovedBundle(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	taken := chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: "password"}}, From: "bb", Moves: 1}
	public := chance.Answers{Calls: []chance.Call{{Func: "now", Value: "2026-01-01T00:00:00Z", Public: true}}}
	for _, c := range []struct {
		reason string
		ch     plan.Change
		made   chance.Answers
		want   string
	}{
		{"the bundle was renamed: its objects come along", plan.Change{Action: plan.Adopt, Code: plan.CodeMoved, FromManagers: []string{object.Manager("bb")}}, taken, ""},
		{"it is another tenant's, and goes on", plan.Change{Action: plan.Create}, taken, "kept-values-doubtful"},
		{"and nothing is secret", plan.Change{Action: plan.Create}, public, ""},
	} {
		c.ch.Ref, c.ch.Instance = ref, "app"
		s := chance.Settled{Kept: map[string]chance.Answers{"app": c.made}, Came: map[string]chance.Origin{"app": {Owner: "bb", Instance: "app", Removed: true}}}
		got := ""
		if fs := MadeAnew(&plan.Plan{Changes: []plan.Change{c.ch}}, plan.Input{Desired: []plan.Desired{{Ref: ref, Instance: "app"}}}, "app", s, c.made, nil); len(fs) > 0 {
			got = fs[0].Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}
