package valuerefs

import (
	"testing"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/plan"
)

// What is known later is told with the characters that a preview, and the name of who gives it, have.
func TestPreviewsHaveTheirCharacters(t *testing.T) {
	from := taken(t, "{instance: db, object: v1/Service/db, path: spec.n, preview: x}")
	late := body("api", "ConfigMap", "c", map[string]any{"n": "a & <b>"})
	late.Unknown = map[string]bool{"data.n": true}
	r := references(table{}, []Taker{{Instance: "api", Takes: []bind.From{from}, Open: []bind.From{from}}}, late)
	p := &plan.Plan{Changes: []plan.Change{{Ref: r.Declared[0].Ref, Action: plan.Update, Fields: []plan.FieldChange{{Path: "data.n", Old: `"c"`, New: `"a & <b>"`}}, Content: late.Body}}}
	r.Mark(p)
	if got, want := p.Changes[0].Fields[0].New, `"known after db (preview a & <b>)"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
