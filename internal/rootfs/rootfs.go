package rootfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// OutsideError says that a file lies, or leads by a link, outside of what may be read.
type OutsideError struct {
	// Name is the file as it was asked for, Root the directory that bounds it.
	Name, Root string
	// Link is set when it is a link that leads out.
	Link bool
}

// Error names the file and the root, never what the link leads to.
func (e *OutsideError) Error() string {
	if e.Link {
		return fmt.Sprintf("%s is a link that leads out of %s", e.Name, e.Root)
	}
	return fmt.Sprintf("%s lies outside of %s", e.Name, e.Root)
}

// IsOutside reports whether an error is an OutsideError.
func IsOutside(err error) bool {
	_, ok := errors.AsType[*OutsideError](err)
	return ok
}

// Marks are what the root of a repository or of a CUE module holds.
var Marks = []string{".git", "cue.mod"}

// Bound is the directory that bounds what a file in dir may name: the nearest one that holds one of the marks, else dir
// itself; links are resolved. marked tells which of both it is.
func Bound(dir string, marks ...string) (root string, marked bool, err error) {
	dir, err = filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", false, err
	}
	for up := dir; ; up = filepath.Dir(up) {
		for _, mark := range marks {
			if _, err := os.Stat(filepath.Join(up, mark)); err == nil {
				return up, true, nil
			}
		}
		if up == filepath.Dir(up) {
			return dir, false, nil
		}
	}
}

// Bounds is the directory that holds everything that a document in dir may take sources from: its repository (.git, the whole of it,
// also for a module in it), else its CUE module, else dir itself; links are resolved.
func Bounds(dir string) (string, error) {
	root, _, err := bounds(dir)
	return root, err
}

// bounds is Bounds; marked tells whether it is a repository or a CUE module.
func bounds(dir string) (root string, marked bool, err error) {
	root, marked, err = Bound(dir, Marks[0])
	if err == nil && !marked {
		root, marked, err = Bound(dir, Marks[1])
	}
	return root, marked, err
}

// errOutside is what Within says of what lies outside.
var errOutside = errors.New("lies, or leads by a link, outside of")

// Within is an error for what lies, or leads by a link, outside of a directory (Bounds), or in a repository's own .git; it goes on
// where the path ends. Of what is not there, and of a glob, the part before counts: whether something is there outside is not told.
func Within(root, name string) error {
	real, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if i := strings.IndexAny(real, "*?["); i >= 0 {
		if _, err := os.Lstat(real); err != nil {
			real = filepath.Dir(real[:i] + "x")
		}
	}
	if real, err = resolve(real, maxLinks); err != nil {
		return err
	}
	rel, err := filepath.Rel(root, real)
	switch {
	case err != nil || !filepath.IsLocal(rel):
		return fmt.Errorf("%w %s", errOutside, root)
	case InGit(rel):
		return errors.New("is a part of .git")
	}
	return nil
}

// Named is the path of what a document in dir names, which lies in the document's Bounds, or below one of the directories that who
// runs Hawser allows besides. Without a dir no document named it: then it may lie anywhere. Errors name the path.
func Named(dir, name string, allowed ...string) (string, error) {
	full := name
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, full)
	}
	if dir == "" {
		return full, nil
	}
	bound, err := Bounds(dir)
	if err != nil {
		return "", err
	}
	err = Within(bound, full)
	for _, also := range allowed {
		if also, broken := filepath.EvalSymlinks(also); broken == nil && filepath.IsAbs(also) && Within(also, full) == nil {
			return full, nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s %w", name, err)
	}
	return full, nil
}

// Written is the directory, links resolved, that a user named to write into, or would be made. A link of a repository (or a module, or
// without any of what lies below the current directory) that leads out of it, or into .git, is refused: who wrote it is not who named
// the directory. Links beside repositories may lead anywhere.
func Written(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	at, leaves, err := follow(abs)
	if leaves != nil {
		return "", fmt.Errorf("%s: %w", name, leaves)
	}
	return at, err
}

// Given is an error for a file or directory that a user named to be read when a link on the way to it, or it itself, is one that Written
// refuses. What is not there is no error of it.
func Given(name string) error {
	abs := name
	if !filepath.IsAbs(abs) { // not cleaned: what is opened goes through a link before it goes up
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		abs = here + string(filepath.Separator) + name
	}
	_, leaves, _ := follow(abs)
	return leaves
}

// Stat is os.Stat of what was Given.
func Stat(name string) (fs.FileInfo, error) {
	if err := Given(name); err != nil {
		return nil, err
	}
	return os.Stat(name)
}

// follow goes along an absolute path and resolves its links; leaves is why one of them may not be followed.
func follow(abs string) (at string, leaves, err error) {
	here, err := filepath.Abs(".")
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err != nil {
		return "", nil, err
	}
	at = filepath.VolumeName(abs) + string(filepath.Separator)
	for part := range strings.SplitSeq(strings.TrimPrefix(abs, at), string(filepath.Separator)) {
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		if err := leavesAt(at, next, here); err != nil {
			return "", err, nil
		}
		if at, err = filepath.EvalSymlinks(next); err != nil {
			return "", nil, err
		}
	}
	return at, nil, nil
}

// leavesAt is an error for a link in the directory dir (without links) that leads out of what bounds it.
func leavesAt(dir, link, here string) error {
	bound, marked, err := bounds(dir)
	if err != nil {
		return err
	}
	if !marked {
		if rel, err := filepath.Rel(here, dir); err != nil || !filepath.IsLocal(rel) {
			return nil
		}
		bound = here
	}
	err = Within(bound, link)
	if errors.Is(err, errOutside) {
		return &OutsideError{Name: link, Root: bound, Link: true}
	}
	if err != nil {
		err = fmt.Errorf("%s %w", link, err)
	}
	return err
}

// maxLinks is how many links that lead nowhere are followed, one to the next.
const maxLinks = 40

// resolve resolves the links of an absolute path as far as it exists; where a link leads nowhere, what it names counts.
func resolve(name string, links int) (string, error) {
	for at := name; ; at = filepath.Dir(at) {
		rest, err := filepath.Rel(at, name)
		if err != nil {
			return "", err
		}
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(resolved, rest), nil
		}
		if target, err := os.Readlink(at); err == nil {
			dir, err := filepath.EvalSymlinks(filepath.Dir(at))
			switch {
			case err != nil:
				return "", err
			case links == 0:
				return "", errors.New("has too many links")
			case !filepath.IsAbs(target):
				target = filepath.Join(dir, target)
			}
			return resolve(filepath.Join(target, rest), links-1)
		}
		if at == filepath.Dir(at) {
			return name, nil
		}
	}
}

// InGit reports whether a path without links lies in a repository's own .git, which holds credentials.
func InGit(rel string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// Below is a path as one relative to root (slashes). Links of the path's directory are resolved, and those of the file
// itself are not: Read decides about them. The error is an OutsideError when the file does not lie below root.
func Below(root, name string) (string, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	dir, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return "", err
	}
	if at, err := filepath.EvalSymlinks(dir); err == nil {
		dir = at
	}
	rel, err := filepath.Rel(real, filepath.Join(dir, filepath.Base(name)))
	if err != nil || !filepath.IsLocal(rel) {
		return "", &OutsideError{Name: name, Root: root}
	}
	return filepath.ToSlash(rel), nil
}

// Read reads one regular file below root, of at most limit bytes. Errors are OutsideErrors and those of os.
func Read(root, name string, limit int) ([]byte, error) {
	in, info, err := open(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return readAll(in, limit)
}

func readAll(in io.Reader, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, fmt.Errorf("file has more than %d bytes", limit)
	}
	return data, nil
}

// open opens a file or directory below root; other things (pipes, devices) are not opened.
func open(root, name string) (*os.File, fs.FileInfo, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, nil, &OutsideError{Name: name, Root: root}
	}
	if err := private(root, name); err != nil {
		return nil, nil, err
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = dir.Close() }()
	info, err := dir.Stat(filepath.FromSlash(name))
	if err != nil {
		return nil, nil, outside(root, name, err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	f, err := dir.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, nil, outside(root, name, err)
	}
	return f, info, nil
}

// private refuses what lies in .git, by its name or by a link: it holds credentials.
func private(root, name string) error {
	base, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	if InGit(name) {
		return &OutsideError{Name: name, Root: root}
	}
	real, err := filepath.EvalSymlinks(filepath.Join(base, filepath.FromSlash(name)))
	if err != nil {
		return nil // os.Root says what is wrong
	}
	if rel, err := filepath.Rel(base, real); err == nil && filepath.IsLocal(rel) && InGit(rel) {
		return &OutsideError{Name: name, Root: root, Link: true}
	}
	return nil
}

// outside tells an error of os.Root about a link that leads out from others.
func outside(root, name string, err error) error {
	base, baseErr := filepath.EvalSymlinks(root)
	if baseErr != nil {
		return err
	}
	for at := filepath.Join(base, filepath.FromSlash(name)); len(at) > len(base); at = filepath.Dir(at) {
		info, statErr := os.Lstat(at)
		if statErr != nil || info.Mode()&os.ModeSymlink == 0 {
			continue
		}
		target, linkErr := os.Readlink(at)
		if linkErr != nil {
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(at), target)
		}
		rel, relErr := filepath.Rel(base, target)
		if filepath.IsAbs(target) && (relErr != nil || !filepath.IsLocal(rel)) {
			return &OutsideError{Name: name, Root: root, Link: true}
		}
	}
	if strings.Contains(err.Error(), "escapes") {
		return &OutsideError{Name: name, Root: root, Link: true}
	}
	return err
}

// FS is a directory as a file system: no link leads out of it, no file is larger than Limit bytes.
type FS struct {
	// Root is the directory, Limit the size of one file in bytes.
	Root  string
	Limit int
}

var (
	_ fs.StatFS    = FS{}
	_ fs.ReadDirFS = FS{}
)

// Open opens a file or directory.
func (f FS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	in, info, err := open(f.Root, name)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() > int64(f.Limit) {
		_ = in.Close()
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("file has more than %d bytes", f.Limit)}
	}
	return in, nil
}

// Stat describes a file, links followed.
func (f FS) Stat(name string) (fs.FileInfo, error) {
	in, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	return in.Stat()
}

// ReadDir lists a directory, without .git.
func (f FS) ReadDir(name string) ([]fs.DirEntry, error) {
	in, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	dir, ok := in.(fs.ReadDirFile)
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	out, err := dir.ReadDir(-1)
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.DeleteFunc(out, func(e fs.DirEntry) bool { return path.Base(e.Name()) == ".git" }), err
}
