//go:build unix

package startup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// started is what the test starts itself with.
const started = "HAWSER_TEST_DESCRIPTORS"

// TestDescriptorsEndHere: what the caller left open is there for this process, by its number, and for no program that it starts, but for what
// it hands on.
func TestDescriptorsEndHere(t *testing.T) {
	const many = 40
	if way := os.Getenv(started); way != "" {
		inheriting(t, way == "listed", many)
		return
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"at once", "listed"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDescriptorsEndHere$")
		cmd.Env = append(os.Environ(), started+"="+way)
		for range many {
			f, err := os.Open(secret)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			cmd.ExtraFiles = append(cmd.ExtraFiles, f)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", way, err, out)
		}
	}
}

// inheriting is the started process, which has so many descriptors of its caller's.
func inheriting(t *testing.T, listed bool, many int) {
	if text, err := os.ReadFile(fmt.Sprintf("/dev/fd/%d", 2+many)); err != nil || string(text) != "s3cret" {
		t.Errorf("%q, %v", text, err)
	}
	if listed { // as where the kernel has no close_range
		for fd := 3; fd <= 2+many; fd++ {
			if _, _, err := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_SETFD, 0); err != 0 {
				t.Fatal(err)
			}
		}
		closeOnStart()
	}
	own, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	for handed, want := range map[int]string{0: "", 1: "3"} {
		cmd := exec.Command("sh", "-c", fmt.Sprintf("fd=3; while [ $fd -le %d ]; do if [ -e /dev/fd/$fd ]; then echo $fd; fi; fd=$((fd+1)); done", 2+many))
		if handed > 0 {
			cmd.ExtraFiles = []*os.File{own}
		}
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%d handed on: it has %q, %v", handed, out, err)
		}
	}
}
