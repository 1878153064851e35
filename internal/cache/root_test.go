package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
)

// paths is what stands in a directory; one that is not there has nothing.
func paths(dir string) (out []string, err error) {
	found, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range found {
		out = append(out, filepath.Join(dir, f.Name()))
	}
	return out, err
}

func refused(t *testing.T, err error) {
	t.Helper()
	if f := diag.From(err, ""); len(f) == 0 || f[0].Code != "cache-link" || f[0].Fix == "" {
		t.Errorf("%v", err)
	}
}

// TestLinksLeadNowhere: who can write the cache puts a link in the place of one of its directories. Whatever is done with the cache, nothing of what
// that leads to is removed, moved or made; what cannot be done then says so.
func TestLinksLeadNowhere(t *testing.T) {
	for _, link := range []string{"blobs", "blobs/sha256", "trees", "trees/sha256", "documents", "documents/sha512", "notes", "notes/sha256", "locks", "tmp"} {
		t.Run(link, func(t *testing.T) {
			dir, victim := t.TempDir(), t.TempDir()
			hex := digestOf("hello")[7:]
			old := time.Now().Add(-1000 * time.Hour)
			files := []string{"a.txt", "my-file", "sub/b", hex, hex + hex, "sha256/" + hex, "sha256/" + digestOf("tree")[7:] + "/inventory.json", "sha512/" + hex + hex, "tree-1/x", "blob-1", "blobs-" + hex, "x-" + hex}
			for _, name := range files {
				at := filepath.Join(victim, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("mine"), 0o600), os.Chtimes(at, old, old), os.Chtimes(filepath.Dir(at), old, old)); err != nil {
					t.Fatal(err)
				}
			}
			at := filepath.Join(dir, filepath.FromSlash(link))
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(victim, at)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				c := Open(Options{Dir: dir})
				o := &origin{content: "hello"}
				if f, err := c.Blob(t.Context(), digestOf("hello"), o.fetch); err == nil {
					_ = f.Close()
				} else {
					refused(t, err)
				}
				o = &origin{content: "tree"}
				if _, err := c.Tree(t.Context(), Key{Digest: digestOf("tree"), Source: "oci://registry/x"}, o.expect, o.build); err != nil {
					refused(t, err)
				}
				c.KeepNote("key", []byte("note"))
				_, _ = c.Note("key")
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				for _, p := range []Policy{{}, {OlderThan: time.Minute}, {All: true}} {
					_, err := c.Prune(t.Context(), p, time.Now().Add(100*time.Hour))
					if err != nil {
						refused(t, err)
					}
				}
			}
			var left []string
			err := filepath.WalkDir(victim, func(p string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					rel, _ := filepath.Rel(victim, p)
					left = append(left, filepath.ToSlash(rel))
				}
				return err
			})
			if err != nil || len(left) != len(files) {
				t.Errorf("there were %q, and now %q: %v", files, left, err)
			}
			for _, name := range files {
				if data, err := os.ReadFile(filepath.Join(victim, filepath.FromSlash(name))); err != nil || string(data) != "mine" {
					t.Errorf("%s: %q %v", name, data, err)
				}
			}
		})
	}
}

// TestPruneLeavesOthersFiles: a directory that is no cache, or not only one, loses nothing that is not ours by its name.
func TestPruneLeavesOthersFiles(t *testing.T) {
	dir := t.TempDir()
	c := Open(Options{Dir: dir})
	blob(t, c, &origin{content: "hello"})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-1000 * time.Hour)
	others := []string{"tmp/thesis.tex", "tmp/old", "locks/front-door", "blobs/sha256/README", "trees/sha256/pine", "notes/sha256/meeting", "documents/sha512/cv"}
	for _, name := range others {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, nil, 0o600), os.Chtimes(at, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.Prune(t.Context(), Policy{All: true}, time.Now())
	if err != nil || len(got.Entries) != 1 || got.Entries[0].Digest != digestOf("hello") {
		t.Errorf("%+v %v", got, err)
	}
	for _, name := range others {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
}
