package swap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAll: files are replaced all together or not at all, links stay links, modes stay, and undo takes all of it back.
func TestAll(t *testing.T) {
	for name, c := range map[string]struct {
		break_ func(t *testing.T, dir string)
		want   string
	}{
		"all":                   {},
		"one was changed since": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "b.cue"), "other") }, "somebody else has changed it"},
		"one is gone":           {func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "real")) }, "no such file"},
		"one cannot be replaced": {func(t *testing.T, dir string) {
			if os.Getuid() == 0 {
				t.Skip("root writes everywhere")
			}
			if err := os.Chmod(filepath.Join(dir, "c"), 0o555); err != nil {
				t.Fatal(err)
			}
		}, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			write(t, at("real"), "one")
			write(t, at("b.cue"), "two")
			write(t, at("c/d.yaml"), "three")
			if err := os.Symlink("real", at("link.yaml")); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(at("b.cue"), 0o640); err != nil {
				t.Fatal(err)
			}
			if c.break_ != nil {
				c.break_(t, dir)
			}
			undo, err := All([]Change{{at("link.yaml"), []byte("one"), []byte("1")}, {at("b.cue"), []byte("two"), []byte("2")}, {at("c/d.yaml"), []byte("three"), []byte("3")}})
			_ = os.Chmod(at("c"), 0o755)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("%v, want %s", err, c.want)
				}
				if got := read(t, at("c/d.yaml")); got != "three" {
					t.Errorf("half-written: %q", got)
				}
				return
			}
			if err != nil || read(t, at("real")) != "1" || read(t, at("b.cue")) != "2" || read(t, at("c/d.yaml")) != "3" {
				t.Fatalf("%v", err)
			}
			if info, _ := os.Lstat(at("link.yaml")); info.Mode()&os.ModeSymlink == 0 {
				t.Error("the link is a file now")
			}
			if info, _ := os.Stat(at("b.cue")); info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v", info.Mode())
			}
			if err := undo(); err != nil || read(t, at("real")) != "one" || read(t, at("c/d.yaml")) != "three" {
				t.Errorf("undone: %v", err)
			}
			left, _ := filepath.Glob(at(".*"))
			if more, _ := filepath.Glob(at("c/.*")); len(left)+len(more) > 0 {
				t.Errorf("left behind: %v %v", left, more)
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
