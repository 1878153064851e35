package sandboxbin

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEnvironmentOverrides(t *testing.T) {
	want := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Env, want)
	got, err := Path(t.Context(), io.Discard)
	if err != nil || got != want {
		t.Errorf("Path() = %q, %v; want %q", got, err, want)
	}
}

func TestEnvironmentNamesNoExecutable(t *testing.T) {
	t.Setenv(Env, t.TempDir())
	if got, err := Path(t.Context(), io.Discard); err == nil || !strings.HasSuffix(err.Error(), ": not an executable file") {
		t.Errorf("Path() = %q, %v; want an error: a directory is no executable", got, err)
	}
}

func TestInPath(t *testing.T) {
	t.Setenv(Env, "")
	dir := t.TempDir()
	want := filepath.Join(dir, Name)
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	got, err := Path(t.Context(), io.Discard)
	if err != nil || got != want {
		t.Errorf("Path() = %q, %v; want %q", got, err, want)
	}
}

func TestNowhere(t *testing.T) {
	t.Setenv(Env, "")
	t.Setenv("PATH", "")
	t.Chdir(t.TempDir())
	if got, err := Path(t.Context(), io.Discard); !errors.Is(err, ErrNotFound) {
		t.Errorf("Path() = %q, %v; want ErrNotFound", got, err)
	}
}

func TestSourceTreeFromBelow(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "a", "b")
	for _, dir := range []string{below, filepath.Join(root, "sandbox")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{
		"go.mod":           "// a comment\nmodule hawser.dev/hawser\n",
		"sandbox/build.sh": "echo " + filepath.Join(root, "built") + "\n",
		"built":            "",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(Env, "")
	t.Chdir(below)
	got, err := FromSource(t.Context(), io.Discard)
	if want := filepath.Join(root, "built"); err != nil || got != want {
		t.Errorf("FromSource() = %q, %v; want %q", got, err, want)
	}
	t.Setenv("PATH", "")
	if got, err := Path(t.Context(), io.Discard); !errors.Is(err, ErrNotFound) { // the directory may be a stranger's
		t.Errorf("Path() = %q, %v; want nothing of the working directory", got, err)
	}
}
