package blob

import (
	"errors"
	"path/filepath"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/nofollow"
)

// A directory of records may be one of a repository, in which anybody who contributes can put a link: nothing here follows any, at any level.

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

// linked puts what a nofollow.LinkError says into words.
func (d *Dir) linked(err error) error {
	l, ok := errors.AsType[*nofollow.LinkError](err)
	if !ok {
		return err
	}
	f := diag.Errorf(CodeStoreLink, "%s is a link, in a directory that release records are kept in", filepath.Join(filepath.FromSlash(d.path), filepath.FromSlash(l.At)))
	f.Because("what a link leads to is not the store's: nothing is read, written or removed through it")
	f.Fix = "find out who made it, and remove it; only the whole directory, as releases.store.file.path names it, may be a link"
	return diag.Findings{f}.Err()
}
