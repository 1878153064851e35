package plan

import (
	"testing"

	"hawser.dev/hawser/internal/object"
)

// What is made up when a plan is applied is shown as that, also inside of what is shown whole, and nothing else is.
func TestShowMade(t *testing.T) {
	ref, other := object.Ref{Kind: "ConfigMap", Name: "a"}, object.Ref{Kind: "ConfigMap", Name: "b"}
	body := func(sum string) object.Object {
		return object.Object{Body: map[string]any{"data": map[string]any{"sum": sum, "line": "user=x; sum=" + sum, "same": "5f", "tag": "<" + sum + ">"},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "sum": sum}}}}}
	}
	p := &Plan{Changes: []Change{{Action: Update, Ref: ref, Fields: []FieldChange{
		{Path: "data.sum", Old: `"77"`, New: `"5f"`}, {Path: "data.same", New: `"5f"`}, {Path: "data.line", New: `"user=***; sum=5f"`},
		{Path: "spec.containers[c]", New: `{"name":"c","sum":"5f"}`}, {Path: "data.hidden", Hidden: true}, {Path: "data.gone", Old: `"5f"`}, {Path: "data.tag", New: `"<5f>"`}, {Path: "data", New: `{"tag":"<5f>"}`},
	}}, {Action: Create, Ref: other, Why: "w"}}}
	before := p.Changes[0].Fields[0]
	p.ShowMade(map[object.Ref]object.Object{ref: body("5f")}, map[object.Ref]object.Object{ref: body("later")}, []object.Ref{other}, func(s string) string { return s })
	for i, want := range []string{`"later"`, `"5f"`, `"user=x; sum=later"`, `{"name":"c","sum":"later"}`, "", "", `"<later>"`, `{"tag":"<later>"}`} {
		if got := p.Changes[0].Fields[i]; got.New != want {
			t.Errorf("%s: %s, want %s", got.Path, got.New, want)
		}
	}
	if p.Changes[0].Fields[0].Old != before.Old || p.Changes[1].Why != "w; its name is made up when it is applied" {
		t.Errorf("%+v", p.Changes)
	}
}
