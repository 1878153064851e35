package cache

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lazyregexp"
)

// What the cache makes or removes it reaches through an os.Root on its directory: who can write there could put a link in the place of a
// directory of ours, and what that leads to is not the cache's.

// forms are what our own names look like, by the directory that they stand in: nothing else is told or removed.
var forms = map[string]*lazyregexp.Regexp{
	"blobs/sha256":     lazyregexp.New(`^[0-9a-f]{64}$`),
	"trees/sha256":     lazyregexp.New(`^[0-9a-f]{64}(-.*)?$`),
	"documents/sha512": lazyregexp.New(`^[0-9a-f]{128}$`),
	"notes/sha256":     lazyregexp.New(`^[0-9a-f]{64}$`),
	"locks":            lazyregexp.New(`^(blobs|trees|documents|notes)-[0-9a-f]{64}([0-9a-f]{64})?(-.*)?$`),
	"tmp":              lazyregexp.New(`^(blob|tree|trash|probe)-`),
}

// inside does something below the cache's directory, which is there.
func (c *Cache) inside(do func(root *os.Root) error) error {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	err = errors.Join(do(root), root.Close())
	if err == nil || !strings.Contains(err.Error(), "path escapes from parent") { // os.Root has no error of its own for it
		return err
	}
	f := diag.Errorf("cache-link", "a directory in the cache %s is a link that leads out of it", c.dir)
	f.Why = rootCause(err)
	f.Fix = "remove the link; another place for the whole cache is named with " + EnvDir + ", and may be a link"
	return diag.Findings{f}.Err()
}

// below is a path in the cache as it is below its directory.
func (c *Cache) below(at string) string {
	rel, err := filepath.Rel(c.dir, at)
	if err != nil {
		return at // which no root opens
	}
	return rel
}

// names are the paths of what is ours in a directory of the cache, which has none where it is not there.
func (c *Cache) names(dir string) (out []string, err error) {
	err = c.inside(func(root *os.Root) error {
		in, err := root.Open(filepath.FromSlash(dir))
		if err != nil {
			return err
		}
		found, err := in.ReadDir(-1)
		for _, f := range found {
			if forms[dir].MatchString(f.Name()) {
				out = append(out, filepath.Join(c.dir, filepath.FromSlash(dir), f.Name()))
			}
		}
		return errors.Join(err, in.Close())
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	}
	return out, err
}

// ready makes the directory of the cache, for this user alone: what private registries and repositories gave lies in it in clear. One that is
// there stays as it is, so that it can be made to be shared; but for the usual one, which is closed.
func (c *Cache) ready() error {
	if err := os.MkdirAll(filepath.Dir(c.dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(c.dir, 0o700); err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	c.closeToOthers()
	return os.MkdirAll(c.dir, 0o700) // which says what is there, if it is no directory
}

// closeToOthers lets nobody but this user into the usual directory, where it is this user's. A link is left: it leads to where somebody wanted it.
func (c *Cache) closeToOthers() {
	if !c.usual || c.dir == "" {
		return
	}
	is, err := os.Lstat(c.dir)
	if err != nil || !is.IsDir() || is.Mode().Perm()&0o077 == 0 || !mine(is) {
		return
	}
	_ = c.inside(func(root *os.Root) error { return root.Chmod(".", is.Mode().Perm()&^0o077) })
}

// removeAll removes what stands at a path of the cache, with all that is in it.
func (c *Cache) removeAll(at string) error {
	return c.inside(func(root *os.Root) error { return root.RemoveAll(c.below(at)) })
}

// place moves what is complete to where it belongs; somebody else's of the same name is as good.
func (c *Cache) place(from, to string) error {
	return c.inside(func(root *os.Root) error {
		if err := root.MkdirAll(c.below(filepath.Dir(to)), 0o755); err != nil {
			return err
		}
		return root.Rename(c.below(from), c.below(to))
	})
}

// touch notes that something was used. A cache that is only readable remembers nothing.
func (c *Cache) touch(at string) {
	now := time.Now()
	_ = c.inside(func(root *os.Root) error { return root.Chtimes(c.below(at), now, now) })
}

// aside is a new directory among what is being made, "tmp/KIND-" and something at random.
func (c *Cache) aside(kind string) (at string, err error) {
	err = c.inside(func(root *os.Root) error {
		if err := root.MkdirAll("tmp", 0o755); err != nil {
			return err
		}
		name := filepath.Join("tmp", kind+"-"+rand.Text())
		at = filepath.Join(c.dir, name)
		return errors.Join(root.Mkdir(name, 0o755), root.Chmod(name, 0o755)) // others read it, whatever the umask
	})
	return at, err
}

// fresh is a new file in the directory of what is being made.
func (c *Cache) fresh() (out *os.File, err error) {
	err = c.inside(func(root *os.Root) error {
		out, err = root.OpenFile(filepath.Join("tmp", "blob-"+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	return out, err
}

// copyIn copies the files and directories of a directory into one of the cache.
func (c *Cache) copyIn(from, to string) error {
	return c.inside(func(root *os.Root) error {
		own, err := root.OpenRoot(c.below(to))
		if err != nil {
			return err
		}
		files := os.DirFS(from)
		err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || name == ".":
				return err
			case d.IsDir():
				return own.Mkdir(filepath.FromSlash(name), 0o777)
			}
			in, err := files.Open(name)
			if err != nil {
				return err
			}
			defer func() { _ = in.Close() }()
			out, err := own.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
			if err != nil {
				return err
			}
			_, err = io.Copy(out, in)
			return errors.Join(err, out.Close())
		})
		return errors.Join(err, own.Close())
	})
}
