package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFactsAreNoLinkOut: facts are read through no link of a repository that leads out of it.
func TestFactsAreNoLinkOut(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	if err := errors.Join(os.MkdirAll(at("repo/.git"), 0o755), os.Mkdir(at("out"), 0o755), os.WriteFile(at("out/facts.json"), []byte("canary"), 0o600),
		os.Symlink("../out", at("repo/d")), os.Symlink("../out/facts.json", at("repo/facts.json"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"repo/d/facts.json", "repo/facts.json"} {
		if _, fs := LoadSnapshot(at(name)); !fs.HasErrors() || !strings.Contains(fs[0].What, "leads out of") {
			t.Errorf("%s: %v", name, fs)
		}
	}
}
