package rootfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/rootfs"
	"hawser.dev/hawser/internal/testseed"
)

const secret = "SECRET-OF-THE-DISK"

// tree is a directory with a repository beside a secret, and what a test adds.
func tree(t testing.TB) (top, root string) {
	t.Helper()
	top = t.TempDir()
	root = filepath.Join(top, "repo")
	for name, text := range map[string]string{
		"outside/secret.yaml": secret, "repo/a.yaml": "a", "repo/d/b.yaml": "b", "repo/.git/config": secret, "repo-other/x.yaml": secret,
	} {
		at := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return top, root
}

func link(t testing.TB, target, at string) {
	t.Helper()
	if err := os.Symlink(target, at); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	top, root := tree(t)
	link(t, "a.yaml", filepath.Join(root, "in.yaml"))
	link(t, "../outside/secret.yaml", filepath.Join(root, "out.yaml"))
	link(t, filepath.Join(top, "outside"), filepath.Join(root, "dir"))
	link(t, ".git/config", filepath.Join(root, "git.yaml"))
	link(t, ".git", filepath.Join(root, "g"))
	link(t, "../repo-other/x.yaml", filepath.Join(root, "sibling.yaml"))
	link(t, "out.yaml", filepath.Join(root, "twice.yaml"))
	link(t, "loop.yaml", filepath.Join(root, "loop.yaml"))
	for _, c := range []struct {
		name, want string
		outside    bool
	}{
		{"a.yaml", "a", false}, {"d/b.yaml", "b", false}, {"in.yaml", "a", false},
		{"out.yaml", "", true}, {"dir/secret.yaml", "", true}, {"git.yaml", "", true}, {"g/config", "", true}, {".git/config", "", true},
		{"sibling.yaml", "", true}, {"twice.yaml", "", true}, {"../outside/secret.yaml", "", true}, {"/etc/hosts", "", true},
		{"loop.yaml", "", false}, {"nope.yaml", "", false}, {"d", "", false}, {"", "", true},
	} {
		data, err := rootfs.Read(root, c.name, 100)
		if string(data) != c.want || (err == nil) != (c.want != "") || rootfs.IsOutside(err) != c.outside {
			t.Errorf("%s: %q, %v", c.name, data, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error shows the content: %v", c.name, err)
		}
	}
	if _, err := rootfs.Read(root, "a.yaml", 0); err == nil {
		t.Error("a file beyond the limit is read")
	}
}

func TestBound(t *testing.T) {
	top, root := tree(t)
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{filepath.Join(root, "d"): true, root: true, filepath.Join(top, "outside"): false} {
		got, marked, err := rootfs.Bound(dir, rootfs.Marks...)
		if err != nil || marked != want || marked && got != real {
			t.Errorf("%s: %s %v %v", dir, got, marked, err)
		}
	}
	if _, _, err := rootfs.Bound(filepath.Join(top, "nope"), rootfs.Marks...); err == nil {
		t.Error("a directory that is not there has a bound")
	}
	if rel, err := rootfs.Below(root, filepath.Join(root, "d", "..", "d", "b.yaml")); err != nil || rel != "d/b.yaml" {
		t.Error(rel, err)
	}
	if _, err := rootfs.Below(root, filepath.Join(top, "outside", "secret.yaml")); !rootfs.IsOutside(err) {
		t.Error(err)
	}
}

// TestNothingLeadsOut: whatever links a tree holds, no way of reading gives a byte from outside of it.
func TestNothingLeadsOut(t *testing.T) {
	first := testseed.From(t)
	for seed := first; seed < first+25; seed++ {
		top, root := tree(t)
		rng := rand.New(rand.NewPCG(seed, 7))
		dirs, targets := []string{"."}, []string{"..", "../outside", "../outside/secret.yaml", top, "/", "/etc", ".git", ".git/config", "d", "a.yaml", "../repo", "../repo-other", "../../..", "."}
		for range 12 {
			at := path.Join(dirs[rng.IntN(len(dirs))], string(rune('k'+rng.IntN(8))))
			if rng.IntN(3) == 0 {
				if os.Mkdir(filepath.Join(root, at), 0o755) == nil {
					dirs = append(dirs, at)
				}
				continue
			}
			target := targets[rng.IntN(len(targets))]
			if os.Symlink(target, filepath.Join(root, at)) == nil {
				targets = append(targets, path.Base(at), "../"+at, path.Join(at, "secret.yaml"), path.Join(at, "outside/secret.yaml"))
				dirs = append(dirs, at)
			}
		}
		names := []string{"../outside/secret.yaml", "d/../../outside/secret.yaml"}
		for _, d := range dirs {
			for _, below := range []string{"", "secret.yaml", "outside/secret.yaml", "x.yaml", "config", ".git/config", "../outside/secret.yaml", "repo/.git/config"} {
				names = append(names, path.Join(d, below), d+"/"+below)
			}
		}
		fsys := rootfs.FS{Root: root, Limit: 1 << 20}
		for _, name := range names {
			if data, err := rootfs.Read(root, name, 1<<20); bytes.Contains(data, []byte(secret)) {
				t.Fatalf("seed %d: Read %s gives %q (%v)", seed, name, data, err)
			}
			f, err := fsys.Open(name)
			if err != nil {
				if strings.Contains(err.Error(), secret) {
					t.Fatalf("seed %d: %v", seed, err)
				}
				continue
			}
			if data, _ := io.ReadAll(f); bytes.Contains(data, []byte(secret)) {
				t.Fatalf("seed %d: Open %s gives %q", seed, name, data)
			}
			_ = f.Close()
		}
		found, err := fs.Glob(fsys, "*/*/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if data, _ := fs.ReadFile(fsys, name); bytes.Contains(data, []byte(secret)) {
				t.Fatalf("seed %d: a glob gives %s: %q", seed, name, data)
			}
		}
	}
}

func TestFS(t *testing.T) {
	_, root := tree(t)
	fsys := rootfs.FS{Root: root, Limit: 100}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
	if info, err := fs.Stat(fsys, "d/b.yaml"); err != nil || info.Size() != 1 {
		t.Error(info, err)
	}
	if _, err := (rootfs.FS{Root: root, Limit: 0}).Open("a.yaml"); err == nil {
		t.Error("a file beyond the limit is opened")
	}
	if _, err := fsys.Open("nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := fsys.ReadDir("a.yaml"); err == nil {
		t.Error("a file is listed")
	}
}

// TestWithin: what lies outside, or in .git, is told by every name and link, and the same of what is not there.
func TestNamed(t *testing.T) {
	_, root := tree(t)
	outside := filepath.Join(filepath.Dir(root), "outside")
	link(t, outside, filepath.Join(root, "d", "out"))
	for _, c := range []struct {
		reason, dir, name string
		allowed           []string
		want              string
	}{
		{"relative to the document", filepath.Join(root, "d"), "b.yaml", nil, ""},
		{"elsewhere in its repository", filepath.Join(root, "d"), "../a.yaml", nil, ""},
		{"outside", root, "../outside", nil, "../outside lies"},
		{"outside, absolute", root, outside, nil, "outside of"},
		{"by a link", filepath.Join(root, "d"), "out", nil, "out lies, or leads by a link, outside of"},
		{"in .git", root, ".git", nil, ".git is a part of .git"},
		{"in .git, as some systems spell it", root, ".GIT/config", nil, "is a part of .git"},
		{"allowed", root, "../outside/secret.yaml", []string{"", "relative", outside}, ""},
		{"another directory is allowed", root, "../outside", []string{outside + "-other", filepath.Join(outside, "d"), "."}, "outside of"},
		{"no document named it", "", outside, nil, ""},
	} {
		got, err := rootfs.Named(c.dir, c.name, c.allowed...)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && !filepath.IsAbs(got) {
			t.Errorf("%s: %q, %v; want %q", c.reason, got, err, c.want)
		}
	}
}

func TestWithin(t *testing.T) {
	_, root := tree(t)
	for name, to := range map[string]string{"out": "../outside", "gone": "../outside/gone", "g": ".git", "in": "d", "hop": "gone", "here": "nowhere", "loop": "loop", "abs": filepath.Join(root, "d")} {
		link(t, to, filepath.Join(root, name))
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a.yaml": "", "d/b.yaml": "", "d/*.yaml": "", "nothing": "", "in/b.yaml": "", "abs/b.yaml": "", "here": "", "here/x": "", ".": "", "../repo/a.yaml": "",
		"..": "outside of", "../outside/secret.yaml": "outside of", "../outside/gone": "outside of", "../repo-other/x.yaml": "outside of", "../*": "outside of",
		"out": "outside of", "out/secret.yaml": "outside of", "out/gone": "outside of", "out/*.yaml": "outside of", "gone": "outside of", "hop": "outside of",
		".git": "part of .git", ".git/config": "part of .git", "g": "part of .git", "g/config": "part of .git", "d/.git/x": "part of .git", "loop": "too many links",
	} {
		if err := rootfs.Within(real, filepath.Join(root, name)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for dir, want := range map[string]string{root: real, filepath.Join(root, "d"): real, filepath.Join(root, "out"): filepath.Join(filepath.Dir(real), "outside")} {
		if got, err := rootfs.Bounds(dir); err != nil || got != want {
			t.Errorf("%s: %s, %v", dir, got, err)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "d", "cue.mod"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := rootfs.Bounds(filepath.Join(root, "d")); err != nil || got != real {
		t.Errorf("a module of a repository: %s, %v", got, err)
	}
}
