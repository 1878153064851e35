//go:build unix

package cache

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOthersReadNothing: the directory of the cache is made for this user alone, whatever the umask. The usual one is closed when it is used,
// by reading alone too, if others were let in; one that somebody named and made stays as it is, and so does what a link leads to.
func TestOthersReadNothing(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for name, c := range map[string]struct {
		usual, link bool
		was, is     os.FileMode // 0: it is not there
	}{
		"new, usual":    {usual: true, is: 0o700},
		"new, named":    {is: 0o700},
		"there, usual":  {usual: true, was: 0o755, is: 0o700},
		"there, closed": {usual: true, was: 0o700, is: 0o700},
		"there, named":  {was: 0o775, is: 0o775},
		"there, a link": {usual: true, link: true, was: 0o755, is: 0o755},
	} {
		for _, warm := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				base := t.TempDir()
				dir, real := filepath.Join(base, "sub", "hawser"), filepath.Join(base, "real")
				if err := os.Mkdir(filepath.Dir(dir), 0o755); err != nil {
					t.Fatal(err)
				}
				if c.link {
					if err := os.Symlink(real, dir); err != nil {
						t.Fatal(err)
					}
				} else {
					real = dir
				}
				o := &origin{content: "hello"}
				if c.was != 0 {
					if err := os.Mkdir(real, c.was); err != nil {
						t.Fatal(err)
					}
					if warm {
						blob(t, Open(Options{Dir: dir}), o)
					}
				}
				use := Open(Options{Dir: dir, Usual: c.usual})
				t.Cleanup(func() { _ = use.Close() })
				if blob(t, use, o) != "hello" {
					t.Error("it is not kept")
				}
				if is, err := os.Stat(real); err != nil || is.Mode().Perm() != c.is {
					t.Errorf("%v %v, want %v", is.Mode(), err, c.is)
				}
			})
		}
	}
}
