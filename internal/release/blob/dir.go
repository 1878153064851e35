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

	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/nofollow"
	"hawser.dev/hawser/internal/rootfs"
)

// partial is the directory of what is being written: nothing there is a blob.
const partial = ".partial"

// partialName is what we call a file there: no other is removed.
var partialName = lazyregexp.New(`^[a-z2-7]{26}$`)

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
	if d.root == nil {
		if err := notInGit(dir); err != nil {
			return nil, err
		}
		if forWriting {
			if err := os.MkdirAll(dir, dirMode); err != nil {
				return nil, err
			}
		}
		root, err := os.OpenRoot(dir)
		if errors.Is(err, fs.ErrNotExist) && !forWriting {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		d.root = root
	}
	return d.root, nil
}

// notInGit refuses a directory that lies in a repository's .git, by its name or by a link.
func notInGit(dir string) error {
	abs, err := filepath.Abs(dir)
	if err == nil {
		err = rootfs.Within(filepath.VolumeName(abs)+string(filepath.Separator), abs)
	}
	if err != nil {
		err = fmt.Errorf("directory %s %w: name another one in releases.store.file.path of the fleet's file", dir, err)
	}
	return err
}

// dirMode is that of the directories that are made.
const dirMode fs.FileMode = 0o700

// within does something in a directory of the store, which is made with the mode made unless that is 0; name is what the last part of key is called there.
func (d *Dir) within(key string, made fs.FileMode, do func(in *os.Root, name string) error) error {
	if !validKey(key) {
		return fmt.Errorf("%q is no name of a blob", key)
	}
	root, err := d.open(made != 0)
	if err != nil {
		return err
	}
	if root == nil {
		return fs.ErrNotExist
	}
	in, err := nofollow.Enter(root, path.Dir(key), made)
	if err != nil {
		return d.linked(err)
	}
	return d.linked(errors.Join(do(in, path.Base(key)), in.Close()))
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
func (d *Dir) Get(_ context.Context, key string, limit int) (data []byte, err error) {
	err = d.within(key, 0, func(in *os.Root, name string) error {
		data, err = nofollow.ReadIn(in, name, key, limit)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAbsent
	}
	return data, err
}

// Create writes a file aside and links it to its name, which fails where there is one.
func (d *Dir) Create(_ context.Context, key string, data []byte) error {
	root, err := d.open(true)
	if err != nil {
		return err
	}
	return d.aside(data, func(aside string, made fs.FileInfo) error {
		return d.within(key, dirMode, func(in *os.Root, name string) error {
			err := root.Link(path.Join(partial, aside), key)
			if errors.Is(err, fs.ErrExist) {
				return ErrExists
			}
			if err != nil {
				return err
			}
			if there, err := in.Lstat(name); err != nil || !os.SameFile(there, made) {
				return fmt.Errorf("%s: a directory on the way to it was replaced meanwhile", key)
			}
			return syncIn(in, path.Dir(key))
		})
	})
}

// aside writes a file under a name of its own in partial, down to the disk, for as long as do needs it.
func (d *Dir) aside(data []byte, do func(name string, info fs.FileInfo) error) error {
	root, err := d.open(true)
	if err != nil {
		return err
	}
	in, err := nofollow.Enter(root, partial, dirMode)
	if err != nil {
		return d.linked(err)
	}
	defer func() { _ = in.Close() }()
	name := strings.ToLower(rand.Text())
	defer func() { _ = in.Remove(name) }()
	info, err := writeIn(in, name, data)
	if err != nil {
		return err
	}
	return do(name, info)
}

// writeIn makes a file.
func writeIn(in *os.Root, name string, data []byte) (info fs.FileInfo, err error) {
	f, err := in.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
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
	return info, err
}

// syncIn makes the names in a directory last. Systems that cannot do that for directories do it by themselves.
func syncIn(in *os.Root, dir string) error {
	f, err := in.Open(".")
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

// List walks the directory, and gives up where more lies there than a bucket may have. What no blob is called is passed over.
func (d *Dir) List(ctx context.Context, prefix string) ([]Entry, error) {
	root, err := d.open(false)
	if root == nil || err != nil {
		return nil, err
	}
	start := path.Join(".", strings.TrimSuffix(prefix, "/"))
	if start != "." && !validKey(start) {
		return nil, fmt.Errorf("%q is no beginning of a blob's name", prefix)
	}
	in, err := nofollow.Enter(root, start, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, nofollow.ErrNoDirectory) {
		return nil, nil
	}
	if err != nil {
		return nil, d.linked(err)
	}
	w := walk{most: d.most}
	if err := errors.Join(w.read(ctx, in, start), in.Close()); err != nil {
		return nil, d.linked(err)
	}
	slices.SortFunc(w.out, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return w.out, nil
}

// walk is a walk through directories.
type walk struct {
	seen, most int
	out        []Entry
}

// read reads a directory and those in it. What was deleted meanwhile is passed over.
func (w *walk) read(ctx context.Context, in *os.Root, dir string) error {
	f, err := in.Open(".")
	if err != nil {
		return err
	}
	dirs := map[string]fs.FileInfo{}
	for err == nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
			break
		}
		var names []string
		if names, err = f.Readdirnames(atOnce); err == nil {
			err = w.add(in, dir, names, dirs)
		}
	}
	_ = f.Close()
	if !errors.Is(err, io.EOF) {
		return err
	}
	for name, info := range dirs {
		below, err := nofollow.Step(in, name, info)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(w.read(ctx, below, path.Join(dir, name)), below.Close())
		}
		if err != nil {
			return nofollow.Below(dir, err)
		}
	}
	return nil
}

// add takes names of a directory: files are blobs, dirs are read next.
func (w *walk) add(in *os.Root, dir string, names []string, dirs map[string]fs.FileInfo) error {
	if w.seen += len(names); w.seen > w.most {
		return fmt.Errorf("more than %d files and directories are there", w.most)
	}
	for _, name := range names {
		key := path.Join(dir, name)
		if !validKey(key) {
			continue
		}
		info, err := in.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return &nofollow.LinkError{At: key}
		case info.IsDir():
			dirs[name] = info
		case info.Mode().IsRegular():
			w.out = append(w.out, Entry{key, info.ModTime()})
		}
	}
	return nil
}

// Delete removes a file, and nothing else.
func (d *Dir) Delete(_ context.Context, key string) error {
	err := d.within(key, 0, func(in *os.Root, name string) error {
		info, err := in.Lstat(name)
		switch {
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return nofollow.NoFile(key, info)
		}
		return in.Remove(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Now is when a file that is made now was made. It also clears away what processes that died have left.
func (d *Dir) Now(context.Context) (now time.Time, err error) {
	err = d.aside([]byte{'.'}, func(_ string, info fs.FileInfo) error {
		now = info.ModTime()
		return d.sweepPartial(now)
	})
	return now, err
}

// sweepPartial takes away what is left in partial of processes that died; of very much, some.
func (d *Dir) sweepPartial(now time.Time) error {
	root, err := d.open(true)
	if err != nil {
		return err
	}
	in, err := nofollow.Enter(root, partial, 0)
	if err != nil {
		return d.linked(err)
	}
	defer func() { _ = in.Close() }()
	f, err := in.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	left, err := f.Readdirnames(atOnce)
	if errors.Is(err, io.EOF) {
		return nil
	}
	for _, name := range left {
		if !partialName.MatchString(name) {
			continue
		}
		if old, err := in.Lstat(name); err == nil && old.Mode().IsRegular() && now.Sub(old.ModTime()) > stale {
			_ = in.Remove(name)
		}
	}
	return err
}
