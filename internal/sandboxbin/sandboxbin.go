// Package sandboxbin finds the hawser-sandbox binary, and builds it where only its source is there.
//
// The sandbox is a Go module of its own, which Hawser does not import; it is run as a program. The package must not
// know what the binary does.
package sandboxbin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"hawser.dev/hawser/internal/child"
	"hawser.dev/hawser/internal/misplaced"
	"hawser.dev/hawser/internal/rootfs"
)

// Name is the file name of the binary.
const Name = "hawser-sandbox"

// Env is the environment variable that overrides every search.
const Env = "HAWSER_SANDBOX"

// ErrNotFound says that there is neither a binary nor its source.
var ErrNotFound = errors.New("hawser-sandbox not found")

// Path returns the path of hawser-sandbox: what HAWSER_SANDBOX says, else the one beside the running executable, else
// the one in PATH, else one built from the source tree around the executable. The working directory may be anybody's: nothing
// of it is run. Building takes minutes the first time and says so on progress. The error wraps ErrNotFound when there is
// nothing to build either.
func Path(ctx context.Context, progress io.Writer) (string, error) {
	if path := os.Getenv(Env); path != "" {
		return given(path)
	}
	if self, err := os.Executable(); err == nil {
		if path, err := checked(filepath.Join(filepath.Dir(self), Name)); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(Name); err == nil {
		return filepath.Abs(path)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return built(ctx, progress, filepath.Dir(self))
}

// FromSource builds hawser-sandbox from the source tree around the working directory, for who works on that tree, or takes it
// from the cache when it was built from exactly this source. HAWSER_SANDBOX overrides it.
func FromSource(ctx context.Context, progress io.Writer) (string, error) {
	if path := os.Getenv(Env); path != "" {
		return given(path)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return built(ctx, progress, here)
}

// built is what the build script of the source tree around a directory gives.
func built(ctx context.Context, progress io.Writer, around string) (string, error) {
	root, err := sourceTree(around)
	if err != nil {
		return "", err
	}
	script := filepath.Join(root, "sandbox", "build.sh")
	cmd := child.New(ctx, "/bin/sh", script)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, progress
	// The build must not inherit what bends the module it is called from.
	cmd.Env = without(os.Environ(), "GOFLAGS", "GOWORK", "GOCOVERDIR")
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", script, err)
	}
	return checked(strings.TrimSpace(out.String()))
}

// given is the file that HAWSER_SANDBOX names.
func given(path string) (string, error) {
	if err := misplaced.File(Env, "the program", path); err != nil {
		return "", err
	}
	return checked(path)
}

// checked returns the absolute path of an executable file.
func checked(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() || info.Mode().Perm()&0o111 == 0 {
		return "", fmt.Errorf("%s: not an executable file", path)
	}
	return filepath.Abs(path)
}

// sourceTree walks up from a directory to the root of Hawser's source.
func sourceTree(dir string) (string, error) {
	for {
		if isRoot(dir) {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("%w: not beside hawser, not in PATH, and hawser does not stand in a source tree to build it from: "+
				"put it beside hawser, set %s, or run the hawser that make built in a checkout", ErrNotFound, Env)
		}
		dir = up
	}
}

// isRoot says whether dir holds Hawser's go.mod and the sandbox's build script.
func isRoot(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "sandbox", "build.sh")); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f, err := rootfs.OpenFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if module, ok := strings.CutPrefix(strings.TrimSpace(s.Text()), "module "); ok {
			return strings.TrimSpace(module) == "hawser.dev/hawser"
		}
	}
	return false
}

func without(env []string, names ...string) []string {
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		drop := false
		for _, n := range names {
			drop = drop || n == name
		}
		if !drop {
			out = append(out, kv)
		}
	}
	return out
}
