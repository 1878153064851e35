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
	root *os.Root
}

// OpenDir opens the directory, which is made when it is missing. Only the user may read what is made.
func OpenDir(dir string) (*Dir, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := root.MkdirAll(partial, 0o700); err != nil {
		_ = root.Close()
		return nil, err
	}
	return &Dir{filepath.ToSlash(dir), root}, nil
}

// Close gives the directory back.
func (d *Dir) Close() error { return d.root.Close() }

func (d *Dir) String() string { return "directory " + d.path }

// Get reads a file.
func (d *Dir) Get(_ context.Context, key string, limit int) ([]byte, error) {
	f, err := d.root.Open(key)
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
	aside, _, err := d.aside(data)
	if err != nil {
		return err
	}
	defer func() { _ = d.root.Remove(aside) }()
	if err := d.root.MkdirAll(path.Dir(key), 0o700); err != nil {
		return err
	}
	err = d.root.Link(aside, key)
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return err
	}
	return d.sync(path.Dir(key))
}

// aside writes a file under a name of its own, down to the disk.
func (d *Dir) aside(data []byte) (name string, info fs.FileInfo, err error) {
	name = path.Join(partial, strings.ToLower(rand.Text()))
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
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
		_ = d.root.Remove(name)
		return "", nil, err
	}
	return name, info, nil
}

// sync makes the names in a directory last. Systems that cannot do that for directories do it by themselves.
func (d *Dir) sync(dir string) error {
	f, err := d.root.Open(dir)
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
	var out []Entry
	start := strings.TrimSuffix(prefix, "/")
	if start == "" {
		start = "."
	}
	err := fs.WalkDir(d.root.FS(), start, func(name string, e fs.DirEntry, err error) error {
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
	if err := d.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Now is when a file that is made now was made. It also clears away what processes that died have left.
func (d *Dir) Now(context.Context) (time.Time, error) {
	name, info, err := d.aside([]byte{'.'})
	if err != nil {
		return time.Time{}, err
	}
	_ = d.root.Remove(name)
	left, err := fs.ReadDir(d.root.FS(), partial)
	if err != nil {
		return time.Time{}, err
	}
	for _, e := range left {
		if old, err := e.Info(); err == nil && info.ModTime().Sub(old.ModTime()) > stale {
			_ = d.root.Remove(path.Join(partial, e.Name()))
		}
	}
	return info.ModTime(), nil
}
