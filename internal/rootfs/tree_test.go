//go:build unix

package rootfs_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"hawser.dev/hawser/internal/rootfs"
)

// TestTree: a Tree opens what Read reads, in any order of the directories, and refuses what it refuses.
func TestTree(t *testing.T) {
	top, root := tree(t)
	for at, to := range map[string]string{"in.yaml": "a.yaml", "out.yaml": "../outside/secret.yaml", "dir": filepath.Join(top, "outside"), "git.yaml": ".git/config", "g": ".git",
		"sibling.yaml": "../repo-other/x.yaml", "twice.yaml": "out.yaml", "loop.yaml": "loop.yaml", "same": "d", "d/up.yaml": "../a.yaml"} {
		link(t, to, filepath.Join(root, at))
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"a.yaml", "d/b.yaml", "in.yaml", "out.yaml", "d/up.yaml", "same/b.yaml", "dir/secret.yaml", "git.yaml", "g/config", ".git/config", "sibling.yaml", "twice.yaml",
		"../outside/secret.yaml", "/etc/hosts", "loop.yaml", "nope.yaml", "nope/b.yaml", "a.yaml/b", "pipe", "d", "", "."}
	files := rootfs.NewTree(root)
	defer files.Close()
	for round := range 2 {
		for i := range names {
			name := names[(i*7+round)%len(names)] // from one directory to another, and back
			want, wantErr := rootfs.Read(root, name, 100)
			f, info, err := files.Open(name)
			if err == nil && info.IsDir() {
				_ = f.Close()
				continue
			}
			var got []byte
			if err == nil {
				got, err = io.ReadAll(f)
				_ = f.Close()
			}
			if string(got) != string(want) || (err == nil) != (wantErr == nil) || rootfs.IsOutside(err) != rootfs.IsOutside(wantErr) || errors.Is(err, os.ErrNotExist) != errors.Is(wantErr, os.ErrNotExist) {
				t.Errorf("%q: %q, %v; read: %q, %v", name, got, err, want, wantErr)
			}
		}
	}
}

// TestTreeLooksAgain: a file that has become a link out of the tree, while its directory is open, is not followed.
func TestTreeLooksAgain(t *testing.T) {
	_, root := tree(t)
	files := rootfs.NewTree(root)
	defer files.Close()
	if f, _, err := files.Open("d/b.yaml"); err != nil {
		t.Fatal(err)
	} else {
		_ = f.Close()
	}
	at := filepath.Join(root, "d", "b.yaml")
	for _, to := range []string{"../../outside/secret.yaml", "../.git/config"} {
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
		link(t, to, at)
		if _, _, err := files.Open("d/b.yaml"); !rootfs.IsOutside(err) {
			t.Errorf("a link to %s: %v", to, err)
		}
	}
}

// TestBounded: what a user gives is bounded by its repository, or by the directory that was given; what was given by itself beside any may lead
// anywhere.
func TestBounded(t *testing.T) {
	top, root := tree(t)
	plain := filepath.Join(top, "plain")
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	for at, to := range map[string]string{"repo/out.yaml": "../outside/secret.yaml", "repo/in.yaml": "d/b.yaml", "plain/out.yaml": "../outside/secret.yaml", "repo/d/dir": "../../outside"} {
		link(t, to, filepath.Join(top, filepath.FromSlash(at)))
	}
	var files rootfs.Bounded
	defer files.Close()
	for range 2 {
		for _, c := range []struct {
			name, from string
			want       string
		}{
			{"repo/a.yaml", "", "a"}, {"repo/in.yaml", "", "b"}, {"repo/out.yaml", "", ""}, {"repo/out.yaml", root, ""}, {"repo/d/dir/secret.yaml", filepath.Join(root, "d"), ""},
			{"repo/d/b.yaml", filepath.Join(root, "d"), "b"}, {"plain/out.yaml", "", secret}, {"plain/out.yaml", plain, ""}, {"outside/secret.yaml", plain, ""}, {"repo/nope.yaml", "", ""},
		} {
			f, err := files.Open(filepath.Join(top, filepath.FromSlash(c.name)), c.from)
			got := ""
			if err == nil {
				data, _ := io.ReadAll(f)
				_ = f.Close()
				got = string(data)
			}
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%s of %q: %q, %v", c.name, c.from, got, err)
			}
		}
	}
}

func BenchmarkTree(b *testing.B) {
	root := b.TempDir()
	for i := range 100 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("tree", func(b *testing.B) {
		for b.Loop() {
			files := rootfs.NewTree(root)
			for i := range 100 {
				f, _, err := files.Open(fmt.Sprint(i))
				if err != nil {
					b.Fatal(err)
				}
				_ = f.Close()
			}
			files.Close()
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			for i := range 100 {
				if _, err := rootfs.Read(root, fmt.Sprint(i), 1); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
