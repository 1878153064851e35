package cache

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// Kind is what an entry of a cache is.
type Kind string

const (
	// Blob is content as it came.
	Blob Kind = "blob"
	// Files is a tree of files.
	Files Kind = "files"
)

// Entry is one thing that is kept.
type Entry struct {
	Kind Kind `json:"kind"`
	// Digest is of a blob itself, and of what a tree is made from; it is "" for a tree whose inventory cannot be read.
	Digest string `json:"digest"`
	// Source is where a tree comes from.
	Source string `json:"source,omitempty"`
	// Bytes is the size of the content.
	Bytes int64 `json:"bytes"`
	// Used is when it was last used, or made.
	Used time.Time `json:"used"`

	path string
}

// Policy says what to remove. The zero value removes nothing.
type Policy struct {
	// OlderThan removes what was not used for that long; 0 is no limit.
	OlderThan time.Duration
	// MaxBytes removes what was used longest ago until the rest is no bigger; 0 is no limit.
	MaxBytes int64
	// All removes everything.
	All bool
}

// leftover is the age from which something that is being made was given up by its process.
const leftover = 24 * time.Hour

// Location is the cache's directory, "" for a cache that keeps nothing.
func (c *Cache) Location() string { return c.dir }

// List is everything that is kept, last used first. A directory that does not exist is empty.
func (c *Cache) List(ctx context.Context) ([]Entry, error) {
	if c.dir == "" {
		return nil, nil
	}
	blobs, err := c.names("blobs/sha256")
	if err != nil {
		return nil, err
	}
	trees, err := c.names("trees/sha256")
	if err != nil {
		return nil, err
	}
	documents, err := c.names("documents/sha512")
	if err != nil {
		return nil, err
	}
	notes, err := c.names("notes/sha256")
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, at := range slices.Concat(blobs, documents, notes) {
		if info, err := os.Lstat(at); err == nil {
			digest := filepath.Base(filepath.Dir(at)) + ":" + filepath.Base(at)
			out = append(out, Entry{Kind: Blob, Digest: digest, Bytes: info.Size(), Used: info.ModTime(), path: at})
		}
	}
	for _, at := range trees {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, treeEntry(at))
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.path, b.path))
	})
	return out, nil
}

func treeEntry(at string) Entry {
	e := Entry{Kind: Files, path: at}
	if inv, err := readInventory(at); err == nil {
		e.Digest, e.Source, e.Bytes = inv.Digest, inv.Source, inv.Bytes
	}
	if info, err := os.Stat(filepath.Join(at, inventoryFile)); err == nil {
		e.Used = info.ModTime()
	}
	return e
}

// Listing is List with what belongs to it.
func (c *Cache) Listing(ctx context.Context) (Listing, error) {
	all, err := c.List(ctx)
	return c.listing(all), err
}

// Prune removes what the policy says and no other process uses, and what processes that ended early have left, and returns the entries
// removed. Errors of single entries are joined; the others are removed all the same.
func (c *Cache) Prune(ctx context.Context, policy Policy, now time.Time) (Listing, error) {
	all, err := c.List(ctx)
	if err != nil || c.dir == "" {
		return c.listing(nil), err
	}
	var removed []Entry
	var errs []error
	inUse, unlocked := 0, 0
	for _, e := range choose(all, policy, now) {
		if err := ctx.Err(); err != nil {
			return c.listing(removed), err
		}
		switch gone, err := c.remove(e, now.Sub(e.Used) < leftover); {
		case errors.Is(err, errInUse):
			inUse++
		case err != nil:
			errs = append(errs, err)
		case gone:
			removed = append(removed, e)
		default:
			unlocked++
		}
	}
	errs = append(errs, c.sweep())
	left, err := c.names("tmp")
	errs = append(errs, err)
	for _, at := range left {
		if info, err := os.Lstat(at); err == nil && now.Sub(info.ModTime()) > leftover {
			errs = append(errs, c.removeAll(at))
		}
	}
	out := c.listing(removed)
	out.InUse, out.Unlocked = inUse, unlocked
	return out, errors.Join(errs...)
}

// remove removes an entry that nobody uses. Where that cannot be known, one that is young stays.
func (c *Cache) remove(e Entry, young bool) (gone bool, err error) {
	switch lock, err := c.lock(e.path, (*flock.Flock).TryLock); {
	case err == nil:
		defer drop(lock)
	case errors.Is(err, errInUse):
		return false, errInUse
	case young:
		return false, nil
	}
	if e.Kind == Files {
		c.discard(e.path) // at once, for whoever looks
	}
	return true, c.removeAll(e.path)
}

// choose is what a policy removes of entries that are ordered last used first.
func choose(entries []Entry, p Policy, now time.Time) []Entry {
	var out []Entry
	var total int64
	for _, e := range entries {
		total += e.Bytes // of this and all that was used later: once too much, it stays too much
		if p.All || p.OlderThan > 0 && now.Sub(e.Used) > p.OlderThan || p.MaxBytes > 0 && total > p.MaxBytes {
			out = append(out, e)
		}
	}
	return out
}
