package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/rootfs"
)

// Key says which tree is meant.
type Key struct {
	// Digest is of what the tree is made from. Variant keeps trees apart that are made of the same in another way; it is a
	// plain word.
	Digest, Variant string
	// Source is where it comes from, for people; secrets in URLs are not to be in it.
	Source string
}

// Tree is a directory of files that were verified.
type Tree struct {
	// Root is an absolute directory of this process alone; nobody writes in it, and Close removes it.
	Root string
	// Files are the paths below Root, slash separated and sorted.
	Files []string
	// Note is what was noted when the tree was made.
	Note []byte
}

// Build makes the files of a tree in dir, which does not exist yet, and returns a note that is kept with them.
type Build func(ctx context.Context, dir string) (note []byte, err error)

// Expect says which files a tree must have, sorted by path, from content that was verified by the key's digest; note is
// the one that is kept with the tree, and not verified yet. An error is "none of this can be believed".
type Expect func(ctx context.Context, note []byte) ([]archive.File, error)

// inventory is the file beside a tree that says what is in it.
type inventory struct {
	V       int     `json:"v"`
	Source  string  `json:"source,omitempty"`
	Digest  string  `json:"digest"`
	Variant string  `json:"variant,omitempty"`
	Note    []byte  `json:"note,omitempty"`
	Bytes   int64   `json:"bytes"`
	Files   []entry `json:"files"`
	// Sum is over all fields above, so that a damaged inventory is noticed too.
	Sum string `json:"sum"`
}

type entry struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Sum  string `json:"sha256"`
}

const (
	inventoryFile = "inventory.json"
	filesDir      = "files"
	version       = 1
)

// Tree is the tree of a key, as files of this process alone. What is kept is compared with what expect says of the pinned
// content itself while it is copied, once in a process: who can write in the cache can write the inventory too, at any time.
// It is built when it is not there, or is there and something else. Errors are build's, and findings for a full disk.
func (c *Cache) Tree(ctx context.Context, key Key, expect Expect, build Build) (Tree, error) {
	name, err := hexOf(key.Digest)
	if err != nil {
		return Tree{}, err
	}
	if key.Variant != "" {
		name += "-" + key.Variant
	}
	done, err := c.enter(ctx, name)
	if err != nil {
		return Tree{}, err
	}
	defer done()
	if t, ok := c.remembered(name); ok {
		return t, nil
	}
	private, err := c.private()
	if err != nil {
		return Tree{}, err
	}
	at := filepath.Join(c.dir, "trees", "sha256", name)
	if t, ok := c.kept(ctx, at, private, key, expect); ok {
		return c.remember(name, t), nil
	}
	made, err := os.MkdirTemp(private, "tree-")
	if err != nil {
		return Tree{}, disk(err, true, private)
	}
	t, err := c.build(ctx, key, made, build)
	if err != nil {
		return Tree{}, disk(errors.Join(err, os.RemoveAll(made)), true, private)
	}
	if c.keeps() {
		if err := c.settle(made, at, key); err != nil {
			return Tree{}, disk(errors.Join(err, os.RemoveAll(made)), false, c.dir)
		}
		c.hold(at)
	}
	return c.remember(name, t), nil
}

// enter waits until no other goroutine makes the tree of that name; done lets the next one in.
func (c *Cache) enter(ctx context.Context, name string) (done func(), err error) {
	for {
		c.mu.Lock()
		other, taken := c.busy[name]
		if !taken {
			mine := make(chan struct{})
			c.busy[name] = mine
			c.mu.Unlock()
			return func() {
				c.mu.Lock()
				delete(c.busy, name)
				c.mu.Unlock()
				close(mine)
			}, nil
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *Cache) remembered(name string) (Tree, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.known[name]
	return t, ok
}

func (c *Cache) remember(name string, t Tree) Tree {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[name] = t
	return t
}

// kept is a copy of a tree that is there and verifies. One that does not verify is removed.
func (c *Cache) kept(ctx context.Context, at, private string, key Key, expect Expect) (Tree, bool) {
	if c.dir == "" {
		return Tree{}, false
	}
	if _, err := os.Lstat(at); err != nil {
		return Tree{}, false
	}
	c.hold(at)
	own, err := os.MkdirTemp(private, "tree-")
	if err != nil {
		return Tree{}, false
	}
	t, err := verify(at, filepath.Join(own, filesDir), key, func(note []byte) ([]archive.File, error) { return expect(ctx, note) })
	if err == nil {
		c.touch(filepath.Join(at, inventoryFile))
		return t, true
	}
	_ = os.RemoveAll(own)
	if ctx.Err() == nil && !full(err) {
		c.discard(at)
	}
	return Tree{}, false
}

// discard takes a tree out of its place at once, then removes it.
func (c *Cache) discard(at string) {
	trash, err := c.aside("trash")
	if err != nil {
		return
	}
	_ = c.place(at, filepath.Join(trash, "tree"))
	_ = c.removeAll(trash)
}

func (c *Cache) build(ctx context.Context, key Key, made string, build Build) (Tree, error) {
	root := filepath.Join(made, filesDir)
	note, err := build(ctx, root)
	if err != nil {
		return Tree{}, err
	}
	files, bytes, err := take(root)
	if err != nil {
		return Tree{}, err
	}
	inv := inventory{V: version, Source: key.Source, Digest: key.Digest, Variant: key.Variant, Note: note, Bytes: bytes}
	for _, f := range files {
		inv.Files = append(inv.Files, entry{f.Path, f.Size, f.SHA256})
	}
	inv.Sum = inv.sum()
	data, err := json.Marshal(inv)
	if err != nil {
		return Tree{}, err
	}
	return inv.tree(root), os.WriteFile(filepath.Join(made, inventoryFile), data, 0o644)
}

// settle copies a tree into the cache. When another process was quicker, its tree serves if it has the same files.
func (c *Cache) settle(made, at string, key Key) error {
	aside, err := c.aside("tree")
	if err != nil {
		return err
	}
	if err := c.copyIn(made, aside); err != nil {
		return errors.Join(err, c.removeAll(aside))
	}
	if c.place(aside, at) == nil {
		return nil
	}
	files, _, err := take(filepath.Join(made, filesDir))
	if err != nil {
		return errors.Join(err, c.removeAll(aside))
	}
	if _, bad := verify(at, "", key, func([]byte) ([]archive.File, error) { return files, nil }); bad == nil {
		return c.removeAll(aside)
	}
	c.discard(at)
	if err := c.place(aside, at); err != nil {
		return errors.Join(err, c.removeAll(aside))
	}
	return nil
}

// verify copies a tree to a directory ("" for nowhere), and compares what it copies with what its inventory says and what is
// expected: nothing of the tree is read twice.
func verify(at, to string, key Key, expect func(note []byte) ([]archive.File, error)) (Tree, error) {
	inv, err := readInventory(at)
	if err != nil {
		return Tree{}, err
	}
	if inv.Digest != key.Digest || inv.Variant != key.Variant {
		return Tree{}, fmt.Errorf("%s holds another tree", at)
	}
	want, err := expect(inv.Note)
	if err != nil {
		return Tree{}, err
	}
	if !slices.Equal(inv.files(), want) {
		return Tree{}, fmt.Errorf("%s: its files are not those of the content with its digest", at)
	}
	names, err := list(filepath.Join(at, filesDir))
	if err != nil {
		return Tree{}, err
	}
	if !slices.EqualFunc(names, want, func(name string, f archive.File) bool { return name == f.Path }) {
		return Tree{}, fmt.Errorf("%s: its files are not those of its inventory", at)
	}
	if to != "" {
		if err := os.MkdirAll(to, 0o755); err != nil {
			return Tree{}, err
		}
	}
	for _, f := range want {
		if err := copied(at, to, f); err != nil {
			return Tree{}, err
		}
	}
	return inv.tree(to), nil
}

// copied copies one file of a tree and compares it.
func copied(at, to string, f archive.File) error {
	from, h := filepath.Join(at, filesDir, filepath.FromSlash(f.Path)), sha256.New()
	if to == "" {
		return same(h, f, copyOf(h, from, f.Size+1))
	}
	name := filepath.Join(to, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = copyOf(io.MultiWriter(out, h), from, f.Size+1)
	return same(h, f, errors.Join(err, out.Close()))
}

func same(h hash.Hash, f archive.File, err error) error {
	if err == nil && hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
		err = fmt.Errorf("%s is not what it should be", f.Path)
	}
	return err
}

func readInventory(at string) (inventory, error) {
	var inv inventory
	data, err := rootfs.ReadFile(filepath.Join(at, inventoryFile), rootfs.MaxLarge)
	if err != nil {
		return inv, err
	}
	if err := json.Unmarshal(data, &inv); err != nil {
		return inv, err
	}
	if inv.V != version || inv.Sum != inv.sum() {
		return inv, fmt.Errorf("%s: the inventory is damaged", at)
	}
	return inv, nil
}

func (v inventory) sum() string {
	v.Sum = ""
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (v inventory) files() []archive.File {
	out := make([]archive.File, len(v.Files))
	for i, f := range v.Files {
		out[i] = archive.File{Path: f.Path, Size: f.Size, SHA256: f.Sum}
	}
	return out
}

func (v inventory) tree(root string) Tree {
	t := Tree{Root: root, Note: v.Note, Files: make([]string, 0, len(v.Files))}
	for _, f := range v.Files {
		t.Files = append(t.Files, f.Path)
	}
	return t
}

// list is the files below a directory, sorted by path. Anything but files and directories is an error.
func list(root string) (names []string, err error) {
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is no plain file", p)
		}
		rel, err := filepath.Rel(root, p)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(names)
	return names, err
}

// take makes the inventory of a directory: every file with size and digest, sorted by path.
func take(root string) (files []archive.File, bytes int64, err error) {
	names, err := list(root)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		f := archive.File{Path: name}
		if f.Size, f.SHA256, err = sumOf(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			return nil, 0, err
		}
		files, bytes = append(files, f), bytes+f.Size
	}
	return files, bytes, nil
}

func sumOf(name string) (int64, string, error) {
	in, err := rootfs.OpenFile(name)
	if err != nil {
		return 0, "", err
	}
	h := sha256.New()
	n, err := io.Copy(h, in)
	return n, hex.EncodeToString(h.Sum(nil)), errors.Join(err, in.Close())
}
