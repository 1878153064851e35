package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"hawser.dev/hawser/internal/diag"
)

// hold tells other processes that this one uses an entry, until Close or until it ends, however that is. Where that cannot be told, what is
// used may be removed, and is fetched again by who needs it.
func (c *Cache) hold(at string) {
	if c.dir == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[at] != nil {
		return
	}
	if lock, err := c.lock(at, (*flock.Flock).TryRLock); err == nil {
		c.held[at] = lock
	}
}

// release lets go of all that is held. The caller has the mutex.
func (c *Cache) release() error {
	var errs []error
	for at, lock := range c.held {
		errs = append(errs, lock.Close())
		delete(c.held, at)
	}
	return errors.Join(errs...)
}

// errInUse is an entry that another process has a lock on.
var errInUse = errors.New("it is in use")

// lock locks the file that stands for an entry, without waiting: entries themselves are replaced and renamed, some systems do that to no
// file that is open. Any other error than errInUse says that there are no locks here.
func (c *Cache) lock(at string, try func(*flock.Flock) (bool, error)) (*flock.Flock, error) {
	name := c.lockOf(at)
	if err := c.inside(func(root *os.Root) error { return root.MkdirAll("locks", 0o755) }); err != nil {
		return nil, err
	}
	for range 10 {
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s is no plain file", name)
		}
		lock := flock.New(name, flock.SetPermissions(0o644))
		ok, err := c.try(lock, try)
		if err != nil || !ok {
			if err == nil {
				err = errInUse
			}
			return nil, errors.Join(err, lock.Close())
		}
		locked, err := lock.Stat()
		if now, there := os.Lstat(name); err == nil && there == nil && os.SameFile(locked, now) {
			return lock, nil
		}
		_ = lock.Close() // who had it removed the file with the entry
	}
	return nil, errInUse
}

// lockOf is the file that stands for an entry.
func (c *Cache) lockOf(at string) string {
	return filepath.Join(c.dir, "locks", filepath.Base(filepath.Dir(filepath.Dir(at)))+"-"+filepath.Base(at))
}

// drop removes a file that is locked, and the lock.
func drop(lock *flock.Flock) {
	removed := os.Remove(lock.Path())
	_ = lock.Close()
	if removed != nil { // not while it is open, on some systems
		_ = os.Remove(lock.Path())
	}
}

// sweep removes lock files whose entries are gone.
func (c *Cache) sweep() error {
	names, err := c.names("locks")
	for _, name := range names {
		kind, base, _ := strings.Cut(filepath.Base(name), "-")
		found, _ := filepath.Glob(filepath.Join(c.dir, kind, "sha*", base))
		if len(found) > 0 {
			continue
		}
		if lock, err := c.lock(filepath.Join(c.dir, kind, "sha256", base), (*flock.Flock).TryLock); err == nil {
			drop(lock)
		}
	}
	return err
}

// Listing is what a cache has, or had, for people.
type Listing struct {
	Dir     string  `json:"dir"`
	Bytes   int64   `json:"bytes"`
	Entries []Entry `json:"entries"`
	// InUse is how many entries would have been removed if no other process used them, Unlocked how many that are younger than a day were left
	// because nobody can tell there whether one does.
	InUse    int `json:"inUse,omitempty"`
	Unlocked int `json:"unlocked,omitempty"`
}

func (c *Cache) listing(entries []Entry) Listing {
	l := Listing{Dir: c.dir, Entries: append([]Entry{}, entries...)}
	for _, e := range entries {
		l.Bytes += e.Bytes
	}
	return l
}

// Left says what was not removed, and why, after a semicolon; it is "" when that is nothing.
func (l Listing) Left() string {
	var out string
	if l.InUse > 0 {
		out = "; " + diag.Counted(l.InUse, "entry") + " in use left"
	}
	if l.Unlocked > 0 {
		out += "; " + diag.Counted(l.Unlocked, "entry") + " younger than a day left: the cache's file system has no locks that would tell whether they are in use"
	}
	return out
}
