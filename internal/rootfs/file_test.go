//go:build unix

package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReadProcessSubstitution: what a shell's <(program) stands for is a pipe that is written and ends.
func TestReadProcessSubstitution(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := w.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if data, err := ReadFile(fmt.Sprintf("/dev/fd/%d", r.Fd()), 10); err != nil || string(data) != "text" {
		t.Errorf("%q %v", data, err)
	}
}

// TestReadFile: what a user names is read when it is a file, of a size, and nothing else is waited for.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(at("file"), []byte("text"), 0o600), os.Symlink("file", at("link")), os.Symlink("/dev/zero", at("zero")),
		syscall.Mkfifo(at("pipe"), 0o600), os.WriteFile(at("large"), make([]byte, 1<<20+1), 0o600), os.Truncate(at("large"), 1<<40)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		at("file"): "", at("link"): "", at("pipe"): "it is a pipe", at("zero"): "it is a device", "/dev/zero": "it is a device",
		at("large"): "it has more than 1 MiB", dir: "is a directory", at("missing"): "no such file",
	} {
		ended := make(chan error, 1)
		go func() {
			data, err := ReadFile(name, 1<<20)
			if err == nil && string(data) != "text" {
				err = errors.New("it is not what was written")
			}
			ended <- err
		}()
		select {
		case err := <-ended:
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), name)) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			if name == at("missing") && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%s: it is waited for", name)
		}
	}
	if _, err := ReadAll(strings.NewReader("12345"), "stdin", 4<<10); err != nil {
		t.Error(err)
	}
	if _, err := ReadAll(strings.NewReader(strings.Repeat("x", 5<<10)), "stdin", 4<<10); err == nil || !strings.Contains(err.Error(), "stdin: it has more than 4 KiB") {
		t.Error(err)
	}
}
