package lineage

import (
	"slices"
	"testing"
)

// TestAbsent: a bundle that a run does not find is declared nowhere when the run reads every file that it was read from, or
// nothing is there any more, at the same place, and something proves that it is the same. What is not known is not removed.
func TestAbsent(t *testing.T) {
	here, elsewhere, dir := Source{Repository: repoA, Path: "deploy"}, Source{Repository: repoB, Path: "deploy"}, Source{Path: "/workspace"}
	disk := Source{Repository: "/srv/git/shop", Path: "deploy"}
	files := []string{"shop.yaml"}
	for name, tt := range map[string]struct {
		rec  Record
		run  Run
		want Absence
	}{
		"the same file":                  {Record{Source: here, Files: files}, Run{Source: here, Files: files}, Removed},
		"the same directory":             {Record{Source: here, Files: []string{"."}}, Run{Source: here, Files: []string{"."}}, Removed},
		"a file of the directory":        {Record{Source: here, Files: []string{"a.yaml"}}, Run{Source: here, Files: []string{"."}}, Removed},
		"a file of a directory below":    {Record{Source: here, Files: []string{"apps/a.yaml"}}, Run{Source: here, Files: []string{"apps"}}, Removed},
		"a file that is gone":            {Record{Source: here, Files: []string{"gone.yaml"}}, Run{Source: here, Files: []string{"b.yaml"}}, Removed},
		"a file that is there":           {Record{Source: here, Files: []string{"a.yaml"}}, Run{Source: here, Files: []string{"b.yaml"}}, NotTold},
		"one of two is there":            {Record{Source: here, Files: []string{"a.yaml", "b.yaml"}}, Run{Source: here, Files: []string{"b.yaml"}}, NotTold},
		"a file with a name that begins": {Record{Source: here, Files: []string{"apps.yaml"}}, Run{Source: here, Files: []string{"apps"}}, NotTold},
		"a file beside the directory":    {Record{Source: here, Files: []string{"../a.yaml"}}, Run{Source: here, Files: []string{"."}}, NotTold},
		"another repository":             {Record{Source: elsewhere, Files: files}, Run{Source: here, Files: files}, NotTold},
		"another fleet":                  {Record{Source: here, Fleet: "x", Files: files}, Run{Source: here, Fleet: "y", Files: files}, NotTold},
		"a record that names no files":   {Record{Source: here}, Run{Source: here, Files: files}, NotTold},
		"a record without a source":      {Record{Files: files}, Run{Source: here, Files: files}, NotTold},
		"a run without files":            {Record{Source: here, Files: []string{"gone.yaml"}}, Run{Source: here}, NotTold},
		"for other values":               {Record{Source: here, Files: files}, Run{Source: here, Files: files, Varies: func() bool { return true }}, NotTold},

		"no lock in the same repository":      {Record{ID: "1", Source: here, Files: files}, Run{Source: here, Files: files}, Removed},
		"the repository's name changed":       {Record{ID: "1", Source: elsewhere, Files: files}, Run{ID: "1", Source: here, Files: files}, NotTold},
		"a path, and the lock":                {Record{ID: "1", Source: dir, Files: files}, Run{ID: "1", Source: dir, Files: files}, Removed},
		"a path, and no lock":                 {Record{ID: "1", Source: dir, Files: files}, Run{Source: dir, Files: files}, PathAlone},
		"a path, and the lock of another one": {Record{ID: "1", Source: dir, Files: files}, Run{ID: "2", Source: dir, Files: files}, NotTold},
		"a path, and a repository came":       {Record{ID: "1", Source: dir, Files: files}, Run{Source: here, Dir: dir.Path, Files: files}, PathAlone},
		"a path, and a record without id":     {Record{Source: dir, Files: files}, Run{Source: dir, Files: files}, PathAlone},
		"a repository's path, and the lock":   {Record{ID: "1", Source: disk, Files: files}, Run{ID: "1", Source: disk, Files: files}, Removed},
		"a repository's path alone":           {Record{ID: "1", Source: disk, Files: files}, Run{Source: disk, Files: files}, PathAlone},
	} {
		tt.run.Gone = func(file string) bool { return file == "gone.yaml" }
		if got := Absent(tt.rec, tt.run, false); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if got := Absent(tt.rec, tt.run, true); (got == Removed) != (tt.want != NotTold) {
			t.Errorf("%s, taken over: %v", name, got)
		}
		if slices.Contains(tt.rec.Files, "gone.yaml") {
			if tt.run.Gone = nil; Absent(tt.rec, tt.run, false) != NotTold {
				t.Errorf("%s: nobody looked", name)
			}
		}
	}
}
