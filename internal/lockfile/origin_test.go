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
