package oci

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// The same files give the same digest, wherever they are pushed to; a version that is published does not change.
func TestPush(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	c := client(t.TempDir())
	url := r.OCI("mods/x")
	first, err := c.Push(t.Context(), url, moduleOf(t, "1.0.0", moduleFiles), module.PushOptions{Tags: []string{"latest"}, Immutable: []string{"1.0.0"}})
	if err != nil || first.Unchanged || !cache.ValidDigest(first.Digest) {
		t.Fatalf("%+v %v", first, err)
	}
	if d := cmp.Diff([]string{"latest", "1.0.0"}, first.Tags); d != "" {
		t.Error(d)
	}
	r.Forget()
	again, err := c.Push(t.Context(), url+":1.0.0", moduleOf(t, "1.0.0", moduleFiles), module.PushOptions{Tags: []string{"latest"}, Immutable: []string{"1.0.0"}})
	if err != nil || !again.Unchanged || again.Digest != first.Digest {
		t.Errorf("again: %+v %v", again, err)
	}
	for _, asked := range r.Requests() {
		if !strings.HasPrefix(asked, "GET ") {
			t.Errorf("again: %s", asked)
		}
	}
	other := moduleOf(t, "1.0.0", map[string]string{"timoni.cue": "other"})
	_, err = c.Push(t.Context(), url, other, module.PushOptions{Tags: []string{"latest"}, Immutable: []string{"1.0.0"}})
	wantCode(t, err, "version-exists", first.Digest, "1.0.0")
	if tags, err := c.List(t.Context(), url, module.ListOptions{Details: true}); err != nil || len(tags) != 2 || tags[1].Digest != first.Digest {
		t.Errorf("latest moved although the version was refused: %+v %v", tags, err)
	}
	moved, err := c.Push(t.Context(), url, other, module.PushOptions{Tags: []string{"1.0.0"}})
	if err != nil || moved.Digest == first.Digest {
		t.Errorf("a tag that may move: %+v %v", moved, err)
	}
	for _, bad := range []string{url + "@" + first.Digest, url + ":no tag", "file://x", "oci-layout://"} {
		if _, err := c.Push(t.Context(), bad, other, module.PushOptions{}); err == nil {
			t.Errorf("%s was pushed to", bad)
		}
	}
	_, err = c.Push(t.Context(), url, other, module.PushOptions{Tags: []string{"../x"}})
	wantCode(t, err, "tag-syntax")
	_, err = c.Push(t.Context(), url, module.Artifact{Layers: []module.Layer{{Root: t.TempDir(), Files: []string{"../secret"}}}}, module.PushOptions{})
	if err == nil {
		t.Error("a file outside the root was pushed")
	}
}

// Registries, layouts and archives hold the same artifact, and it goes from each to each byte for byte.
func TestCopy(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	dir := t.TempDir()
	digest := push(t, r, "1.0.0", moduleFiles)
	places := []string{r.OCI("mods/x") + ":1.0.0", "oci-layout://" + filepath.ToSlash(dir) + "/layout:1.0.0", "oci-archive://" + filepath.ToSlash(dir) + "/x.tar:1.0.0",
		r.OCI("copy/x") + ":1.0.0", "oci-archive://" + filepath.ToSlash(dir) + "/y.tar:1.0.0", "oci-layout://" + filepath.ToSlash(dir) + "/layout2:1.0.0", r.OCI("copy/y") + ":1.0.0"}
	for i, to := range places {
		if i > 0 {
			copied, err := client("").Copy(t.Context(), places[i-1], to, module.PushOptions{})
			if err != nil || copied.Digest != digest || copied.Unchanged {
				t.Fatalf("%s -> %s: %+v %v", places[i-1], to, copied, err)
			}
		}
		out := filepath.Join(t.TempDir(), "out")
		got, err := client("").Pull(t.Context(), to, out, module.PullOptions{Digest: digest})
		if err != nil || got.ConfigType != module.ModuleConfigType || got.Annotations[module.VersionAnnotation] != "1.0.0" {
			t.Fatalf("%s: %+v %v", to, got, err)
		}
		if d := cmp.Diff(moduleFiles, read(t, out, got.Files)); d != "" {
			t.Errorf("%s: %s", to, d)
		}
		tags, err := client("").List(t.Context(), strings.TrimSuffix(to, ":1.0.0"), module.ListOptions{Details: true})
		if d := cmp.Diff([]module.Tag{{Name: "1.0.0", Digest: digest, Created: "2026-09-01T12:00:00Z"}}, tags); d != "" || err != nil {
			t.Errorf("%s: %v %s", to, err, d)
		}
	}
	x, err := os.ReadFile(filepath.Join(dir, "x.tar"))
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(filepath.Join(dir, "y.tar"))
	if err != nil || !bytes.Equal(x, y) {
		t.Errorf("archives of the same artifact differ (%v)", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestPull(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.0.0", moduleFiles)
	url, parent := r.OCI("mods/x"), t.TempDir()
	out := filepath.Join(parent, "out")
	_, err := client("").Pull(t.Context(), url, out, module.PullOptions{})
	wantCode(t, err, "artifact-not-found") // there is no latest
	_, err = client("").Pull(t.Context(), url+":1.0.0", out, module.PullOptions{Digest: digestOf(nil)})
	wantCode(t, err, "digest-mismatch", digest, digestOf(nil))
	_, err = client("").Pull(t.Context(), url+":1.0.0", out, module.PullOptions{ContentType: "other"})
	if !hasCode(err, "not-an-artifact") {
		t.Error(err)
	}
	r.Fail(testregistry.On("/blobs/", r.CutOff()))
	_, err = client("").Pull(t.Context(), url+":1.0.0", out, module.PullOptions{})
	wantCode(t, err, "registry-cut-off")
	r.Fail(nil)
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	got, err := client("").Pull(t.Context(), url+"@"+digest, out, module.PullOptions{ContentType: module.ContentVendor})
	if d := cmp.Diff([]string{"cue.mod/gen/k8s.io/api/v1/x.cue", "cue.mod/module.cue"}, got.Files); d != "" || err != nil {
		t.Errorf("one content type: %v %s", err, d)
	}
}

// Tags are listed newest first, over many pages if need be.
func TestListAndTag(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.0.0", moduleFiles)
	url := r.OCI("mods/x")
	got, err := client("").Tag(t.Context(), url+":1.0.0", "v1.2.0", "1.10.0", "latest", "1.10.0-rc.1", "edge")
	if err != nil || got != digest {
		t.Fatalf("%s %v", got, err)
	}
	names := func(o module.ListOptions) []string {
		tags, err := client("").List(t.Context(), url, o)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, tag := range tags {
			out = append(out, tag.Name)
		}
		return out
	}
	if d := cmp.Diff([]string{"1.10.0", "1.10.0-rc.1", "v1.2.0", "1.0.0", "edge", "latest"}, names(module.ListOptions{})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"1.10.0", "1.10.0-rc.1"}, names(module.ListOptions{Limit: 2})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"latest"}, names(module.ListOptions{Filter: func(tag string) bool { return tag == "latest" }})); d != "" {
		t.Error(d)
	}
	r.Fail(testregistry.EndlessTags)
	_, err = client("").List(t.Context(), url, module.ListOptions{})
	wantCode(t, err, "too-many-tags")
	r.Fail(nil)
	_, err = client("").Tag(t.Context(), url+":none", "x")
	wantCode(t, err, "artifact-not-found")
	_, err = client("").Tag(t.Context(), url+":1.0.0", "no tag")
	wantCode(t, err, "tag-syntax")
	_, err = client("").List(t.Context(), r.OCI("none"), module.ListOptions{})
	wantCode(t, err, "artifact-not-found")
}

// A tag that can be no tag is passed over: the others are listed, with their details.
func TestListPassesOverWhatIsNoTag(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	push(t, r, "1.0.0", moduleFiles)
	r.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/tags/list") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name":"x","tags":["a\u001b[2J","../../x","","1.0.0","x?y=z","`+strings.Repeat("a", 200)+`"]}`)
		return true
	})
	tags, err := client("").List(t.Context(), r.OCI("mods/x"), module.ListOptions{Details: true})
	if err != nil || len(tags) != 1 || tags[0].Name != "1.0.0" || tags[0].Digest == "" {
		t.Errorf("%+v, %v", tags, err)
	}
}

// TestListWithABrokenTag: a tag whose manifest is missing, is another one, or cannot be given is listed without details and named; the others
// have theirs. What is wrong with the registry is told once, and nothing is listed.
func TestListWithABrokenTag(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	for _, tag := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		push(t, r, tag, moduleFiles)
	}
	for code, whole := range map[int]bool{http.StatusNotFound: false, http.StatusInternalServerError: false, http.StatusUnauthorized: true, http.StatusForbidden: true} {
		r.Fail(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/manifests/1.1.0") {
				return false
			}
			w.WriteHeader(code)
			return true
		})
		tags, err := client("").List(t.Context(), r.OCI("mods/x"), module.ListOptions{Details: true})
		if err == nil || whole != (tags == nil) || !whole && (len(diag.From(err, "")) != 1 || !strings.Contains(err.Error(), ":1.1.0")) {
			t.Errorf("%d: %+v, %v", code, tags, err)
		}
		for _, tag := range tags {
			if (tag.Digest == "") != (tag.Name == "1.1.0") {
				t.Errorf("%d: %+v", code, tag)
			}
		}
	}
	dir := t.TempDir()
	url := "oci-layout://" + filepath.ToSlash(dir)
	for _, tag := range []string{"1.0.0", "2.0.0"} {
		if _, err := client("").Push(t.Context(), url+":"+tag, moduleOf(t, tag, moduleFiles), module.PushOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := client("").List(t.Context(), url, module.ListOptions{Details: true})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	if err := os.Remove(filepath.Join(dir, "blobs", "sha256", strings.TrimPrefix(all[1].Digest, "sha256:"))); err != nil {
		t.Fatal(err)
	}
	if left, err := client("").List(t.Context(), url, module.ListOptions{Details: true}); err == nil || !strings.Contains(err.Error(), ":1.0.0") || len(left) != 2 || left[0] != all[0] || left[1].Digest != "" {
		t.Errorf("%+v, %v", left, err)
	}
}

// Damaged layouts and archives are said to be that; no link of theirs leads out of them.
func TestDamagedLayouts(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	pushed, err := client("").Push(t.Context(), "oci-layout://"+good+":1.0.0", moduleOf(t, "1.0.0", moduleFiles), module.PushOptions{})
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(good, "blobs", "sha256", pushed.Digest[7:])
	outside := filepath.Join(dir, "outside")
	if err := os.Rename(manifest, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, manifest); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if _, err := client("").Pull(t.Context(), "oci-layout://"+good+":1.0.0", out, module.PullOptions{}); err == nil {
		t.Error("a link out of the layout was followed")
	}
	if err := os.WriteFile(filepath.Join(dir, "x.tar"), []byte("no tar"), 0o600); err != nil {
		t.Fatal(err)
	}
	for url, code := range map[string]string{"oci-archive://" + dir + "/x.tar:1.0.0": "layout-unusable", "oci-archive://" + dir + "/none.tar:1.0.0": "artifact-not-found",
		"oci-layout://" + dir + "/none": "artifact-not-found", "oci-archive://" + good + ":1.0.0": "layout-unusable"} {
		_, err := client("").Pull(t.Context(), url, out, module.PullOptions{})
		wantCode(t, err, code)
	}
}
