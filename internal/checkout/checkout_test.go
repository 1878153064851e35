package checkout

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOf: the working copy is found from anywhere below it, also where .git is a file (worktrees, submodules).
func TestOf(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("main/.git/config", "[core]\n\tbare = false\n[remote \"other\"]\n\turl = https://example.com/other\n[remote \"origin\"]\n\tURL = https://ci:token@example.com/shop.git\n\tfetch = x\n")
	write("main/deploy/eu/bundle.yaml", "")
	write("main/.git/worktrees/w/commondir", "../..")
	write("w/.git", "gitdir: "+filepath.Join(dir, "main/.git/worktrees/w")+"\n")
	write("one/.git/config", "[remote \"upstream\"]\nurl = git@example.com:team/one.git\n")
	write("two/.git/config", "[remote \"a\"]\nurl = https://example.com/a\n[remote \"b\"]\nurl = https://example.com/b\n")
	write("none/.git/config", "[core]\n")
	write("near/.git/config", "[remote \"origin\"]\nurl = ../hub/../hub/near.git\n")
	write("near/.git/worktrees/v/commondir", "../..")
	write("deep/er/v/.git", "gitdir: "+filepath.Join(dir, "near/.git/worktrees/v")+"\n")
	write("deep/clone/.git/config", "[remote \"origin\"]\nurl = "+filepath.Join(dir, "link/near.git")+"\n")
	write("deep/file/.git/config", "[remote \"origin\"]\nurl = file://"+filepath.Join(dir, "hub/near.git")+"\n")
	write("far/away/.git/config", "[remote \"origin\"]\nurl = ../hub/near.git\n")
	write("hub/near.git/config", "[core]\n")
	if err := os.Symlink(filepath.Join(dir, "hub"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	hub := filepath.Join(dir, "hub/near.git")
	for _, tt := range []struct{ dir, root, source string }{
		{"main/deploy/eu", "main", "https://example.com/shop.git"},
		{"w", "w", "https://example.com/shop.git"},
		{"one", "one", "git@example.com:team/one.git"},
		{"two", "two", ""}, // nobody knows which
		{"none", "none", ""},
		{"near", "near", hub},
		{"deep/er/v", "deep/er/v", hub},
		{"deep/clone", "deep/clone", hub},
		{"deep/file", "deep/file", hub},
		{"far/away", "far/away", filepath.Join(dir, "far/hub/near.git")}, // another one, written alike
	} {
		got := Of(filepath.Join(dir, tt.dir))
		if got.Root != filepath.Join(dir, tt.root) || got.Source != tt.source {
			t.Errorf("%s: %+v", tt.dir, got)
		}
	}
	if got := Of(filepath.Join(dir, "nowhere")); got.Source != "" || got.Revision != "" {
		t.Errorf("outside of a repository: %+v", got)
	}
}

func TestWithoutUser(t *testing.T) {
	for in, want := range map[string]string{
		"https://ada:secret@example.com/a.git?token=secret#x": "https://example.com/a.git",
		"https://secret@example.com/a.git":                    "https://example.com/a.git",
		"git@example.com:a/b.git":                             "git@example.com:a/b.git",
		"ada:secret@example.com:a/b.git":                      "example.com:a/b.git",
		"ssh://git@example.com/a.git":                         "ssh://example.com/a.git",
		"../elsewhere":                                        "../elsewhere",
		"https://exa mple.com/\x00":                           "",
	} {
		if got := withoutUser(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
