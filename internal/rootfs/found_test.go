package rootfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestTreeFound: a file that becomes another one, or a link, between the look at it and its opening is read as what it is by then: a link
// to .git or out of the tree is refused, and what it leads to is not read.
func TestTreeFound(t *testing.T) {
	for name, c := range map[string]struct {
		become func(at string) error
		want   string // its text; "" when it is refused
		is     func(error) bool
	}{
		"itself":              {func(string) error { return nil }, "was", nil},
		"another file":        {func(at string) error { return os.WriteFile(at, []byte("is"), 0o600) }, "is", nil},
		"a link in the tree":  {func(at string) error { return os.Symlink("other.yaml", at) }, "other", nil},
		"a link to .git":      {func(at string) error { return os.Symlink(".git/config", at) }, "", IsOutside},
		"a link out of it":    {func(at string) error { return os.Symlink("../secret", at) }, "", IsOutside},
		"an absolute link":    {func(at string) error { return os.Symlink(filepath.Join(filepath.Dir(at), "..", "secret"), at) }, "", IsOutside},
		"nothing":             {func(string) error { return nil }, "", func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		"a link to nothing":   {func(at string) error { return os.Symlink("gone.yaml", at) }, "", func(err error) bool { return errors.Is(err, fs.ErrNotExist) }},
		"a link to a link up": {func(at string) error { return errors.Join(os.Symlink("..", at+".up"), os.Symlink(at+".up/secret", at)) }, "", IsOutside},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			root := filepath.Join(top, "repo")
			at := filepath.Join(root, "a.yaml")
			if err := os.MkdirAll(filepath.Join(root, ".git"), 0o700); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{at: "was", filepath.Join(root, "other.yaml"): "other", filepath.Join(root, ".git", "config"): "secret", filepath.Join(top, "secret"): "secret"} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			files := NewTree(root)
			defer files.Close()
			if err := files.enter("."); err != nil {
				t.Fatal(err)
			}
			is, err := files.in.Lstat("a.yaml")
			if err == nil && name != "itself" {
				err = errors.Join(os.Rename(at, at+".old"), c.become(at)) // the old one stays, so that no other one is the same
			}
			if err != nil {
				t.Fatal(err)
			}
			f, info, err := files.found("a.yaml", is)
			if c.want == "" {
				if !c.is(err) || f != nil {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			text, err := io.ReadAll(f)
			opened, statErr := f.Stat()
			if string(text) != c.want || err != nil || statErr != nil || !os.SameFile(info, opened) {
				t.Errorf("%q, %v, %v", text, err, statErr)
			}
		})
	}
}
