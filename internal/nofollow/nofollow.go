package nofollow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"hawser.dev/hawser/internal/rootfs"
)

// An os.Root keeps links from leading out of a directory, and follows those within it: to .git, or to what else is there. What stands here
// follows none.

// LinkError says that something in a directory is a link.
type LinkError struct {
	// At is its path there, with slashes.
	At string
}

// Error names it.
func (e *LinkError) Error() string { return e.At + " is a link" }

// ErrNoDirectory is of what is something else.
var ErrNoDirectory = syscall.ENOTDIR

// Below makes a LinkError of what lies in a directory one of what lies above that.
func Below(dir string, err error) error {
	if l, ok := errors.AsType[*LinkError](err); ok && !strings.Contains(l.At, "/") {
		return &LinkError{path.Join(dir, l.At)}
	}
	return err
}

// Enter opens a directory below another one (slashes), part by part. What is missing is made with the mode made, unless that is 0.
func Enter(root *os.Root, dir string, made fs.FileMode) (*os.Root, error) {
	in, err := root.OpenRoot(".")
	if err != nil || dir == "." {
		return in, err
	}
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		info, err := in.Lstat(part)
		if made != 0 && errors.Is(err, fs.ErrNotExist) {
			if err = in.Mkdir(part, made); err == nil || errors.Is(err, fs.ErrExist) {
				info, err = in.Lstat(part)
			}
		}
		var next *os.Root
		if err == nil {
			next, err = Step(in, part, info)
		}
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, Below(path.Dir(at), err)
		}
		in = next
	}
	return in, nil
}

// Step opens a directory in another one, which is what was seen there, and no link.
func Step(in *os.Root, name string, seen fs.FileInfo) (*os.Root, error) {
	switch {
	case seen.Mode()&fs.ModeSymlink != 0:
		return nil, &LinkError{name}
	case !seen.IsDir():
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrNoDirectory}
	}
	next, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if is, err := next.Stat("."); err != nil || !os.SameFile(is, seen) { // replaced meanwhile
		return nil, errors.Join(err, next.Close(), &LinkError{name})
	}
	return next, nil
}

// ReadIn reads a file, which is called key in errors. What is none is not opened: a pipe would never begin.
func ReadIn(in *os.Root, name, key string, limit int) ([]byte, error) {
	seen, err := in.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, NoFile(key, seen)
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

// NoFile is the error of what is no regular file.
func NoFile(key string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		return &LinkError{key}
	}
	return &fs.PathError{Op: "open", Path: key, Err: errors.New("it is no regular file")}
}
