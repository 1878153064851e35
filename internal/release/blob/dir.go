package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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

	mu   sync.Mutex
	root *os.Root // once it is there
}

// OpenDir opens the directory. One that is missing is empty, and made with the first blob: who only reads writes nothing, wherever a
// fleet says that its records are. Only the user may read what is made.
func OpenDir(dir string) (*Dir, error) {
	d := &Dir{path: filepath.ToSlash(dir)}
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

// List walks the directory.
func (d *Dir) List(ctx context.Context, prefix string) ([]Entry, error) {
	root, err := d.open(false)
	if root == nil || err != nil {
		return nil, err
	}
	var out []Entry
	start := strings.TrimSuffix(prefix, "/")
	if start == "" {
		start = "."
	}
	err = fs.WalkDir(root.FS(), start, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile, or never made
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case name == partial:
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			out = append(out, Entry{name, info.ModTime()})
		}
		return err
	})
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return out, err
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
	left, err := fs.ReadDir(root.FS(), partial)
	if err != nil {
		return time.Time{}, err
	}
	for _, e := range left {
		if old, err := e.Info(); err == nil && info.ModTime().Sub(old.ModTime()) > stale {
			_ = root.Remove(path.Join(partial, e.Name()))
		}
	}
	return info.ModTime(), nil
}
