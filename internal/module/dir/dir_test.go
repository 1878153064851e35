package dir

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

var minimal = map[string]string{
	"cue.mod/module.cue": "module: \"x.test/m\"\n", "timoni.cue": "package main\n", "values.cue": "package main\n",
}

// write makes a module directory; further files override the minimal ones.
func write(t *testing.T, files ...map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for _, m := range append([]map[string]string{minimal}, files...) {
		for name, text := range m {
			p := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func fetch(t *testing.T, root string) module.Content {
	t.Helper()
	c, err := New().Fetch(t.Context(), module.Reference{URL: "file://" + root})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFetch(t *testing.T) {
	root := write(t, map[string]string{"templates/a.cue": "package templates\n", ".git/HEAD": "x", "README.md": "r"})
	c := fetch(t, root)
	want := []string{"README.md", "cue.mod/module.cue", "templates/a.cue", "timoni.cue", "values.cue"}
	if diff := cmp.Diff(want, c.Files); diff != "" {
		t.Errorf("files: -want +got\n%s", diff)
	}
	if c.Version != module.LocalVersion || c.Root != root || !strings.HasPrefix(c.Digest, "sha256:") {
		t.Errorf("got %+v", c)
	}
	elsewhere := fetch(t, write(t, map[string]string{"templates/a.cue": "package templates\n", "README.md": "r"}))
	if elsewhere.Digest != c.Digest {
		t.Error("the digest depends on the place")
	}
}

func TestFetchRelative(t *testing.T) {
	root := write(t)
	c, err := New().Fetch(t.Context(), module.Reference{URL: "file://../" + filepath.Base(root), Dir: root, Version: "9.9.9"})
	if err != nil || c.Root != root || c.Version != module.LocalVersion {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestDigestChanges(t *testing.T) {
	base := fetch(t, write(t)).Digest
	for name, files := range map[string]map[string]string{
		"content": {"timoni.cue": "package main\nx: 1\n"}, "new file": {"data.json": "{}"},
		"generated schema": {"cue.mod/gen/k8s.io/a.cue": "package a\n"}, "package": {"cue.mod/pkg/x/a.cue": "package a\n"},
		"user package": {"cue.mod/usr/x/a.cue": "package a\n"},
	} {
		if fetch(t, write(t, files)).Digest == base {
			t.Errorf("%s: the digest does not change", name)
		}
	}
}

func TestKnownContentFollowsChanges(t *testing.T) {
	f := New()
	root := write(t)
	ref := module.Reference{URL: "file://" + root}
	one, _ := f.Fetch(t.Context(), ref)
	two, _ := f.Fetch(t.Context(), ref)
	if one.Digest != two.Digest {
		t.Fatal("digest is not stable")
	}
	values := filepath.Join(root, "values.cue")
	if err := os.WriteFile(values, []byte("package mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	future := time.Now().Add(time.Minute)
	if err := os.Chtimes(values, future, future); err != nil {
		t.Fatal(err)
	}
	if three, _ := f.Fetch(t.Context(), ref); three.Digest == one.Digest {
		t.Error("a changed file of the same size is not noticed")
	}
}

func TestErrors(t *testing.T) {
	good := write(t)
	bare := t.TempDir()
	for name, c := range map[string]struct {
		ref        module.Reference
		code, want string
	}{
		"missing":   {module.Reference{URL: "file://./nope", Dir: good}, "module-not-found", "nope"},
		"file":      {module.Reference{URL: "file://./timoni.cue", Dir: good}, "module-not-found", "not a directory"},
		"no module": {module.Reference{URL: "file://" + bare}, "not-a-module", "no timoni.cue"},
		"scheme":    {module.Reference{URL: "oci://x"}, "module-url", "oci://x"},
		"digest":    {module.Reference{URL: "file://" + good, Digest: "sha256:00"}, "digest-mismatch", "wants sha256:00"},
		"ignored": {module.Reference{URL: "file://" + write(t, map[string]string{module.IgnoreFile: "values.cue\n"})},
			"not-a-module", "values.cue (excluded by timoni.ignore)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New().Fetch(t.Context(), c.ref)
			fs := diag.From(err, "other")
			if len(fs) != 1 || fs[0].Code != c.code || !strings.Contains(fs[0].What, c.want) {
				t.Errorf("got %v", fs)
			}
		})
	}
	right := fetch(t, good).Digest
	if _, err := New().Fetch(t.Context(), module.Reference{URL: "file://" + good, Digest: right}); err != nil {
		t.Errorf("the right digest: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New().Fetch(ctx, module.Reference{URL: "file://" + good}); err == nil {
		t.Error("a cancelled fetch succeeds")
	}
}

func TestLinks(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "core.cue"), []byte("package core\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := func(t *testing.T, target, at string) string {
		root := write(t, map[string]string{"shared/a.cue": "package a\n"})
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(root, at)); err != nil {
			t.Fatal(err)
		}
		return root
	}
	inside := fetch(t, link(t, "../shared", "templates/shared"))
	if !strings.Contains(strings.Join(inside.Files, " "), "templates/shared/a.cue") {
		t.Errorf("a link inside the module is not followed: %v", inside.Files)
	}
	vendoredFiles := fetch(t, link(t, outside, "cue.mod/pkg/timoni.test"))
	if !strings.Contains(strings.Join(vendoredFiles.Files, " "), "cue.mod/pkg/timoni.test/core.cue") {
		t.Errorf("a vendored link is not followed: %v", vendoredFiles.Files)
	}
	// What lies beside vendored CUE, or only looks like it, is no part of the module.
	for name, text := range map[string]string{"id_rsa": "SECRET", "secret.cue": "token: \"SECRET\"\n", "broken.cue": "}SECRET", "notes.yaml": "a: SECRET"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	vendoredFiles = fetch(t, link(t, outside, "cue.mod/pkg/timoni.test"))
	for _, name := range vendoredFiles.Files {
		if data, err := vendoredFiles.ReadFile(name, 1<<20); err != nil || strings.Contains(string(data), "SECRET") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if !strings.Contains(strings.Join(vendoredFiles.Files, " "), "cue.mod/pkg/timoni.test/core.cue") {
		t.Errorf("a vendored link is not followed: %v", vendoredFiles.Files)
	}
	for name, root := range map[string]string{
		"key": link(t, filepath.Join(outside, "id_rsa"), "cue.mod/pkg/x.cue"), "data": link(t, filepath.Join(outside, "secret.cue"), "cue.mod/pkg/y/x.cue"),
		"out": link(t, outside, "templates/x"), "dangling": link(t, "nowhere", "x.cue"), "cycle": link(t, "..", "templates/up"),
	} {
		if _, err := New().Fetch(t.Context(), module.Reference{URL: "file://" + root}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestStaysInTheRepository: a module that a document names lies in its repository, by every name and link; outside of it nothing is
// read, and whether it is there is not told. What nobody's document names may lie anywhere.
func TestStaysInTheRepository(t *testing.T) {
	home, repo := write(t), write(t, map[string]string{".git/config": "x", "bundles/b.yaml": "x", "timoni.ignore": "bundles/\n"})
	dir := filepath.Join(repo, "bundles")
	for link, to := range map[string]string{"l": home, "gone": filepath.Join(home, "gone"), "g": "../.git"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	up, err := filepath.Rel(dir, home)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{up, up + "/gone", home, "./l", "./gone", "../.git", "g", "/etc"} {
		_, err := New().Fetch(t.Context(), module.Reference{URL: "file://" + path, Dir: dir})
		if fs := diag.From(err, ""); len(fs) != 1 || fs[0].Code != "module-outside" {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"..", repo, "../../" + filepath.Base(repo)} {
		if _, err := New().Fetch(t.Context(), module.Reference{URL: "file://" + path, Dir: dir}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := New().Fetch(t.Context(), module.Reference{URL: "file://" + up, Dir: t.TempDir()}); err == nil {
		t.Error("beside no repository: accepted")
	}
	if _, err := New().Fetch(t.Context(), module.Reference{URL: "file://" + home}); err != nil {
		t.Errorf("named by no document: %v", err)
	}
	root := write(t)
	if err := os.Symlink(filepath.Join(dir, "b.yaml"), filepath.Join(root, module.IgnoreFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := New().Fetch(t.Context(), module.Reference{URL: "file://" + root}); err == nil {
		t.Error("an ignore file outside of the module: accepted")
	}
}
