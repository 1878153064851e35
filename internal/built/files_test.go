package built

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
)

// TestBuildDirKnowsItsOwn: a build removes the files, and the empty directories, of what it no longer makes; files of
// others stay, and one in the way stops it before anything is written. Nothing outside is removed through a link.
func TestBuildDirKnowsItsOwn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	outside := filepath.Join(t.TempDir(), "outside")
	build := func(bundle string, names ...string) (string, error) {
		var said bytes.Buffer
		r := &fleetplan.BuildResult{Bundle: bundle, MultiCluster: true, Clusters: []string{"eu"}, Whole: true}
		for _, name := range names {
			kind, rest, _ := strings.Cut(name, ":")
			instance, rest, _ := strings.Cut(rest, "/")
			obj := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": rest}, "data": map[string]any{"token": "aHVudGVyMg=="}}}
			r.Items = append(r.Items, fleetplan.BuildItem{Instance: instance, Cluster: "eu", Objects: []object.Object{obj}})
		}
		err := Files([]*fleetplan.BuildResult{r}, dir, &said)
		return said.String(), err
	}
	files := func() []string {
		var out []string
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
			if rel, _ := filepath.Rel(dir, path); rel != "." {
				out = append(out, filepath.ToSlash(rel))
			}
			return nil
		})
		return out
	}
	check := func(want ...string) {
		t.Helper()
		if got := files(); !slices.Equal(got, append([]string{".hawser-build"}, want...)) {
			t.Errorf("files: %q", got)
		}
	}
	if _, err := build("shop", "ConfigMap:api/a", "ConfigMap:api/b", "Secret:db/s"); err != nil {
		t.Fatal(err)
	}
	check("eu", "eu/api", "eu/api/v1_configmap_a.yaml", "eu/api/v1_configmap_b.yaml", "eu/db", "eu/db/v1_secret_s.yaml")
	index, err := os.ReadFile(filepath.Join(dir, ".hawser-build"))
	if err != nil || strings.Count(string(index), "sha256:") != 2 {
		t.Errorf("the index keeps a digest of the Secret: %s %v", index, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "eu", "api", "README"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := build("shop", "ConfigMap:api/a")
	if err != nil || !strings.Contains(said, "exported 1 resource to "+dir+", removed 2 files that nothing makes any more") {
		t.Errorf("%s, %v", said, err)
	}
	check("eu", "eu/api", "eu/api/README", "eu/api/v1_configmap_a.yaml")

	if err := os.WriteFile(filepath.Join(dir, "eu", "api", "v1_configmap_c.yaml"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = build("shop", "ConfigMap:api/c", "ConfigMap:api/new"); err == nil || !strings.Contains(err.Error(), "v1_configmap_c.yaml") {
		t.Errorf("a file in the way: %v", err)
	}
	if _, err = build("other", "Secret:api/x", "ConfigMap:api/z"); err != nil {
		t.Error(err)
	}
	check("eu", "eu/api", "eu/api/README", "eu/api/v1_configmap_a.yaml", "eu/api/v1_configmap_c.yaml", "eu/api/v1_configmap_z.yaml", "eu/api/v1_secret_x.yaml")

	if err := os.Rename(filepath.Join(dir, "eu"), outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "eu")); err != nil {
		t.Fatal(err)
	}
	if _, err := build("other"); err == nil {
		t.Error("files are removed through a link")
	}
	if _, err := os.Stat(filepath.Join(outside, "api", "v1_configmap_z.yaml")); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".hawser-build"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := build("shop", "ConfigMap:api/a"); err == nil || !strings.Contains(err.Error(), ".hawser-build") {
		t.Errorf("a damaged index: %v", err)
	}
}

// TestBuildDirStaysInside: nothing is written through a link that leads out of the directory, and nothing beside it then.
func TestBuildDirStaysInside(t *testing.T) {
	dir, outside := filepath.Join(t.TempDir(), "out"), t.TempDir()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "web")); err != nil {
		t.Fatal(err)
	}
	r := &fleetplan.BuildResult{Bundle: "shop", Clusters: []string{"eu"}, Whole: true}
	for _, instance := range []string{"api", "web"} {
		obj := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "new"}}}
		r.Items = append(r.Items, fleetplan.BuildItem{Instance: instance, Cluster: "eu", Objects: []object.Object{obj}})
	}
	if err := Files([]*fleetplan.BuildResult{r}, dir, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "web")+" is a link") {
		t.Errorf("a file is written through a link: %v", err)
	}
	left, err := os.ReadDir(dir)
	if behind, oerr := os.ReadDir(outside); err != nil || oerr != nil || len(left) != 1 || len(behind) > 0 {
		t.Errorf("something was written: %v %v, %v %v", left, behind, err, oerr)
	}
}

// TestBuildDirIsNoLinkOut: a directory that is a link of the repository out of it, or lies behind one, is not written into; a link
// inside of it and one that is nobody's are followed.
func TestBuildDirIsNoLinkOut(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, outside := filepath.Join(top, "pr"), filepath.Join(top, "home")
	for _, dir := range []string{filepath.Join(repo, ".git", "hooks"), filepath.Join(repo, "real"), outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"pr/out": "../home", "pr/gone": "../home/new", "pr/hooks": ".git/hooks", "pr/in": "real", "mine": "pr", "far": "home"} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	obj := object.Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "new"}}}
	r := &fleetplan.BuildResult{Bundle: "shop", Clusters: []string{"eu"}, Whole: true, Items: []fleetplan.BuildItem{{Instance: "api", Cluster: "eu", Objects: []object.Object{obj}}}}
	t.Chdir(repo)
	for _, dir := range []string{"out", "out/deep", "gone", "hooks", filepath.Join(repo, "out"), "real/../out", filepath.Join(top, "mine", "out"), "../pr/out"} {
		if err := Files([]*fleetplan.BuildResult{r}, dir, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "name the directory itself") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	for _, dir := range []string{outside, filepath.Join(repo, ".git", "hooks")} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("something was written into %s: %v %v", dir, left, err)
		}
	}
	for dir, where := range map[string]string{"in": "real", "in/deep": "real/deep", "../mine/plain": "plain", "../far": "../home", "new/er": "new/er"} {
		if err := Files([]*fleetplan.BuildResult{r}, dir, &bytes.Buffer{}); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if _, err := os.Stat(filepath.Join(where, "api", "v1_configmap_new.yaml")); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	bare := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(bare, "out")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(bare)
	if err := Files([]*fleetplan.BuildResult{r}, "out", &bytes.Buffer{}); err == nil {
		t.Error("a link out of an unpacked directory is followed")
	}
}

// TestFileIsNoLinkOut: a saved plan is written through no directory link of a repository, and replaces a link that it is called as.
func TestFileIsNoLinkOut(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	if err := errors.Join(os.MkdirAll(at("repo/.git"), 0o755), os.MkdirAll(at("repo/in"), 0o755), os.Mkdir(at("out"), 0o755), os.WriteFile(at("out/mine"), []byte("mine"), 0o600),
		os.Symlink("../out", at("repo/d")), os.Symlink("../out/mine", at("repo/link")), os.Symlink("in", at("repo/same")), os.Symlink("out", at("beside"))); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(at("repo/d/mine"), []byte("plan"), 0o600); err == nil || !strings.Contains(err.Error(), "leads out of") {
		t.Errorf("through a link out: %v", err)
	}
	for _, name := range []string{"repo/same/p", "repo/link", "beside/p"} {
		if err := WriteFile(at(name), []byte("plan"), 0o600); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, _ := os.ReadFile(at("out/mine")); string(data) != "mine" {
		t.Errorf("what lies outside is %q", data)
	}
}
