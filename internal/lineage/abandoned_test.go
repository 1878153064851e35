package lineage

import (
	"slices"
	"testing"
)

// TestAbandoned: a bundle that a run does not find is declared nowhere when the run reads every file that it was read from,
// or nothing is there any more, at the same place. What is not known is not abandoned.
func TestAbandoned(t *testing.T) {
	here, elsewhere := Source{Repository: repoA, Path: "deploy"}, Source{Repository: repoB, Path: "deploy"}
	for name, tt := range map[string]struct {
		rec  Record
		run  Run
		want bool
	}{
		"the same file":                  {Record{Source: here, Files: []string{"shop.yaml"}}, Run{Source: here, Files: []string{"shop.yaml"}}, true},
		"the same directory":             {Record{Source: here, Files: []string{"."}}, Run{Source: here, Files: []string{"."}}, true},
		"a file of the directory":        {Record{Source: here, Files: []string{"a.yaml"}}, Run{Source: here, Files: []string{"."}}, true},
		"a file of a directory below":    {Record{Source: here, Files: []string{"apps/a.yaml"}}, Run{Source: here, Files: []string{"apps"}}, true},
		"a file that is gone":            {Record{Source: here, Files: []string{"gone.yaml"}}, Run{Source: here, Files: []string{"b.yaml"}}, true},
		"a file that is there":           {Record{Source: here, Files: []string{"a.yaml"}}, Run{Source: here, Files: []string{"b.yaml"}}, false},
		"one of two is there":            {Record{Source: here, Files: []string{"a.yaml", "b.yaml"}}, Run{Source: here, Files: []string{"b.yaml"}}, false},
		"a file with a name that begins": {Record{Source: here, Files: []string{"apps.yaml"}}, Run{Source: here, Files: []string{"apps"}}, false},
		"a file beside the directory":    {Record{Source: here, Files: []string{"../a.yaml"}}, Run{Source: here, Files: []string{"."}}, false},
		"another repository":             {Record{Source: elsewhere, Files: []string{"shop.yaml"}}, Run{Source: here, Files: []string{"shop.yaml"}}, false},
		"another fleet":                  {Record{Source: here, Fleet: "x", Files: []string{"shop.yaml"}}, Run{Source: here, Fleet: "y", Files: []string{"shop.yaml"}}, false},
		"a record that names no files":   {Record{Source: here}, Run{Source: here, Files: []string{"shop.yaml"}}, false},
		"a record without a source":      {Record{Files: []string{"shop.yaml"}}, Run{Source: here, Files: []string{"shop.yaml"}}, false},
		"a run without files":            {Record{Source: here, Files: []string{"gone.yaml"}}, Run{Source: here}, false},
	} {
		tt.run.Gone = func(file string) bool { return file == "gone.yaml" }
		if got := Abandoned(tt.rec, tt.run); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if slices.Contains(tt.rec.Files, "gone.yaml") {
			if tt.run.Gone = nil; Abandoned(tt.rec, tt.run) {
				t.Errorf("%s: nobody looked", name)
			}
		}
	}
}
