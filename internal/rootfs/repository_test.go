package rootfs_test

import (
	"errors"
	"fmt"
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

// TestGiven: a link of a repository, or of the tree that is the current directory, that leads out of it is refused, on the way to what was
// named and at its end; links beside repositories, and inside of one, may be followed.
func TestGiven(t *testing.T) {
	top, root := tree(t)
	if err := errors.Join(os.MkdirAll(filepath.Join(top, "plain", "d"), 0o755), os.MkdirAll(filepath.Join(top, "else"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for at, to := range map[string]string{"repo/out": "../outside", "repo/hop": "out", "repo/file.yaml": "../outside/secret.yaml", "repo/git": ".git", "repo/in": "d", "repo/gone": "nowhere",
		"repo/away": "../nowhere", "plain/out": "../outside", "plain/in": "d", "way": "repo", "beside": "outside"} {
		link(t, to, filepath.Join(top, filepath.FromSlash(at)))
	}
	for _, c := range []struct {
		here, name string
		refused    bool
	}{
		{"else", "../repo/out", true}, {"else", "../repo/out/secret.yaml", true}, {"else", "../repo/hop/secret.yaml", true}, {"else", "../repo/file.yaml", true}, {"else", "../way/out", true},
		{"else", "../repo/git/config", true}, {"else", "../repo/away", true}, {"else", "../way/a.yaml", false}, {"else", "../repo/in/b.yaml", false}, {"else", "../repo/gone", false},
		{"else", "../repo/in/../out/secret.yaml", true}, {"else", "../beside/secret.yaml", false}, {"else", "../plain/out/secret.yaml", false}, {"else", "nothing", false},
		{"plain", "out/secret.yaml", true}, {"plain", "in", false}, {"plain", "../beside/secret.yaml", false}, {"repo", "out", true}, {"repo", ".", false}, {"repo", "in/b.yaml", false},
	} {
		t.Chdir(filepath.Join(top, c.here))
		for _, name := range []string{c.name, filepath.Join(top, c.here) + "/" + c.name} {
			if err := rootfs.Given(name); (err != nil) != c.refused {
				t.Errorf("from %s: %s: %v", c.here, name, err)
			}
		}
	}
	t.Chdir(root)
	if err := rootfs.Given("out"); !rootfs.IsOutside(err) {
		t.Error(err)
	}
	if r, w, err := os.Pipe(); err != nil || rootfs.Given(fmt.Sprintf("/dev/fd/%d", r.Fd())) != nil || errors.Join(r.Close(), w.Close()) != nil {
		t.Error("what a shell's <(program) stands for is refused")
	}
}

// TestTogether: all working trees of a repository, their submodules, and a repository around one are one author's.
func TestTogether(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for name, text := range map[string]string{
		"main/.git/worktrees/a/commondir": "../..\n", "main/.git/worktrees/b/commondir": at("main/.git"), "main/.git/worktrees/a/modules/sm/HEAD": "", "main/f": "",
		"a/.git": "gitdir: ../main/.git/worktrees/a", "a/f": "", "a/sm/.git": "gitdir: ../../main/.git/worktrees/a/modules/sm", "a/sm/f": "", "b/.git": "gitdir: " + at("main/.git/worktrees/b"), "b/d/f": "",
		"other/.git/HEAD": "", "other/f": "", "main/own/.git/HEAD": "", "main/own/f": "", "here/f": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(at("here"))
	for _, c := range []struct {
		dir, name string
		want      bool
	}{
		{"main", "a/f", true}, {"a", "main/f", true}, {"a", "b/d/f", true}, {"a/sm", "a/f", true}, {"a/sm", "b/d/f", true}, {"main/own", "main/f", true}, {"main", "a/sm/f", true},
		{"main", "other/f", false}, {"a", "other/f", false}, {"other", "b/d/f", false}, {"main", "here/f", true},
	} {
		if got := rootfs.Together(at(c.dir), at(c.name)); got != c.want {
			t.Errorf("%s, %s: %v", c.dir, c.name, got)
		}
	}
	if err := os.Symlink("main", at("link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"main": true, "main/gone/x": true, "link/f": true, "mainly": false, "main/../a/f": false} {
		if rootfs.Holds(at("link"), at(name)) != want {
			t.Errorf("%s: it is held or not, and should be %v", name, want)
		}
	}
}
