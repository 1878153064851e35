//go:build unix

package blob

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipeInADirectory: what never begins is refused, where a blob is wanted.
func TestPipeInADirectory(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "head"), 0o600), os.Mkdir(filepath.Join(dir, "dir"), 0o700), os.Symlink("head", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	for _, key := range []string{"head", "link", "dir"} {
		said := make(chan error, 1)
		go func() {
			_, err := d.Get(t.Context(), key, 1<<20)
			said <- err
		}()
		select {
		case err := <-said:
			if err == nil || errors.Is(err, ErrAbsent) || !strings.Contains(err.Error(), key) {
				t.Errorf("%s: %v", key, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s is waited for", key)
		}
	}
}
