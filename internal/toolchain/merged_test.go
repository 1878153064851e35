package toolchain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/outdir"
)

// A directory has no versions: one that is named beside it was meant for a registry.
func TestVersionOfADirectory(t *testing.T) {
	_, err := (&Tools{Fetchers: map[string]module.Fetcher{"file": nil}}).fetch(t.Context(), Module{Place: "./web", Version: "1.0.0"})
	if err == nil || !strings.Contains(err.Error(), "./web is a directory, which has no versions") || !strings.Contains(err.Error(), "oci://") {
		t.Errorf("%v", err)
	}
}

// TestMergedStaysInside: what is pulled into a directory lies in it, whatever links there are in it: none is followed, also within it.
func TestMergedStaysInside(t *testing.T) {
	top := t.TempDir()
	dir, victim := filepath.Join(top, "into"), filepath.Join(top, "victim")
	for _, d := range []string{filepath.Join(dir, "real"), filepath.Join(dir, ".git", "hooks"), victim} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"sub": "../victim", "gone": "../missing", "near": "real", "hooks": ".git/hooks", "real/hooks": "../.git/hooks", "file": "real/was"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	pull := func(names ...string) error {
		return merged(dir, func(tmp string) error {
			files := map[string][]byte{}
			for _, name := range names {
				files[name] = []byte("x")
			}
			return writeTree(tmp, files)
		})
	}
	for _, name := range []string{"sub/x.yaml", "sub/deep/x.yaml", "gone/x.yaml", "near/x.yaml", "hooks/pre-commit", "hooks/new/x", "real/hooks/pre-commit", "file"} {
		if err := pull("first.yaml", name); err == nil || !strings.Contains(err.Error(), " is a link, in a directory that is written into") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "first.yaml")); !os.IsNotExist(err) {
			t.Errorf("%s: something was written before it was refused: %v", name, err)
		}
	}
	for _, d := range []string{victim, filepath.Join(dir, ".git", "hooks")} {
		if left, err := os.ReadDir(d); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", d, left, err)
		}
	}
	if err := pull("real/x.yaml", "new/deep/y.yaml", "z.yaml"); err != nil {
		t.Error(err)
	}
	if err := pull("real/x.yaml"); err == nil || !strings.Contains(err.Error(), "exists in") {
		t.Errorf("a file that is there: %v", err)
	}
	for _, name := range []string{"real/x.yaml", "new/deep/y.yaml", "z.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestPulledFilesAreThoseWritten: what nobody pulls is neither written nor counted.
func TestPulledFilesAreThoseWritten(t *testing.T) {
	all := []string{".git/config", ".git/hooks/pre-commit", "a.yaml", "sub/.git/config", "sub/b.yaml", outdir.Name}
	dir := t.TempDir()
	files := map[string][]byte{}
	for _, name := range all {
		files[name] = []byte("x")
	}
	if err := writeTree(dir, files); err != nil {
		t.Fatal(err)
	}
	got, err := wanted(dir, all)
	if err != nil || !slices.Equal(got, []string{"a.yaml", "sub/b.yaml"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range all {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != slices.Contains(got, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		t.Error("an empty .git is left")
	}
}

// TestDirectoryIsNoLinkOut: what is pulled, made or vendored goes through no link of a repository that leads out of it.
func TestDirectoryIsNoLinkOut(t *testing.T) {
	top := t.TempDir()
	repo, victim := filepath.Join(top, "pr"), filepath.Join(top, "victim")
	for _, d := range []string{filepath.Join(repo, ".git"), victim} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../victim", filepath.Join(repo, "out")); err != nil {
		t.Fatal(err)
	}
	fill := func(tmp string) error { return writeTree(tmp, map[string][]byte{"x": []byte("x")}) }
	for name, err := range map[string]error{
		"merged": merged(filepath.Join(repo, "out"), fill), "merged below": merged(filepath.Join(repo, "out", "deep"), fill),
		"placed below": placed(filepath.Join(repo, "out", "deep"), fill), "vendored": (&VendorResult{}).write(filepath.Join(repo, "out"), nil),
	} {
		if err == nil || !strings.Contains(err.Error(), "name the directory itself") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(victim); err != nil || len(left) > 0 {
		t.Errorf("something was written: %v %v", left, err)
	}
	if err := merged(filepath.Join(repo, "in"), fill); err != nil {
		t.Error(err)
	}
}
