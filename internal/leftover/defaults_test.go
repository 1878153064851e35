package leftover

import (
	"fmt"
	"slices"
	"testing"

	"hawser.dev/hawser/internal/plan"
)

// What is declared no longer goes only where the API server has it no more.
func TestDefaults(t *testing.T) {
	gone := func(path string) plan.FieldChange { return plan.FieldChange{Path: path, Old: "1"} }
	to := func(path, v string) plan.FieldChange { return plan.FieldChange{Path: path, Old: "1", New: v} }
	hidden := plan.FieldChange{Path: "a", Hidden: true, Removed: true}
	for name, c := range map[string]struct {
		a    Answer
		want []string
	}{
		"gone":                     {Answer{Told: []plan.FieldChange{gone("a")}, Declared: []plan.FieldChange{gone("a")}, Real: []plan.FieldChange{gone("a")}}, []string{"a 1 "}},
		"kept":                     {Answer{Told: []plan.FieldChange{gone("a")}, Declared: []plan.FieldChange{gone("a")}}, []string{"a 1 1 stays"}},
		"kept, hidden":             {Answer{Told: []plan.FieldChange{hidden}, Declared: []plan.FieldChange{hidden}}, []string{"a   stays"}},
		"another default":          {Answer{Told: []plan.FieldChange{gone("a"), to("b", "2")}, Declared: []plan.FieldChange{gone("a"), to("b", "2")}, Real: []plan.FieldChange{to("a", "3"), to("b", "2"), {Path: "c", New: "4"}}}, []string{"a 1 3", "b 1 2"}},
		"part of it":               {Answer{Told: []plan.FieldChange{gone("a")}, Declared: []plan.FieldChange{gone("a")}, Real: []plan.FieldChange{gone("a.x"), {Path: "a.y", New: "2"}}}, []string{"a.x 1 "}},
		"what it stands in":        {Answer{Told: []plan.FieldChange{gone("a[x].y")}, Declared: []plan.FieldChange{gone("a[x].y")}, Real: []plan.FieldChange{to("a", "2")}}, []string{"a[x].y 1 "}},
		"a name that begins alike": {Answer{Told: []plan.FieldChange{gone("a")}, Declared: []plan.FieldChange{gone("a")}, Real: []plan.FieldChange{gone("ab")}}, []string{"a 1 1 stays"}},
		"against the live object":  {Answer{Told: []plan.FieldChange{to("b", "2")}, Declared: []plan.FieldChange{gone("a"), to("b", "2")}}, []string{"a 1 1 stays", "b 1 2"}},
		"and it is another now":    {Answer{Declared: []plan.FieldChange{gone("a")}, Real: []plan.FieldChange{to("a", "3")}}, []string{"a 3 3 stays"}},
		"and it becomes another":   {Answer{Told: []plan.FieldChange{to("a", "3")}, Declared: []plan.FieldChange{gone("a")}, Real: []plan.FieldChange{to("a", "3")}}, []string{"a 1 3"}},
		"handed over":              {Answer{Told: []plan.FieldChange{to("a", "3")}, Declared: []plan.FieldChange{gone("a")}, Real: []plan.FieldChange{to("a", "3")}, Handed: "a"}, []string{"a 1 1 stays"}},
		"somebody has it":          {Answer{Told: []plan.FieldChange{{Path: "a", Old: "1", New: "1", Stays: true}}, Declared: []plan.FieldChange{gone("a")}}, []string{"a 1 1 stays"}},
	} {
		var got []string
		for _, f := range c.a.Fields() {
			text := fmt.Sprintf("%s %s %s", f.Path, f.Old, f.New)
			if f.Stays {
				text += " stays"
			}
			got = append(got, text)
			if f.Removed {
				t.Errorf("%s: removed", name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
