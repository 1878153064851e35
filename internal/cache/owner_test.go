//go:build unix

package cache

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFilledByOthers: somebody else's empty directory above a kubeconfig makes no cache of what is below; where that one has the kubeconfig, too,
// it does.
func TestFilledByOthers(t *testing.T) {
	top := t.TempDir()
	file, dir := filepath.Join(top, "me", "kc.yaml"), filepath.Join(top, "trees", "sha256")
	for _, d := range []string{filepath.Dir(file), dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !Filled(file) {
		t.Error("what lies in a directory of ours that looks like a cache is not in one")
	}
	const somebody = 54321
	if err := os.Chown(dir, somebody, -1); err != nil {
		t.Skip("nobody but root gives a directory away: ", err)
	}
	if Filled(file) {
		t.Error("a directory of somebody else makes a cache of what is ours")
	}
	if err := os.Chown(file, somebody, -1); err != nil {
		t.Fatal(err)
	}
	if !Filled(file) {
		t.Error("what somebody else has in a cache of theirs is not in one")
	}
}

// A link makes no cache of what is below: whoever may make one points it to a directory of somebody else's.
func TestFilledByALink(t *testing.T) {
	for _, link := range []string{"trees", "trees/sha256"} {
		top, of := t.TempDir(), t.TempDir()
		file := filepath.Join(top, "kc.yaml")
		for _, d := range []string{filepath.Dir(filepath.Join(top, link)), filepath.Join(of, "sha256")} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(of, filepath.Join(top, link)); err != nil {
			t.Skip("no links here: ", err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if Filled(file) {
			t.Errorf("%s: a link makes a cache", link)
		}
	}
}
