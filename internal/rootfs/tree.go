package rootfs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Tree reads many files below one directory by the rules of Read: a directory is looked at once for all files that are read of it one after
// the other. It is for one goroutine, and is to be closed.
type Tree struct {
	root string
	dir  string // below root, "" when none is open
	in   *os.Root
}

// NewTree is a tree of which nothing is open yet.
func NewTree(root string) *Tree { return &Tree{root: root} }

// Close ends it.
func (t *Tree) Close() {
	if t.in != nil {
		_ = t.in.Close()
	}
	t.in, t.dir = nil, ""
}

// Open opens a file or directory below the root (slashes), links followed; other things (pipes, devices) are not opened. Errors are
// OutsideErrors and those of os.
func (t *Tree) Open(name string) (*os.File, fs.FileInfo, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) || InGit(name) {
		return nil, nil, &OutsideError{Name: name, Root: t.root}
	}
	if err := t.enter(path.Dir(name)); err != nil {
		return nil, nil, outside(t.root, name, err)
	}
	is, err := t.in.Lstat(path.Base(name))
	if err != nil {
		return nil, nil, err
	}
	if !is.Mode().IsRegular() {
		return open(t.root, name)
	}
	return t.found(name, is)
}

// found opens a file that was one of the open directory, and no link, a moment ago.
func (t *Tree) found(name string, is fs.FileInfo) (*os.File, fs.FileInfo, error) {
	f, err := t.in.Open(path.Base(name))
	if err != nil {
		return nil, nil, outside(t.root, name, err)
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(is, info) { // it has become a link since, or another file: what it is now counts
		_ = f.Close()
		return open(t.root, name)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// enter opens a directory, where another one is open.
func (t *Tree) enter(dir string) error {
	if t.in != nil && t.dir == dir {
		return nil
	}
	t.Close()
	if err := private(t.root, dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return err
	}
	if t.in = root; dir != "." {
		defer func() { _ = root.Close() }()
		t.in, err = root.OpenRoot(filepath.FromSlash(dir))
	}
	if err != nil {
		t.in = nil
		return err
	}
	t.dir = dir
	return nil
}

// Bounded opens many files that a user gave, each bounded by its repository (.git, else its CUE module). The zero value is usable; it is for
// one goroutine, and is to be closed.
type Bounded struct {
	bounds map[string]bounded
	reals  map[string]string
	trees  map[string]*Tree
}

type bounded struct {
	root   string
	marked bool
}

// Open opens a file by its absolute path; from is the directory that was given and holds it, "" for a file given by itself. No link leads
// out of its repository, or of the directory that was given. A file given by itself outside of any repository is the user's own business,
// as far as Given lets links of what was given lead.
func (b *Bounded) Open(name, from string) (*os.File, error) {
	dir := from
	if dir == "" {
		dir = filepath.Dir(name)
	}
	in, ok := b.bounds[dir]
	if !ok {
		root, marked, err := bounds(dir)
		if err != nil {
			return nil, err
		}
		if b.bounds == nil {
			b.bounds, b.reals, b.trees = map[string]bounded{}, map[string]string{}, map[string]*Tree{}
		}
		in = bounded{root, marked}
		b.bounds[dir] = in
	}
	if !in.marked && from == "" {
		return OpenFile(name)
	}
	real, ok := b.reals[filepath.Dir(name)]
	if !ok {
		real = filepath.Dir(name)
		if at, err := filepath.EvalSymlinks(real); err == nil {
			real = at
		}
		b.reals[filepath.Dir(name)] = real
	}
	rel, err := filepath.Rel(in.root, filepath.Join(real, filepath.Base(name)))
	if err != nil || !filepath.IsLocal(rel) {
		return nil, &OutsideError{Name: name, Root: in.root}
	}
	if b.trees[in.root] == nil {
		b.trees[in.root] = NewTree(in.root)
	}
	f, _, err := b.trees[in.root].Open(filepath.ToSlash(rel))
	return f, err
}

// Close ends it.
func (b *Bounded) Close() {
	for _, t := range b.trees {
		t.Close()
	}
}
