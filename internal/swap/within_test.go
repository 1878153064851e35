package swap

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWithin: what is edited lies in the repository of what was given, whatever links there are, and is no package of others.
func TestWithin(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, name := range []string{"repo/.git/HEAD", "repo/b.cue", "repo/d/v.yaml", "repo/cue.mod/pkg/x.example/q/q.cue", "out/pkg/p.cue", "plain/b.yaml", "plain/d/v.yaml"} {
		write(t, at(name), "x")
	}
	if err := errors.Join(os.MkdirAll(at("repo/cue.mod/pkg/ext.example"), 0o755), os.Symlink("../../../../out/pkg", at("repo/cue.mod/pkg/ext.example/p")),
		os.Symlink("../../../d", at("repo/cue.mod/pkg/ext.example/in")), os.Symlink("../out", at("repo/away")), os.Symlink("d/v.yaml", at("repo/l.yaml")), os.Symlink(".git/HEAD", at("repo/g.yaml"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, given, want string }{
		{"repo/b.cue", "repo/b.cue", ""}, {"repo/d/v.yaml", "repo", ""}, {"repo/l.yaml", "repo/b.cue", ""}, {"repo/cue.mod/pkg/x.example/q/q.cue", "repo/b.cue", ""}, {"plain/d/v.yaml", "plain/b.yaml", ""},
		{"repo/cue.mod/pkg/ext.example/p/p.cue", "repo/b.cue", at("out/pkg/p.cue")}, {"repo/away/pkg/p.cue", "repo/b.cue", at("out/pkg/p.cue")}, {"out/pkg/p.cue", "repo/b.cue", "outside of " + at("repo")},
		{"repo/cue.mod/pkg/ext.example/in/v.yaml", "repo/b.cue", "another package's"}, {"repo/g.yaml", "repo/b.cue", ".git"}, {"repo/gone", "repo/b.cue", "no such file"},
	} {
		err := Within(at(c.name), []string{at(c.given)})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), at(c.name))) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	link := at("repo/cue.mod/pkg/ext.example/p/p.cue")
	if _, err := All([]Change{{at("repo/b.cue"), []byte("x"), []byte("y")}, {link, []byte("x"), []byte("y")}}); err == nil || read(t, at("out/pkg/p.cue")) != "x" || read(t, at("repo/b.cue")) != "x" {
		t.Errorf("a link that leads out is written through: %v", err)
	}
}
