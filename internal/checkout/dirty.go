package checkout

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // it is Git's
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/rootfs"
)

const (
	// maxCompared bounds how many files are compared with a commit, maxBytes how large one of them is.
	maxCompared = 10000
	maxBytes    = 64 << 20
)

// Dirty reports whether any of the files, or of those in the directories, is not what the commit has that is checked out where it lies:
// changed since, not in it, or in no repository. "-" is standard input, which is in no commit. A directory with a kustomization stands for
// what that names, too. known is false where that cannot be told, as the repository cannot be read, or holds more than anybody compares.
func Dirty(paths []string) (dirty, known bool) {
	c := &comparison{trees: map[string]map[string]entry{}, at: map[string]*copied{}, seen: map[string]bool{}}
	for _, p := range paths {
		if p == "-" {
			return true, true
		}
		if dirty, err := c.path(p); dirty || err != nil {
			return dirty, err == nil
		}
	}
	return false, true
}

// comparison compares files with commits; it keeps what it has read of them.
type comparison struct {
	at    map[string]*copied // by directory
	trees map[string]map[string]entry
	seen  map[string]bool
}

// copied is a working copy with its commit's tree; root is "" for none.
type copied struct {
	root, tree string
	store      *store
}

// path compares a file, or what is in a directory.
func (c *comparison) path(path string) (dirty bool, err error) {
	path, err = filepath.Abs(path)
	if err != nil || c.seen[path] {
		return false, err
	}
	if c.seen[path] = true; len(c.seen) > maxCompared {
		return false, fmt.Errorf("more than %d files", maxCompared)
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return true, nil // what was read a moment ago is gone
	case info.Mode()&fs.ModeSymlink != 0:
		if dirty, err = c.file(path, info); dirty || err != nil {
			return dirty, err
		}
		to, err := filepath.EvalSymlinks(path)
		if err != nil {
			return true, nil
		}
		return c.path(to)
	case !info.IsDir():
		return c.file(path, info)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		name := e.Name()
		if name == ".git" || name == "hawser.lock" {
			continue
		}
		if dirty, err := c.path(filepath.Join(path, name)); dirty || err != nil {
			return dirty, err
		}
		if slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, name) {
			for _, to := range named(path, small(filepath.Join(path, name))) {
				if dirty, err := c.path(to); dirty || err != nil {
					return dirty, err
				}
			}
		}
	}
	return false, nil
}

var item = lazyregexp.New(`^\s*(?:-\s+)?(?:path:|[^\s:=]+=)?\s*["']?([^\s"'#]+)["']?\s*(?:#.*)?$`)

// named are the files and directories that the lines of a kustomization name, as far as they are there.
func named(dir, text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		m := item.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || strings.Contains(m[1], "://") || m[1] == "." {
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(m[1]))
		if _, err := os.Lstat(to); err == nil {
			out = append(out, to)
		}
	}
	return out
}

// copyOf is the working copy that holds a directory.
func (c *comparison) copyOf(dir string) (*copied, error) {
	if at := c.at[dir]; at != nil {
		return at, nil
	}
	at := &copied{}
	if git, ok := gitDir(filepath.Join(dir, ".git")); ok {
		at.root = dir
		if name := head(git); name != "" { // else nothing is committed yet
			at.store = openStore(git, name)
			var err error
			if at.tree, err = at.store.root(name); err != nil {
				return nil, err
			}
		}
	} else if up := filepath.Dir(dir); up != dir {
		above, err := c.copyOf(up)
		if err != nil {
			return nil, err
		}
		at = above
	}
	c.at[dir] = at
	return at, nil
}

// file compares one file, or a link by where it leads.
func (c *comparison) file(path string, info fs.FileInfo) (dirty bool, err error) {
	at, err := c.copyOf(filepath.Dir(path))
	if err != nil || at.root == "" || at.store == nil {
		return err == nil, err
	}
	rel, err := filepath.Rel(at.root, path)
	if err != nil {
		return false, err
	}
	name := entry{mode: modeTree, id: at.tree}
	for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
		entries, known := c.trees[name.id]
		if !known {
			if entries, err = at.store.tree(name.id); err != nil {
				return false, err
			}
			c.trees[name.id] = entries
		}
		var there bool
		if name, there = entries[part]; !there {
			return true, nil
		}
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(path)
		return name.mode != modeLink || blob(len(name.id), []byte(to)) != name.id, err
	}
	data, err := rootfs.ReadFile(path, maxBytes)
	if err != nil {
		return false, err
	}
	if blob(len(name.id), data) == name.id {
		return false, nil
	}
	return blob(len(name.id), bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))) != name.id, nil // Git may write other ends of lines
}

// blob is the name that Git gives a content, in as many digits.
func blob(digits int, data []byte) string {
	var h hash.Hash = sha1.New() //nolint:gosec // it is Git's
	if digits == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
