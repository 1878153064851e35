package report

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/planfile"
)

// FuzzPlanFile: whatever a plan file holds, reading and showing it ends, with an error or with text.
func FuzzPlanFile(f *testing.F) {
	for _, p := range []*fleetplan.FleetPlan{onePlan(), braked()} {
		plan, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		data, err := planfile.File{Request: []byte(`{"files":["shop.yaml"]}`), Plan: plan, Salt: []byte{0}}.Encode(nil)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := readPlan(data); err != nil {
			f.Fatalf("a seed that nothing reads: %v", err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"v":3,"kind":"hawser.dev/plan","salt":"00","request":{},"plan":{"v":2,"verb":"apply","bundle":"b","clusters":[null]}}`))
	f.Add([]byte(`{"v":3,"kind":"hawser.dev/plan","salt":"00","request":{},"plan":{"v":2,"verb":"delete","bundle":"b","clusters":[{"cluster":"a","wave":1,"plan":{"changes":[
		{"action":"update","object":{"kind":"Secret","name":"s"},"fields":[{"path":"data.a","old":"1","new":"{}"}]},{"action":"adopt","from":"x"}]}}]}}`))
	f.Add([]byte(`{"v":3,"kind":"hawser.dev/plan","salt":"00","request":{},"plan":{"v":2,"verb":"apply","bundle":"b","groups":[{"members":["x"]}],"schedule":{"members":[{"wave":9}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := readPlan(data)
		if err != nil {
			return
		}
		shown := func(print func(io.Writer) error) string {
			var b bytes.Buffer
			if err := print(&b); err != nil {
				t.Error(err)
			}
			if text := b.String(); text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
				t.Errorf("nothing, or what a terminal would obey, is shown: %q", text)
			}
			return b.String()
		}
		for _, st := range []Style{{Width: 120}, {Width: 60}, {Width: 120, Full: true}, {Width: 120, Stat: true}} {
			shown(func(w io.Writer) error { return Plan(w, p, st) })
		}
		shown(func(w io.Writer) error { return Markdown(w, p, false) })
		if text := shown(func(w io.Writer) error { return JSON(w, p) }); !json.Valid([]byte(text)) {
			t.Errorf("no JSON: %s", text)
		}
	})
}

// readPlan reads a plan file's plan.
func readPlan(data []byte) (*fleetplan.FleetPlan, error) {
	file, err := planfile.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return fleetplan.Read(file, nil)
}
