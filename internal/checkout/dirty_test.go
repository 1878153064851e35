package checkout

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository is a working copy made by git, of which a test needs the program.
type repository struct {
	t   *testing.T
	dir string
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (r repository) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// A run's files are dirty when one of them is not what the commit has: changed, staged, new, in no repository; whatever else is changed
// there. Objects are found loose and in packs with deltas, of both hashes, in worktrees and alternates.
func TestDirty(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here, which this test makes repositories with")
	}
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := repository{t, t.TempDir()}
			r.git("init", "-q", "--object-format", format)
			for i := range 40 { // trees that are deltas of one another
				r.write(fmt.Sprintf("deploy/f%d.yaml", i), strings.Repeat(fmt.Sprintln("a: ", i), 50))
			}
			r.write("deploy/shop.yaml", "v: 1\n")
			r.write("other.txt", "x\n")
			r.write("overlay/kustomization.yaml", "resources:\n- ../base\n")
			r.write("base/kustomization.yaml", "resources:\n  - a.yaml\n")
			r.write("base/a.yaml", "b: 1\n")
			if err := os.Symlink("shop.yaml", filepath.Join(r.dir, "deploy/link.yaml")); err != nil {
				t.Fatal(err)
			}
			shop := filepath.Join(r.dir, "deploy/shop.yaml")
			all := []string{shop, filepath.Join(r.dir, "deploy"), filepath.Join(r.dir, "overlay")}
			expect := func(what string, want bool, paths ...string) {
				t.Helper()
				if dirty, known := Dirty(paths); dirty != want || !known {
					t.Errorf("%s: dirty %t, known %t", what, dirty, known)
				}
			}
			expect("nothing is committed", true, shop)
			r.git("add", ".")
			r.git("commit", "-qm", "one")
			expect("committed", false, all...)
			for i := range 5 {
				r.write(fmt.Sprintf("deploy/f%d.yaml", i), fmt.Sprint("b: ", i))
				r.git("commit", "-qam", "more")
			}
			expect("loose", false, all...)
			r.git("gc", "-q", "--aggressive")
			if found, _ := filepath.Glob(filepath.Join(r.dir, ".git/objects/pack/*.pack")); len(found) != 1 {
				t.Fatalf("%v", found)
			}
			expect("in a pack", false, all...)
			w := repository{t, filepath.Join(t.TempDir(), "tree")}
			r.git("worktree", "add", "-q", w.dir)
			c := repository{t, filepath.Join(t.TempDir(), "clone")}
			r.git("clone", "-q", "--shared", r.dir, c.dir)
			for what, dir := range map[string]string{"a worktree": w.dir, "alternates": c.dir} {
				expect(what, false, filepath.Join(dir, "deploy"))
			}
			r.write("other.txt", "y\n")
			expect("another file is changed", false, all...)
			r.write("deploy/shop.yaml", "v: 1\r\n")
			expect("other ends of lines", false, all...)
			r.write("deploy/shop.yaml", "v: 2\n")
			expect("changed", true, shop)
			r.git("add", "deploy/shop.yaml")
			expect("staged", true, shop)
			r.git("commit", "-qm", "two")
			expect("committed again", false, all...)
			r.write("deploy/new.yaml", "v: 2\n")
			expect("a new file beside it", false, shop)
			expect("a new file in the directory", true, filepath.Join(r.dir, "deploy"))
			r.write("base/a.yaml", "b: 2\n")
			expect("what a kustomization leads to", true, filepath.Join(r.dir, "overlay"))
			r.git("checkout", "-q", ".")
			if err := os.Remove(filepath.Join(r.dir, "deploy/link.yaml")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("f1.yaml", filepath.Join(r.dir, "deploy/link.yaml")); err != nil {
				t.Fatal(err)
			}
			expect("a link that leads elsewhere", true, filepath.Join(r.dir, "deploy/link.yaml"))
			expect("in no repository", true, filepath.Join(t.TempDir(), "x.yaml"))
			expect("standard input", true, "-")
		})
	}
}

// A repository that is none, or is damaged, tells nothing, and takes nothing down.
func TestDirtyOfADamagedRepository(t *testing.T) {
	r := repository{t, t.TempDir()}
	r.write("a.yaml", "x")
	r.write(".git/HEAD", strings.Repeat("ab", 20))
	r.write(".git/objects/ab/"+strings.Repeat("ab", 19), "no zlib")
	if dirty, known := Dirty([]string{filepath.Join(r.dir, "a.yaml")}); dirty || known {
		t.Errorf("dirty %t, known %t", dirty, known)
	}
}

// FuzzDelta: whatever stands in a pack, a delta is refused or makes what it says, within its limits.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("base"), []byte{4, 4, 0x90, 4})
	f.Add([]byte("base"), []byte{4, 5, 1, 'x', 0x90, 4})
	f.Add([]byte(""), []byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if out, err := apply(base, delta); err == nil && len(out) > maxObject {
			t.Errorf("%d bytes", len(out))
		}
	})
}
