package chartdir

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/archive"
	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
)

const chartYAML = "apiVersion: v2\nname: app\nversion: 1.2.3\n"

func write(t *testing.T, root string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func fetcher(t *testing.T) *Fetcher {
	t.Helper()
	return New(cache.Open(cache.Options{Dir: t.TempDir()}))
}

func wantCode(t *testing.T, err error, code, text string) {
	t.Helper()
	fs := diag.From(err, "")
	if len(fs) != 1 || fs[0].Code != code || !strings.Contains(fs[0].String(), text) {
		t.Errorf("got %v, want %s with %q", fs, code, text)
	}
}

func TestDirectory(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{
		"Chart.yaml": chartYAML, "templates/a.yaml": "a", "templates/.hidden": "left out by default", "values.yaml": "x: 1",
		".helmignore": "*.bak\n/ci/\n", "old.bak": "x", "ci/test.yaml": "x", "charts/sub/Chart.yaml": "x", ".git/HEAD": "x",
	})
	f := fetcher(t)
	ref := module.Reference{URL: "chart+file://" + filepath.Base(root), Dir: filepath.Dir(root), Version: "9.9"}
	c, err := f.Fetch(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".helmignore", "Chart.yaml", "charts/sub/Chart.yaml", "templates/a.yaml", "values.yaml"}
	if diff := cmp.Diff(want, c.Files); diff != "" {
		t.Errorf("files: -want +got\n%s", diff)
	}
	if c.Root != root || c.Version != "1.2.3" {
		t.Errorf("got %+v", c)
	}
	res, err := f.Resolve(t.Context(), ref)
	if err != nil || res.Digest != c.Digest || res.Version != "1.2.3" {
		t.Errorf("resolved %+v, %v; fetched %s", res, err, c.Digest)
	}
	write(t, root, map[string]string{"old.bak": "changed"})
	if c2, err := f.Fetch(t.Context(), ref); err != nil || c2.Digest != c.Digest {
		t.Errorf("an ignored file changes the digest: %v", err)
	}
	write(t, root, map[string]string{"values.yaml": "x: 22"})
	if c2, err := f.Fetch(t.Context(), ref); err != nil || c2.Digest == c.Digest {
		t.Errorf("a changed file does not change the digest: %v", err)
	}
	ref.Digest = c.Digest
	_, err = f.Fetch(t.Context(), ref)
	wantCode(t, err, "digest-mismatch", c.Digest)
}

func TestLinks(t *testing.T) {
	outside := write(t, t.TempDir(), map[string]string{"secret": "x"})
	root := write(t, t.TempDir(), map[string]string{"Chart.yaml": chartYAML, "files/a": "a"})
	if err := os.Symlink("../files/a", filepath.Join(root, "files", "b")); err != nil {
		t.Fatal(err)
	}
	f := fetcher(t)
	c, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + root})
	if err != nil || len(c.Files) != 3 {
		t.Fatalf("a link inside the chart: %v, %v", c.Files, err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "files", "c")); err != nil {
		t.Fatal(err)
	}
	_, err = f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + root})
	wantCode(t, err, "chart-link", "files/c is a link that leads out of the chart")
}

func TestMissing(t *testing.T) {
	f := fetcher(t)
	dir := t.TempDir()
	_, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://none", Dir: dir})
	wantCode(t, err, "chart-not-found", "chart none: there is no directory")
	_, err = f.Fetch(t.Context(), module.Reference{URL: "chart+file://none-1.tgz", Dir: dir})
	wantCode(t, err, "chart-not-found", "there is no file "+filepath.Join(dir, "none-1.tgz"))
	_, err = f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + dir})
	wantCode(t, err, "not-a-chart", "there is no Chart.yaml")
	_, err = f.Fetch(t.Context(), module.Reference{URL: "file://" + dir})
	wantCode(t, err, "chart-url", "chart+file://")
}

func pack(t *testing.T, root string, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(archive.Write(t.Context(), z, root, files), z.Close()); err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(t.TempDir(), "app-1.2.3.tgz")
	if err := os.WriteFile(p, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPacked(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{"app/Chart.yaml": chartYAML, "app/templates/a.yaml": "a"})
	p := pack(t, root, "app/Chart.yaml", "app/templates/a.yaml")
	f := fetcher(t)
	ref := module.Reference{URL: "chart+file://app-1.2.3.tgz", Dir: filepath.Dir(p)}
	c, err := f.Fetch(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Chart.yaml", "templates/a.yaml"}, c.Files); diff != "" {
		t.Errorf("files: -want +got\n%s", diff)
	}
	if data, err := os.ReadFile(filepath.Join(c.Root, "Chart.yaml")); err != nil || string(data) != chartYAML {
		t.Errorf("Chart.yaml: %q, %v", data, err)
	}
	ref.Digest = c.Digest
	if _, err := f.Fetch(t.Context(), ref); err != nil {
		t.Errorf("with its digest: %v", err)
	}
	ref.Digest = "sha256:" + strings.Repeat("0", 64)
	_, err = f.Fetch(t.Context(), ref)
	wantCode(t, err, "digest-mismatch", c.Digest)
}

// TestVersion: a local chart has the version of its Chart.yaml; one that says none, or nonsense, has that of other local
// content.
func TestVersion(t *testing.T) {
	f := fetcher(t)
	for text, want := range map[string]string{
		chartYAML: "1.2.3", "name: app\nversion: v2.0.0-rc.1+build\n": "v2.0.0-rc.1+build", "name: app\n": module.LocalVersion,
		"name: app\nversion: \"1.0\\nTwo\"\n": module.LocalVersion, "version: [1]\n": module.LocalVersion, "{": module.LocalVersion,
		"name: app\nversion: 1.0.0-" + strings.Repeat("x", 200) + "\n": module.LocalVersion,
	} {
		root := write(t, t.TempDir(), map[string]string{"app/Chart.yaml": text})
		for _, path := range []string{filepath.Join(root, "app"), pack(t, root, "app/Chart.yaml")} {
			c, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + path})
			if err != nil || c.Version != want {
				t.Errorf("%q: %s, %v", text, c.Version, err)
			}
		}
	}
}

func TestPackedIsRefused(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{"app/Chart.yaml": chartYAML, "other/x": "x", "app/y": "y", "z": "z"})
	f := fetcher(t)
	for name, c := range map[string]struct {
		files      []string
		code, text string
	}{
		"two directories": {[]string{"app/Chart.yaml", "other/x"}, "not-a-chart", "outside the one directory"},
		"no directory":    {[]string{"z"}, "not-a-chart", "outside the one directory"},
		"no chart":        {[]string{"app/y"}, "not-a-chart", "there is no Chart.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + pack(t, root, c.files...)})
			wantCode(t, err, c.code, c.text)
		})
	}
	t.Run("traversal", func(t *testing.T) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		if err := w.WriteHeader(&tar.Header{Name: "app/../../evil", Mode: 0o644, Size: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		p := filepath.Join(t.TempDir(), "evil.tgz")
		if err := os.WriteFile(p, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + p})
		wantCode(t, err, "chart-archive", "evil")
	})
	for text, why := range map[string]string{"<!DOCTYPE html><title>Log in</title>": "it is an HTML page, and neither gzip nor a tar (look at what is there, as a page to log in",
		"version https://git-lfs.github.com/spec/v1\n": "git lfs pull", "\x1f\x8b\x08": "it is cut off (a chart is packed by `helm package`)"} {
		path := filepath.Join(write(t, t.TempDir(), map[string]string{"x.tgz": text}), "x.tgz")
		_, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + path})
		wantCode(t, err, "chart-archive", path+" is not taken: archive: ")
		wantCode(t, err, "chart-archive", why)
	}
}

// TestStaysInTheRepository: a chart that a document names lies in its repository, by every name and link; outside of it nothing is
// read, and whether it is there is not told. What nobody's document names may lie anywhere.
func TestStaysInTheRepository(t *testing.T) {
	top := write(t, t.TempDir(), map[string]string{"pr/.git/config": "x", "pr/charts/app/Chart.yaml": chartYAML, "pr/bundles/b.yaml": "x",
		"home/app/Chart.yaml": chartYAML, "home/app.tgz": "x", "pr/.git/app/Chart.yaml": chartYAML, "bare/b/b.yaml": "x", "bare/app/Chart.yaml": chartYAML})
	dir := filepath.Join(top, "pr", "bundles")
	for link, to := range map[string]string{"l": "../../home/app", "t.tgz": "../../home/app.tgz", "gone": "../../home/gone", "g": "../.git/app"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	f := fetcher(t)
	for _, path := range []string{"../../home/app", "../../home/app.tgz", "../../home/gone", filepath.Join(top, "home", "app"), "./l", "./t.tgz", "./gone", "../.git/app", "./g",
		"/etc", "/proc/self/root"} {
		_, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + path, Dir: dir})
		if fs := diag.From(err, ""); len(fs) != 1 || fs[0].Code != "chart-outside" {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"../charts/app", filepath.Join(top, "pr", "charts", "app"), "../../pr/charts/app"} {
		if _, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + path, Dir: dir}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	_, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://../app", Dir: filepath.Join(top, "bare", "b")})
	wantCode(t, err, "chart-outside", "outside of "+filepath.Join(top, "bare", "b"))
	if _, err := f.Fetch(t.Context(), module.Reference{URL: "chart+file://" + filepath.Join(top, "home", "app")}); err != nil {
		t.Errorf("named by no document: %v", err)
	}
}

// TestNothingOfGit: a chart at the top of a repository has nothing of .git, by no link; and its .helmignore is a file of it.
func TestNothingOfGit(t *testing.T) {
	root := write(t, t.TempDir(), map[string]string{"Chart.yaml": chartYAML, ".git/config": "token"})
	if err := os.Symlink("../.git/config", filepath.Join(write(t, root, map[string]string{"files/a": "a"}), "files", "c")); err != nil {
		t.Fatal(err)
	}
	_, err := fetcher(t).Fetch(t.Context(), module.Reference{URL: "chart+file://" + root})
	wantCode(t, err, "chart-link", "files/c is a link that leads out of the chart")

	root = write(t, t.TempDir(), map[string]string{"app/Chart.yaml": chartYAML, "secret": "values.yaml\n"})
	if err := os.Symlink("../secret", filepath.Join(root, "app", ".helmignore")); err != nil {
		t.Fatal(err)
	}
	_, err = fetcher(t).Fetch(t.Context(), module.Reference{URL: "chart+file://" + filepath.Join(root, "app")})
	wantCode(t, err, "chart-unreadable", "leads out of")
}
