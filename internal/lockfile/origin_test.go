package lockfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/lineage"
)

// TestOrigin: the files of a run are told relative to where its hawser.lock is, links followed; of standard input, and of
// files that cannot be found, nothing is.
func TestOrigin(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "apps/b.yaml"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lock, a, apps := filepath.Join(dir, Name), filepath.Join(dir, "a.yaml"), filepath.Join(dir, "apps")
	run := Origin([]string{a, apps, dir}, lock)
	if !slices.Equal(run.Files, []string{"a.yaml", "apps", "."}) {
		t.Errorf("%v", run.Files)
	}
	if run.Gone("a.yaml") || run.Gone("apps/b.yaml") || !run.Gone("apps/c.yaml") {
		t.Error("what is gone is told wrongly")
	}
	if got := Origin([]string{a, filepath.Join(dir, "none.yaml")}, lock); got.Files != nil {
		t.Errorf("%v", got.Files)
	}
	if got := Origin([]string{"-"}, ""); got.Files != nil || !strings.HasPrefix(got.Source.Path, lineage.Piped("")) || got.Source.Path == lineage.Piped("") {
		t.Errorf("%+v", got)
	}
	if got := Origin(nil, lock); got.Source != (lineage.Source{}) || got.Files != nil {
		t.Errorf("%+v", got)
	}
}

// TestStillThere: the first place of a release is at hand as a directory with its lineage, or, for a fork, as a remote.
func TestStillThere(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("deploy/a.yaml", "")
	write("deploy/"+Name, `{"v": 3, "lineages": {"shop": "1"}}`)
	write(".git/config", "[remote \"origin\"]\nurl = git@git.example.com:me/shop.git\n[remote \"upstream\"]\nurl = https://git.example.com/acme/shop\n")
	run := Origin([]string{filepath.Join(dir, "deploy/a.yaml")}, filepath.Join(dir, "deploy", Name))
	for reason, tt := range map[string]struct {
		source lineage.Source
		id     string
		want   bool
	}{
		"the directory of the repository":  {lineage.Source{Repository: "git.example.com/me/shop", Path: "deploy"}, "1", true},
		"a directory with another lineage": {lineage.Source{Repository: "git.example.com/me/shop", Path: "deploy"}, "2", false},
		"a directory that is gone":         {lineage.Source{Repository: "git.example.com/me/shop", Path: "gone"}, "1", false},
		"what the fork was made of":        {lineage.Source{Repository: "git.example.com/acme/shop", Path: "deploy"}, "1", true},
		"a repository of a former address": {lineage.Source{Repository: "old.example.com/acme/shop", Path: "deploy"}, "1", false},
		"a directory of this machine":      {lineage.Source{Path: filepath.Join(dir, "deploy")}, "1", true},
	} {
		if got := run.StillThere(lineage.Record{Bundle: "shop", ID: tt.id, Source: tt.source}); got != tt.want {
			t.Errorf("%s: %v", reason, got)
		}
	}
}
