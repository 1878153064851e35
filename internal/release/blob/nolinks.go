package blob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// A directory of records may be one of a repository, in which anybody who contributes can put a link. An os.Root keeps links from leading
// out of it, and follows those within it: to .git, or to what else is there. So nothing here follows any, at any level.

// CodeStoreLink is that of the finding about a link in a store's directory.
const CodeStoreLink = "store-link"

// deepest is how many parts a blob's name has at most.
const deepest = 8

// validKey reports whether something may be a blob's name, or the beginning of one.
func validKey(key string) bool {
	parts := strings.Split(key, "/")
	for _, part := range parts {
		if !keyPart.MatchString(part) {
			return false
		}
	}
	return len(parts) <= deepest
}

// linkError says that something in the directory is a link, by its path there.
type linkError struct{ at string }

// Error names it.
func (e *linkError) Error() string { return e.at + " is a link" }

// errNoDirectory is of what is something else.
var errNoDirectory = syscall.ENOTDIR

// linked puts what a linkError says into words.
func (d *Dir) linked(err error) error {
	l, ok := errors.AsType[*linkError](err)
	if !ok {
		return err
	}
	f := diag.Errorf(CodeStoreLink, "%s is a link, in a directory that release records are kept in", filepath.Join(filepath.FromSlash(d.path), filepath.FromSlash(l.at)))
	f.Because("what a link leads to is not the store's: nothing is read, written or removed through it")
	f.Fix = "find out who made it, and remove it; only the whole directory, as releases.store.file.path names it, may be a link"
	return diag.Findings{f}.Err()
}

// placed is a linkError of what lies below a directory.
func placed(dir string, err error) error {
	if l, ok := errors.AsType[*linkError](err); ok && !strings.Contains(l.at, "/") {
		return &linkError{path.Join(dir, l.at)}
	}
	return err
}

// enter opens a directory below another one, part by part; make: what is missing is made.
func enter(root *os.Root, dir string, make bool) (*os.Root, error) {
	in, err := root.OpenRoot(".")
	if err != nil || dir == "." {
		return in, err
	}
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		info, err := in.Lstat(part)
		if make && errors.Is(err, fs.ErrNotExist) {
			if err = in.Mkdir(part, 0o700); err == nil || errors.Is(err, fs.ErrExist) {
				info, err = in.Lstat(part)
			}
		}
		var next *os.Root
		if err == nil {
			next, err = step(in, part, info)
		}
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, placed(path.Dir(at), err)
		}
		in = next
	}
	return in, nil
}

// step opens a directory in another one, which is what was seen there, and no link.
func step(in *os.Root, name string, seen fs.FileInfo) (*os.Root, error) {
	switch {
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, &linkError{name}
	case !seen.IsDir():
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNoDirectory}
	}
	next, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(is, seen) { // replaced meanwhile
		return nil, errors.Join(err, next.Close(), &linkError{name})
	}
	return next, nil
}

// readIn reads a file, which is called key in errors. What is none is not opened: a pipe would never begin.
func readIn(in *os.Root, name, key string, limit int) ([]byte, error) {
	seen, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, noFile(key, seen)
	}
	f, err := in.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if is, err := f.Stat(); err != nil || !os.SameFile(is, seen) {
		return nil, errors.Join(err, fmt.Errorf("%s was replaced while it was opened", key))
	}
	return rootfs.ReadAll(f, key, limit)
}

// noFile is the error of what is no regular file.
func noFile(key string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return &linkError{key}
	}
	return &fs.PathError{Op: "open", Path: key, Err: errors.New("it is no regular file")}
}
