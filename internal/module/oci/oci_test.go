package oci

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/httpclient"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// client is a new client, as a new process would have it, with a cache in dir.
func client(dir string) *Client {
	return New(Options{Cache: cache.Open(cache.Options{Dir: dir}),
		HTTP: httpclient.Options{Stall: 10 * time.Second, Wait: time.Millisecond, Retries: 2}})
}

// write makes a directory of files.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// read is every file of a content.
func read(t testing.TB, root string, files []string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(data)
	}
	return out
}

var moduleFiles = map[string]string{
	"cue.mod/module.cue": "module: \"timoni.sh/x\"\n", "cue.mod/gen/k8s.io/api/v1/x.cue": "package v1\n",
	"timoni.cue": "package main\n", "values.cue": "package main\n", "templates/config.cue": "package templates\n",
}

// moduleOf is a module as Timoni lays it out: what it vendors in a layer of its own.
func moduleOf(t testing.TB, version string, files map[string]string) module.Artifact {
	root := write(t, files)
	var vendored, own []string
	for name := range files {
		if strings.HasPrefix(name, "cue.mod/") {
			vendored = append(vendored, name)
		} else {
			own = append(own, name)
		}
	}
	layer := func(kind string, files []string) module.Layer {
		return module.Layer{MediaType: module.ModuleContentType, Annotations: map[string]string{module.ContentTypeAnnotation: kind}, Root: root, Files: files}
	}
	return module.Artifact{ConfigType: module.ModuleConfigType, Annotations: map[string]string{module.VersionAnnotation: version, module.CreatedAnnotation: "2026-09-01T12:00:00Z"},
		Layers: []module.Layer{layer(module.ContentVendor, vendored), layer(module.ContentModule, own)}}
}

// push stores a module under its version and returns its digest.
func push(t testing.TB, r *testregistry.Registry, version string, files map[string]string) string {
	t.Helper()
	pushed, err := client("").Push(t.Context(), r.OCI("mods/x"), moduleOf(t, version, files), module.PushOptions{Immutable: []string{version}})
	if err != nil {
		t.Fatal(err)
	}
	return pushed.Digest
}

// wantCode is that an error is one finding with this code, which says what to do and contains the texts.
func wantCode(t testing.TB, err error, code string, texts ...string) {
	t.Helper()
	found := diag.From(err, "not-a-finding")
	if len(found) != 1 || found[0].Code != code {
		t.Fatalf("error %v, want one finding %s", err, code)
	}
	for _, text := range texts {
		if !strings.Contains(found[0].String(), text) {
			t.Errorf("%q does not say %q", found[0], text)
		}
	}
	if found[0].Fix == "" && code != "not-an-artifact" && code != "registry-error" {
		t.Errorf("%q does not say what to do", found[0])
	}
}

func TestFetchModule(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.4.2", moduleFiles)
	dir := t.TempDir()
	ref := module.Reference{URL: r.OCI("mods/x"), Version: "1.4.2"}
	got, err := client(dir).Fetch(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest != digest || got.Version != "1.4.2" || got.Annotations[module.VersionAnnotation] != "1.4.2" {
		t.Errorf("content %+v, want digest %s", got, digest)
	}
	if d := cmp.Diff(moduleFiles, read(t, got.Root, got.Files)); d != "" {
		t.Error(d)
	}
	if !slices.IsSorted(got.Files) {
		t.Errorf("files are not sorted: %v", got.Files)
	}

	// Another process with the same cache asks for the digest alone: no request at all, also without a registry.
	r.Forget()
	r.Stop()
	ref.Digest = digest
	again, err := client(dir).Fetch(t.Context(), ref)
	if err != nil || again.Version != "1.4.2" {
		t.Errorf("from the cache: %+v, %v", again, err)
	}
	if asked := r.Requests(); len(asked) > 0 {
		t.Errorf("the registry was asked: %v", asked)
	}
	// Without the digest the registry is needed.
	ref.Digest = ""
	_, err = client(dir).Fetch(t.Context(), ref)
	wantCode(t, err, "registry-unreachable", r.Host, "pinned by digest")
}

// What versions mean; every request is one for tags or for a manifest.
func TestResolve(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digests := map[string]string{}
	for i, tag := range []string{"1.0.0", "1.4.0", "1.10.0", "2.0.0-rc.1", "v3.0.0", "latest", "edge", "1.4.0_build.5"} {
		files := map[string]string{"timoni.cue": strings.Repeat("//\n", i)}
		pushed, err := client("").Push(t.Context(), r.OCI("mods/x")+":"+tag, moduleOf(t, tag, files), module.PushOptions{})
		if err != nil {
			t.Fatal(err)
		}
		digests[tag] = pushed.Digest
	}
	for version, want := range map[string]string{
		"1.0.0": "1.0.0", "v1.0.0": "1.0.0", "3.0.0": "v3.0.0", "1.4.0+build.5": "1.4.0_build.5", "latest": "latest", "edge": "edge",
		"1.x": "1.10.0", "1": "1.10.0", "1.4": "1.4.0", "^1.0": "1.10.0", "~1.4": "1.4.0", ">=1 <1.10": "1.4.0", "": "v3.0.0", "*": "v3.0.0",
		">=2.0.0-0 <2.0.0": "2.0.0-rc.1", "2.0.0-rc.1": "2.0.0-rc.1",
	} {
		got, err := client("").Resolve(t.Context(), module.Reference{URL: r.OCI("mods/x"), Version: version})
		if err != nil || got.Digest != digests[want] || got.Version != strings.ReplaceAll(want, "_", "+") {
			t.Errorf("%q means %+v (%v), want %s", version, got, err, want)
		}
	}
	for version, code := range map[string]string{"9.9.9": "version-not-found", "2.x": "version-not-found", "gone": "version-not-found", "not a version": "version-syntax"} {
		_, err := client("").Resolve(t.Context(), module.Reference{URL: r.OCI("mods/x"), Version: version})
		wantCode(t, err, code)
		if code == "version-not-found" {
			wantCode(t, err, code, "it has v3.0.0, 2.0.0-rc.1, 1.10.0, 1.4.0")
		}
	}
	_, err := client("").Resolve(t.Context(), module.Reference{URL: r.OCI("mods/y"), Version: "1.x"})
	wantCode(t, err, "artifact-not-found", "mods/y")
}

func TestReferences(t *testing.T) {
	for url, code := range map[string]string{
		"https://x/y": "module-url", "oci://": "module-url", "oci://host": "module-url", "oci://host/UPPER": "module-url",
		"oci://host/x:1.0.0": "module-url", "oci://host/x@sha256:" + strings.Repeat("a", 64): "module-url",
		"oci://user:secret@host/x": "module-url", "oci-layout://dir": "module-url",
	} {
		for _, digest := range []string{"", "sha256:" + strings.Repeat("b", 64)} {
			_, err := client("").Fetch(t.Context(), module.Reference{URL: url, Version: "1", Digest: digest})
			wantCode(t, err, code)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: the error has the password: %v", url, err)
			}
		}
	}
	_, err := client("").Fetch(t.Context(), module.Reference{URL: "oci://host/x", Digest: "sha256:abc"})
	wantCode(t, err, "digest-syntax")
}

// A process means the same by a tag from its first question on, whatever happens to the tag meanwhile.
func TestTagMoved(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	first := push(t, r, "1.0.0", moduleFiles)
	second := push(t, r, "1.0.1", map[string]string{"timoni.cue": "other"})
	dir, ref := t.TempDir(), module.Reference{URL: r.OCI("mods/x"), Version: "1.0.0"}
	warm := client(dir)
	if got, err := warm.Fetch(t.Context(), ref); err != nil || got.Digest != first {
		t.Fatalf("%+v %v", got, err)
	}
	r.MoveTag(t, "mods/x", "1.0.0", second)
	if got, err := warm.Fetch(t.Context(), ref); err != nil || got.Digest != first {
		t.Errorf("the same process: %s %v, want %s", got.Digest, err, first)
	}
	if got, err := client(dir).Resolve(t.Context(), ref); err != nil || got.Digest != second {
		t.Errorf("another process: %s %v, want %s", got.Digest, err, second)
	}
	ref.Digest = first
	if got, err := client(dir).Fetch(t.Context(), ref); err != nil || got.Digest != first {
		t.Errorf("pinned, with a warm cache: %s %v", got.Digest, err)
	}
	_, err := client(t.TempDir()).Fetch(t.Context(), ref)
	wantCode(t, err, "digest-mismatch", "1.0.0", first, second)
	ref.Kept = true // as a lock file has it
	if got, err := client(t.TempDir()).Fetch(t.Context(), ref); err != nil || got.Digest != first || got.Version != "1.0.0" {
		t.Errorf("kept, with a cold cache: %+v %v", got, err)
	}
	ref.Kept = false
	for _, version := range []string{"", "latest", "1.x"} { // a pin beside what is meant to move
		ref.Version = version
		if got, err := client(t.TempDir()).Fetch(t.Context(), ref); err != nil || got.Digest != first || got.Version != "1.0.0" {
			t.Errorf("pinned beside %q: %+v %v", version, got, err)
		}
	}
}

func hasCode(err error, code string) bool {
	found := diag.From(err, "not-a-finding")
	return len(found) == 1 && found[0].Code == code
}

// dialTo connects to one address, whatever is asked for.
func dialTo(address string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}
