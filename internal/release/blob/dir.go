package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hawser.dev/hawser/internal/rootfs"
)

// partial is the directory of what is being written: nothing there is a blob.
const partial = ".partial"

// stale is when what somebody began to write is left of a process that died.
const stale = 24 * time.Hour

// Dir is a Bucket in a directory, which may be shared over a network where that supports hard links. Its clock is that of
// the file system.
type Dir struct {
	path string
	most int // names in a listing

	mu   sync.Mutex
	root *os.Root // once it is there
}

// OpenDir opens the directory. One that is missing is empty, and made with the first blob: who only reads writes nothing, wherever a
// fleet says that its records are. Only the user may read what is made.
func OpenDir(dir string) (*Dir, error) {
	d := &Dir{path: filepath.ToSlash(dir), most: maxBlobs}
	_, err := d.open(false)
	return d, err
}

// open is the directory, nil where there is none and it shall not be made.
func (d *Dir) open(forWriting bool) (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir := filepath.FromSlash(d.path)
	if forWriting && d.root == nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if d.root == nil {
		root, err := os.OpenRoot(dir)
		if errors.Is(err, fs.ErrNotExist) && !forWriting {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		d.root = root
	}
	if forWriting {
		return d.root, d.root.MkdirAll(partial, 0o700)
	}
	return d.root, nil
}

// Close gives the directory back.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root == nil {
		return nil
	}
	return d.root.Close()
}

func (d *Dir) String() string { return "directory " + d.path }

// Get reads a file.
func (d *Dir) Get(_ context.Context, key string, limit int) ([]byte, error) {
	root, err := d.open(false)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, ErrAbsent
	}
	f, err := rootfs.OpenIn(root, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return rootfs.ReadAll(f, key, limit)
}

// Create writes a file aside and links it to its name, which fails where there is one.
func (d *Dir) Create(_ context.Context, key string, data []byte) error {
	root, err := d.open(true)
	if err != nil {
		return err
	}
	aside, _, err := asideIn(root, data)
	if err != nil {
		return err
	}
	defer func() { _ = root.Remove(aside) }()
	if err := root.MkdirAll(path.Dir(key), 0o700); err != nil {
		return err
	}
	err = root.Link(aside, key)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return err
	}
	return syncIn(root, path.Dir(key))
}

// asideIn writes a file under a name of its own, down to the disk.
func asideIn(root *os.Root, data []byte) (name string, info fs.FileInfo, err error) {
	name = path.Join(partial, strings.ToLower(rand.Text()))
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", nil, err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		info, err = f.Stat()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = root.Remove(name)
		return "", nil, err
	}
	return name, info, nil
}

// syncIn makes the names in a directory last. Systems that cannot do that for directories do it by themselves.
func syncIn(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// atOnce is how many names of a directory are read at once.
const atOnce = 1000

// List walks the directory, and gives up where more lies there than a bucket may have.
func (d *Dir) List(ctx context.Context, prefix string) ([]Entry, error) {
	root, err := d.open(false)
	if root == nil || err != nil {
		return nil, err
	}
	start := strings.TrimSuffix(prefix, "/")
	if start == "" {
		start = "."
	}
	w := walk{root: root, most: d.most, dirs: []string{start}}
	for len(w.dirs) > 0 && err == nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		dir := w.dirs[len(w.dirs)-1]
		w.dirs = w.dirs[:len(w.dirs)-1]
		err = w.read(dir)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(w.out, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return w.out, nil
}

// walk is a walk through directories, of which dirs are still to be read.
type walk struct {
	root       *os.Root
	seen, most int
	dirs       []string
	out        []Entry
}

// read reads one of them. What was deleted meanwhile, or never made, is passed over.
func (w *walk) read(dir string) error {
	info, err := w.root.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() { // a pipe would never open
		return nil
	}
	if err != nil {
		return err
	}
	f, err := w.root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for {
		names, err := f.ReadDir(atOnce)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if w.seen += len(names); w.seen > w.most {
			return fmt.Errorf("more than %d files and directories are there", w.most)
		}
		for _, e := range names {
			if err := w.add(path.Join(dir, e.Name()), e.Type()); err != nil {
				return err
			}
		}
	}
}

func (w *walk) add(name string, kind fs.FileMode) error {
	switch {
	case kind.IsDir() && name != partial:
		w.dirs = append(w.dirs, name)
	case kind.IsRegular():
		info, err := w.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		w.out = append(w.out, Entry{name, info.ModTime()})
	}
	return nil
}

// Delete removes a file.
func (d *Dir) Delete(_ context.Context, key string) error {
	root, err := d.open(false)
	if root == nil || err != nil {
		return err
	}
	if err := root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Now is when a file that is made now was made. It also clears away what processes that died have left.
func (d *Dir) Now(context.Context) (time.Time, error) {
	root, err := d.open(true)
	if err != nil {
		return time.Time{}, err
	}
	name, info, err := asideIn(root, []byte{'.'})
	if err != nil {
		return time.Time{}, err
	}
	_ = root.Remove(name)
	return info.ModTime(), sweepPartial(root, info.ModTime())
}

// sweepPartial takes away what is left in partial of processes that died; of very much, some.
func sweepPartial(root *os.Root, now time.Time) error {
	f, err := root.Open(partial)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	left, err := f.ReadDir(atOnce)
	if errors.Is(err, io.EOF) {
		return nil
	}
	for _, e := range left {
		name := path.Join(partial, e.Name())
		if old, err := root.Lstat(name); err == nil && now.Sub(old.ModTime()) > stale {
			_ = root.Remove(name)
		}
	}
	return err
}
