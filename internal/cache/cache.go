// Package cache keeps fetched content on disk by its digest: blobs as they came, and trees of files made of them.
//
// What is read is verified: a blob by its own digest at every use, a tree by the list of its files when a process first
// uses it. What does not verify is removed and fetched again. What is handed out is a copy of the process's own, of the very
// bytes that were verified: others may write the cache at any time. Nobody waits for another process: everything is made aside
// and renamed into place, and what a process uses is locked against being pruned. Where nothing can be kept, content is fetched for this process alone.
//
// cache must not know where content comes from, nor what is in it.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/rootfs"
)

// EnvDir is the variable that names the directory of the cache.
const EnvDir = "HAWSER_CACHE_DIR"

// Options of a cache.
type Options struct {
	// Dir is where things are kept; it need not exist. "" keeps nothing.
	Dir string
	// Usual: Dir is the usual directory, and nobody has named it. It is closed to others where it is this user's, also when it was not before.
	Usual bool
	// Warn is told, at most once, when nothing can be kept; nil hears nothing.
	Warn func(diag.Finding)
}

// Cache is a directory of content by digest. It may be used by many goroutines and processes at once.
type Cache struct {
	dir   string
	usual bool
	warn  func(diag.Finding)
	once  sync.Once

	mu    sync.Mutex
	known map[string]Tree // verified by this process
	busy  map[string]chan struct{}
	own   string                  // the directory of this process's own copies
	held  map[string]*flock.Flock // by the entry's path

	try    func(lock *flock.Flock, how func(*flock.Flock) (bool, error)) (bool, error) // a test's file system may have no locks
	create func() (*os.File, error)                                                    // a test's disk may be full
}

// Dir is where the cache is by default: $HAWSER_CACHE_DIR, else "hawser" in the user's cache directory; "" when the
// system has none.
func Dir(getenv func(string) string) string {
	if dir := getenv(EnvDir); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "hawser")
}

// Open makes a cache; nothing is read or made before it is used.
func Open(o Options) *Cache {
	c := &Cache{dir: o.Dir, usual: o.Usual, warn: o.Warn, known: map[string]Tree{}, busy: map[string]chan struct{}{}, held: map[string]*flock.Flock{},
		try: func(lock *flock.Flock, how func(*flock.Flock) (bool, error)) (bool, error) { return how(lock) }}
	c.create = c.fresh
	if o.Dir != "" {
		if abs, err := filepath.Abs(o.Dir); err == nil {
			c.dir = abs
		}
	}
	return c
}

// Close removes this process's own copies, and lets others prune what they were made of: the trees that were handed out are gone after it.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.release()
	if c.own == "" {
		return err
	}
	err = errors.Join(err, os.RemoveAll(c.own))
	c.own, c.known = "", map[string]Tree{}
	return err
}

// MismatchError is content that has another digest than the one it was asked for by.
type MismatchError struct{ Want, Got string }

func (e *MismatchError) Error() string { return "its digest is " + e.Got + ", not " + e.Want }

var digestForm = lazyregexp.New(`^sha256:([0-9a-f]{64})$`)

// hexOf takes a digest apart; only SHA-256 is known.
func hexOf(digest string) (string, error) {
	m := digestForm.FindStringSubmatch(digest)
	if m == nil {
		shown := strconv.Quote(digest) // never cut: what is left of a secret would not be recognised
		if len(digest) > 200 {
			shown = fmt.Sprintf("a text of %d bytes", len(digest))
		}
		return "", fmt.Errorf("%s is no digest of the form sha256:<64 hexadecimal digits>", shown)
	}
	return m[1], nil
}

// ValidDigest reports whether a digest can be in a cache: "sha256:" and 64 lower-case hexadecimal digits.
func ValidDigest(digest string) bool { return digestForm.MatchString(digest) }

// Fetch writes content to w. The cache judges what was written; an error says that there is none.
type Fetch func(ctx context.Context, w io.Writer) error

// Blob is the content with a digest, at its beginning, as a file of this process alone; the caller closes it. It is fetched
// when it is not there, or is there and damaged. Errors are *MismatchError for content with another digest, findings for a
// full disk, and fetch's.
func (c *Cache) Blob(ctx context.Context, digest string, fetch Fetch) (*os.File, error) {
	name, err := hexOf(digest)
	if err != nil {
		return nil, err
	}
	at := filepath.Join(c.dir, "blobs", "sha256", name)
	if f := c.intact(ctx, at, digest); f != nil {
		return f, nil
	}
	out, err := c.file(ctx, digest, fetch)
	if err != nil {
		return nil, err
	}
	if c.keeps() {
		if err := c.keepBlob(out, at); err != nil {
			return nil, disk(errors.Join(err, out.Close()), false, c.dir)
		}
		c.hold(at)
	}
	return out, nil
}

// keepBlob copies a file into the cache, and goes back to its beginning.
func (c *Cache) keepBlob(from *os.File, at string) error {
	out, err := c.create()
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	if err = errors.Join(err, out.Close()); err == nil {
		err = c.place(out.Name(), at)
	}
	if err != nil {
		return errors.Join(err, c.removeAll(out.Name()))
	}
	_, err = from.Seek(0, io.SeekStart)
	return err
}

// intact is a copy of a blob that is what its name says. A damaged one is removed.
func (c *Cache) intact(ctx context.Context, at, digest string) *os.File {
	if c.dir == "" {
		return nil
	}
	if _, err := os.Lstat(at); err != nil {
		return nil
	}
	c.hold(at)
	size, sum, err := sumOf(at)
	if err != nil {
		return nil
	}
	if "sha256:"+sum != digest {
		_ = c.removeAll(at)
		return nil
	}
	out, err := c.file(ctx, digest, func(_ context.Context, w io.Writer) error { return copyOf(w, at, size) })
	if err != nil {
		return nil
	}
	c.touch(at)
	return out
}

// copyOf writes the first bytes of a file.
func copyOf(w io.Writer, name string, size int64) error {
	in, err := rootfs.OpenFile(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.LimitReader(in, size))
	return errors.Join(err, in.Close())
}

// file is a file of this process alone with what fetch gives, whose digest is checked.
func (c *Cache) file(ctx context.Context, digest string, fetch Fetch) (*os.File, error) {
	dir, err := c.private()
	if err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(dir, "blob-")
	if err == nil {
		_ = os.Remove(out.Name()) // it lives as long as it is open; a system that cannot leaves it to Close
		if err = fill(ctx, out, digest, fetch); err == nil {
			return out, nil
		}
		_ = out.Close()
	}
	return nil, disk(err, true, dir)
}

// fill fetches into a file, checks the digest and goes back to the beginning.
func fill(ctx context.Context, out *os.File, digest string, fetch Fetch) error {
	h := sha256.New()
	if err := fetch(ctx, io.MultiWriter(out, h)); err != nil {
		return err
	}
	if got := "sha256:" + hex.EncodeToString(h.Sum(nil)); got != digest {
		return &MismatchError{Want: digest, Got: got}
	}
	_, err := out.Seek(0, io.SeekStart)
	return err
}

// keeps reports whether something can be kept: made on the cache's own disk, and moved to its place there.
func (c *Cache) keeps() bool {
	if c.dir == "" {
		return false
	}
	err := c.ready()
	if err == nil {
		var probe string
		if probe, err = c.aside("probe"); err == nil {
			return c.removeAll(probe) == nil
		}
	}
	if full(err) {
		return true // what is written there will say so
	}
	c.once.Do(func() {
		if c.warn != nil {
			c.warn(diag.Finding{Severity: diag.Warning, Code: "cache-unusable",
				What: "nothing can be kept in the cache " + misplaced.Shown(c.dir), Why: strings.ReplaceAll(err.Error(), c.dir, misplaced.Shown(c.dir)),
				Fix: "content is fetched anew each time; make the directory writable, or set " + EnvDir})
		}
	})
	return false
}

// private is this process's own directory, made when first needed.
func (c *Cache) private() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == "" {
		dir, err := os.MkdirTemp("", "hawser-")
		if err != nil {
			f := diag.Errorf("temporary-directory", "nothing can be written in the directory for temporary files, %s", os.TempDir())
			f.Why, f.Fix = rootCause(err), "set TMPDIR to a directory that you can write and others cannot"
			return "", diag.Findings{f}.Err()
		}
		c.own = dir
		c.closeToOthers()
	}
	return c.own, nil
}

// disk makes a finding of an error that says that the disk of the cache, or of the temporary files, is full; others stay as
// they are.
func disk(err error, temporary bool, dir string) error {
	if !full(err) {
		return err
	}
	f := diag.Errorf("cache-full", "the disk of the cache %s is full", dir)
	f.Fix = "hawser cache prune --all empties the cache; " + EnvDir + " puts it elsewhere"
	if temporary {
		f = diag.Errorf("temporary-full", "the disk of the directory for temporary files, %s, is full", dir)
		f.Fix = "make room there, or set TMPDIR to a directory on another disk"
	}
	f.Why = rootCause(err)
	return diag.Findings{f}.Err()
}

func rootCause(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
