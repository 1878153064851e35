package plan

import (
	"testing"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/object"
)

func TestMadeAnew(t *testing.T) {
	ref := object.Ref{Kind: "Secret", Namespace: "ns", Name: "login"}
	answers := func(v string) chance.Answers {
		return chance.Answers{Calls: []chance.Call{{Func: chance.Generate, Value: v}}}
	}
	desired := []Desired{{Ref: ref, Instance: "app"}}
	for _, c := range []struct {
		reason string
		p      Plan
		in     Input
		kept   map[string]chance.Answers
		want   string
	}{
		{"a first install", Plan{Changes: []Change{{Ref: ref, Instance: "app", Action: Create}}}, Input{Desired: desired}, nil, ""},
		{"the record is lost", Plan{}, Input{Rebuilt: true, Desired: desired, Owned: []Owned{{Ref: ref, Instance: "app"}}}, nil, "kept-values-lost"},
		{"the record is lost, the instance is new", Plan{}, Input{Rebuilt: true, Desired: desired, Owned: []Owned{{Ref: object.Ref{Kind: "Job"}, Instance: "job"}}}, nil, ""},
		{"it was another instance's", Plan{}, Input{Desired: desired, Owned: []Owned{{Ref: ref, Instance: "db"}}}, map[string]chance.Answers{"db": answers("old")}, "kept-values-moved"},
		{"what was kept came along", Plan{}, Input{Desired: desired, Owned: []Owned{{Ref: ref, Instance: "db"}}}, map[string]chance.Answers{"db": answers("new")}, ""},
		{"it was another instance's, which made nothing up", Plan{}, Input{Desired: desired, Owned: []Owned{{Ref: ref, Instance: "db"}}}, nil, ""},
		{"it was another bundle's", Plan{Changes: []Change{{Ref: ref, Instance: "app", Action: Adopt, Code: CodeMoved}}}, Input{Desired: desired}, nil, "kept-values-moved"},
		{"it goes to another bundle", Plan{Changes: []Change{{Ref: ref, Instance: "app", Action: Release, Code: CodeMoved}}}, Input{}, nil, ""},
	} {
		got := ""
		if fs := MadeAnew(&c.p, c.in, "app", c.kept, answers("new")); len(fs) > 0 {
			got = fs[0].Code
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}
