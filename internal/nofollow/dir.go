package nofollow

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/rootfs"
)

// CodeLink is that of the finding about a link in a directory that is written into.
const CodeLink = "directory-link"

// Dir is a directory that a user named to write several files into. Names are paths below it, with slashes; none leads through a link or
// into a .git. It is for one goroutine, and is to be closed.
type Dir struct {
	named, path string
	root        *os.Root // nil when nothing is there
	at          string   // the directory below it that was entered last
	in          *os.Root
}

// Open opens a directory that a user named. It may be a link itself, or lie behind one, as far as rootfs.Written lets links lead. One that is
// missing is empty, and made with the first file.
func Open(name string) (*Dir, error) {
	at, err := rootfs.Written(name)
	if err != nil {
		f := diag.Errorf("outside", "%v", err)
		f.Fix = "nothing was written through the link; name the directory itself"
		return nil, diag.Findings{f}.Err()
	}
	d := &Dir{named: name, path: at}
	if d.root, err = os.OpenRoot(at); errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	return d, err
}

// Path is where it lies, links resolved.
func (d *Dir) Path() string { return d.path }

// Close gives it back.
func (d *Dir) Close() error {
	err := d.leave()
	if d.root != nil {
		err = errors.Join(err, d.root.Close())
	}
	return err
}

func (d *Dir) leave() error {
	if d.in == nil {
		return nil
	}
	err := d.in.Close()
	d.in = nil
	return err
}

// enter opens the directory of a name, which is made with its parents where made says so.
func (d *Dir) enter(name string, made fs.FileMode) (*os.Root, error) {
	dir := path.Dir(name)
	switch {
	case !filepath.IsLocal(filepath.FromSlash(name)) || rootfs.InGit(name):
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no path of a file below the directory")}
	case d.in != nil && d.at == dir:
		return d.in, nil
	case d.root == nil && made == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case d.root == nil:
		err := os.MkdirAll(d.path, 0o755)
		if err == nil {
			d.root, err = os.OpenRoot(d.path)
		}
		if err != nil {
			return nil, err
		}
	}
	in, err := Enter(d.root, dir, made)
	if err = errors.Join(err, d.leave()); err != nil {
		return nil, err
	}
	d.at, d.in = dir, in
	return in, nil
}

// told puts what a LinkError says into words.
func (d *Dir) told(err error) error {
	l, ok := errors.AsType[*LinkError](err)
	if !ok {
		return err
	}
	f := diag.Errorf(CodeLink, "%s is a link, in a directory that is written into", filepath.Join(d.named, filepath.FromSlash(l.At)))
	f.Because("what a link leads to is not what was named: nothing is read, written or removed through it")
	f.Fix = "find out who made it, and remove it, or name what it leads to; only the directory that is named itself may be a link"
	return diag.Findings{f}.Err()
}

// Lstat is what lies under a name, which is no link.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	info, err := d.lstat(name)
	return info, d.told(err)
}

func (d *Dir) lstat(name string) (fs.FileInfo, error) {
	in, err := d.enter(name, 0)
	if err != nil {
		return nil, err
	}
	info, err := in.Lstat(path.Base(name))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = &LinkError{name}
	}
	return info, err
}

// Check is an error for a link under one of the names, or on the way to it.
func (d *Dir) Check(names ...string) error {
	for _, name := range names {
		if _, err := d.lstat(name); err != nil {
			if _, ok := errors.AsType[*LinkError](err); ok {
				return d.told(err)
			}
		}
	}
	return nil
}

// Read reads a file of at most limit bytes.
func (d *Dir) Read(name string, limit int) ([]byte, error) {
	in, err := d.enter(name, 0)
	if err != nil {
		return nil, d.told(err)
	}
	data, err := ReadIn(in, path.Base(name), name, limit)
	return data, d.told(err)
}

// target opens the directory of a name to write, which is made with those on the way to it. The name is no link's.
func (d *Dir) target(name string) (*os.Root, error) {
	in, err := d.enter(name, 0o755)
	if err != nil {
		return nil, err
	}
	if info, err := in.Lstat(path.Base(name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, &LinkError{name}
	}
	return in, nil
}

// Write makes or replaces a file in one step, and makes the directories on the way to it.
func (d *Dir) Write(name string, data []byte, mode fs.FileMode) error {
	in, err := d.target(name)
	if err != nil {
		return d.told(err)
	}
	return Replace(in, path.Base(name), data, mode)
}

// Move gives a file of the directory another name there, and makes the directories on the way to it.
func (d *Dir) Move(from, to string) error {
	in, err := d.target(to)
	if err != nil {
		return d.told(err)
	}
	seen, err := d.root.Lstat(filepath.FromSlash(from))
	if err != nil {
		return err
	}
	if err := d.root.Rename(filepath.FromSlash(from), filepath.FromSlash(to)); err != nil {
		return err
	}
	if there, err := in.Lstat(path.Base(to)); err != nil || !os.SameFile(there, seen) {
		return fmt.Errorf("%s: a directory on the way to it was replaced meanwhile", to)
	}
	return nil
}

// Remove removes a file, and the directories on the way to it that are empty then. What is not there is no error.
func (d *Dir) Remove(name string) error {
	_, err := d.lstat(name)
	if err == nil {
		err = d.in.Remove(path.Base(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for up := path.Dir(name); err == nil && up != "."; up = path.Dir(up) {
		var in *os.Root
		if in, err = d.enter(up, 0); err == nil && in.Remove(path.Base(up)) != nil {
			break // something is left in it
		}
	}
	return d.told(err)
}

// Replace makes or replaces a file of a directory in one step; a link is replaced, and not followed.
func Replace(in *os.Root, name string, data []byte, mode fs.FileMode) error {
	tmp := "." + name + "-" + rand.Text()
	out, err := in.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = in.Remove(tmp) }()
	_, err = out.Write(data)
	if err == nil {
		err = out.Chmod(mode)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return in.Rename(tmp, name)
}
