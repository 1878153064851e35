package nofollow

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoLinkIsFollowed: below the directory that was named no link is followed, at any level and wherever it leads to, and none is replaced;
// nor is anything done in a .git. The directory itself may be a link.
func TestNoLinkIsFollowed(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	if err := errors.Join(os.MkdirAll(at("real/.git/hooks"), 0o755), os.MkdirAll(at("real/sub/own"), 0o755), os.Mkdir(at("out"), 0o755), os.Symlink("real", at("dir")),
		os.WriteFile(at("real/.git/hooks/was"), []byte("was"), 0o600), os.WriteFile(at("real/file"), []byte("was"), 0o600), os.WriteFile(at("out/was"), []byte("was"), 0o600),
		os.Symlink(".git/hooks", at("real/hooks")), os.Symlink("../../.git/hooks", at("real/sub/own/deep")), os.Symlink("sub", at("real/near")), os.Symlink("../out", at("real/away")),
		os.Symlink("gone", at("real/nowhere")), os.Symlink("file", at("real/sub/self"))); err != nil {
		t.Fatal(err)
	}
	d, err := Open(at("dir"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for name, link := range map[string]string{
		"hooks/was": "hooks", "hooks/new/x": "hooks", "sub/own/deep/was": "sub/own/deep", "near/x": "near", "near/own/x": "near", "away/was": "away", "nowhere/x": "nowhere",
		"nowhere": "nowhere", "sub/self": "sub/self", ".git/hooks/was": "", ".GIT/x": "", "sub/.git": "", "../out/was": "", "/x": "",
	} {
		_, lerr := d.Lstat(name)
		_, rerr := d.Read(name, 100)
		for what, err := range map[string]error{"lstat": lerr, "read": rerr, "write": d.Write(name, []byte("x"), 0o600), "move": d.Move("file", name), "remove": d.Remove(name)} {
			switch {
			case err == nil:
				t.Errorf("%s %s is done", what, name)
			case link != "" && !strings.Contains(err.Error(), filepath.Join(at("dir"), filepath.FromSlash(link))+" is a link") || link == "" && !strings.Contains(err.Error(), "it is no path of a file below the directory"):
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
		if err := d.Check("file", name); (err != nil) != (link != "") {
			t.Errorf("check %s: %v", name, err)
		}
	}
	for _, name := range []string{"real/.git/hooks/was", "real/file", "out/was"} {
		if data, err := os.ReadFile(at(name)); err != nil || string(data) != "was" {
			t.Errorf("%s: %q %v", name, data, err)
		}
	}
	for dir, want := range map[string]int{"real/.git/hooks": 1, "out": 1, "real/sub": 2} {
		if left, err := os.ReadDir(at(dir)); err != nil || len(left) != want {
			t.Errorf("%s: %v %v", dir, left, err)
		}
	}
}

// TestDir: files are made with their directories, replaced, moved and removed, with the directories that are empty then.
func TestDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read("a/b/c", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := errors.Join(d.Check("a/b/c"), d.Remove("a/b/c")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("who only reads makes the directory: %v", err)
	}
	if err := errors.Join(d.Write("a/b/c", []byte("old"), 0o644), d.Write("a/b/c", []byte("new"), 0o600), d.Write("a/d", []byte("d"), 0o600), d.Move("a/d", "e/f/g")); err != nil {
		t.Fatal(err)
	}
	if data, err := d.Read("a/b/c", 10); err != nil || string(data) != "new" {
		t.Errorf("%q %v", data, err)
	}
	if _, err := d.Read("a/b/c", 2); err == nil {
		t.Error("more is read than the limit")
	}
	if info, err := d.Lstat("a/b/c"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if err := errors.Join(d.Remove("a/b/c"), d.Remove("a/b/c"), d.Write("a/b/h", nil, 0o600), d.Remove("a/b/h"), d.Close()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "e" {
		t.Errorf("%v %v", left, err)
	}
	if _, err := Open(filepath.Join(dir, "e", "f", "g")); err == nil {
		t.Error("a file is a directory")
	}
}
