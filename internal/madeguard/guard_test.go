package madeguard

import (
	"testing"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

func TestMadeAnew(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	plain := object.Ref{Kind: "Secret", Namespace: "ns", Name: "plain"}
	answers := func(v string) chance.Answers {
		return chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: v}}}
	}
	type kept = map[string]chance.Answers
	taken := func(from string) chance.Answers {
		a := answers("new-password-of-app")
		a.From, a.Moves = from, 1
		return a
	}
	desired := []plan.Desired{{Ref: ref, Instance: "app"}}
	was := func(instance string) plan.Input {
		return plan.Input{Desired: desired, Owned: []plan.Owned{{Ref: ref, Instance: instance}}}
	}
	writes := plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Update}}}
	moved := plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Adopt, Code: plan.CodeMoved, FromManagers: []string{object.Manager("bb")}}}}
	bodies := map[object.Ref]object.Object{ref: {Body: map[string]any{"data": map[string]any{"p": "x bmV3LXBhc3N3b3JkLW9mLWFwcA== y"}}},
		plain: {Body: map[string]any{"data": map[string]any{"p": "c3RhdGlj"}}}}
	came := func(owner, instance string, doubt bool) map[string]chance.Origin {
		return map[string]chance.Origin{"app": {Owner: owner, Instance: instance, Doubt: doubt}}
	}
	for _, c := range []struct {
		reason string
		p      plan.Plan
		in     plan.Input
		s      chance.Settled
		want   string
	}{
		{"a first install", plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Create}}}, plan.Input{Desired: desired}, chance.Settled{}, ""},
		{"the record is lost", plan.Plan{}, plan.Input{Rebuilt: true, Desired: desired, Owned: []plan.Owned{{Ref: ref, Instance: "app"}}}, chance.Settled{}, "kept-values-lost"},
		{"the record is lost, and not what is kept", plan.Plan{}, plan.Input{Rebuilt: true, Desired: desired, Owned: []plan.Owned{{Ref: ref, Instance: "app"}}},
			chance.Settled{Kept: kept{"app": answers("new-password-of-app")}}, ""},
		{"the record is lost, the instance is new", plan.Plan{}, plan.Input{Rebuilt: true, Desired: desired, Owned: []plan.Owned{{Ref: object.Ref{Kind: "Job"}, Instance: "job"}}}, chance.Settled{}, ""},
		{"it was another instance's", plan.Plan{}, was("db"), chance.Settled{Kept: kept{"db": answers("old")}}, "kept-values-moved"},
		{"the other instance's are the same", plan.Plan{}, was("db"), chance.Settled{Kept: kept{"db": answers("new-password-of-app")}}, ""},
		{"it was another instance's, which made nothing up", plan.Plan{}, was("db"), chance.Settled{}, ""},
		{"two names were swapped", writes, was("db"), chance.Settled{Kept: kept{"db": answers("old"), "app": answers("new-password-of-app")}}, "kept-values-moved"},
		{"it moves into another instance, and holds nothing of that", plan.Plan{}, plan.Input{Desired: []plan.Desired{{Ref: plain, Instance: "app"}}, Owned: []plan.Owned{{Ref: plain, Instance: "db"}}}, chance.Settled{Kept: kept{"db": answers("old"), "app": answers("new-password-of-app")}}, ""},
		{"the instance was renamed", writes, was("db"), chance.Settled{Kept: kept{"app": answers("new-password-of-app")}, Came: came("ba", "db", false)}, ""},
		{"renamed to a former name, and objects come along", writes, was("db"), chance.Settled{Kept: kept{"app": answers("new-password-of-app")}, Came: came("ba", "db", true)}, ""},
		{"renamed to a former name, and none does", plan.Plan{}, plan.Input{Desired: desired}, chance.Settled{Kept: kept{"app": answers("new-password-of-app")}, Came: came("ba", "db", true)}, "kept-values-doubtful"},
		{"it was another bundle's", moved, plan.Input{Desired: desired}, chance.Settled{}, "kept-values-moved"},
		{"it was another bundle's, and so were the values", moved, plan.Input{Desired: desired},
			chance.Settled{Kept: kept{"app": taken("bb")}, Came: came("bb", "app", true)}, ""},
		{"the values were taken before", moved, plan.Input{Desired: desired}, chance.Settled{Kept: kept{"app": taken("bb")}}, ""},
		{"it was another bundle's, and the values are own ones", moved, plan.Input{Desired: desired},
			chance.Settled{Kept: kept{"app": answers("new-password-of-app")}}, "kept-values-moved"},
		{"it was another bundle's, and the values are of a third", moved, plan.Input{Desired: desired},
			chance.Settled{Kept: kept{"app": taken("bc")}, Came: came("bc", "app", false)}, "kept-values-moved"},
		{"it goes to another bundle", plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Release, Code: plan.CodeMoved}}}, plan.Input{}, chance.Settled{}, ""},
	} {
		got := ""
		if fs := MadeAnew(&c.p, c.in, "app", c.s, answers("new-password-of-app"), bodies); len(fs) > 0 {
			got = fs[0].Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}

// TestLeftBehind: a bundle is not deleted with the passwords of what goes to an instance of another name.
func TestLeftBehind(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	p := plan.Plan{Changes: []plan.Change{{Ref: ref, Instance: "app", Action: plan.Release, Code: plan.CodeMoved}}}
	made := map[string]string{"app": "sha256:1"}
	for _, c := range []struct {
		to   string
		made map[string]string
		want int
	}{{"app", made, 0}, {"database", made, 1}, {"database", nil, 0}} {
		b := plan.Beside{Declares: map[object.Ref]plan.Declaration{ref: {Bundle: "bb", Instance: c.to}}}
		if got := LeftBehind(&p, b, c.made); len(got) != c.want {
			t.Errorf("to %s: %v", c.to, got)
		}
	}
}
