package rootfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/internal/rootfs"
)

// TestRepository: submodules, nested too, belong to the outermost repository that holds their .git; another repository does not.
func TestRepository(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for name, text := range map[string]string{
		"super/.git/modules/a/modules/b/HEAD": "", "super/x/a/.git": "gitdir: ../../.git/modules/a\n", "super/x/a/b/.git": "gitdir: " + at("super/.git/modules/a/modules/b"),
		"super/x/a/b/c/f": "", "super/tree/.git": "gitdir: ../.git/worktrees/tree", "super/own/.git/HEAD": "", "super/own/d/f": "", "super/far/.git": "gitdir: " + at("other/.git/worktrees/far"),
		"super/odd/.git": "no such thing", "other/.git/HEAD": "", "module/cue.mod/f": "", "module/d/f": "", "plain/d/f": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		"super": "super", "super/x": "super", "super/x/a": "super", "super/x/a/b/c": "super", "super/tree": "super", "super/own/d": "super/own", "super/far": "super/far",
		"super/odd": "super/odd", "module/d": "module", "plain/d": "plain/d",
	} {
		got, marked, err := rootfs.Repository(at(dir))
		if err != nil || got != at(want) || marked != (dir != "plain/d") {
			t.Errorf("%s: %s %v %v, want %s", dir, got, marked, err, want)
		}
	}
	if err := errors.Join(os.WriteFile(at("plain/.git"), []byte("gitdir: loop"), 0o600), os.Symlink("loop", at("plain/loop"))); err != nil {
		t.Fatal(err)
	}
	if got, _, err := rootfs.Repository(at("plain/d")); err == nil {
		t.Errorf("a .git that leads in a circle: %s", got)
	}
	if !rootfs.Together(at("plain/d"), at("other/.git/HEAD")) || !rootfs.Together(at("super/x"), at("gone")) || rootfs.Together(at("super/x"), at("other/.git/HEAD")) {
		t.Error("what cannot be told counts as come together, and nothing else")
	}
}
