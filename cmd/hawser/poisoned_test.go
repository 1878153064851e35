package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/testregistry"
)

// TestPoisonedCacheIsNotLocked: what somebody put into the cache in place of pinned content, with an inventory that fits, is not what a run with --locked
// takes: it takes the content of the pinned digest, and without the registry it fails rather than take the other.
func TestPoisonedCacheIsNotLocked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	registry, kept := testregistry.Start(t, testregistry.Options{}), filepath.Join(b.dir, "cache")
	b.env = append(b.env, "HAWSER_CACHE_DIR="+kept)
	b.write("extra/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {from: the-registry}\n")
	b.write("shop.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: shop\n  instances:\n    app: {manifests: {url: \""+registry.OCI("extra")+"\", version: 1.0.0}, namespace: default}\n")
	b.want(0, "artifact", "push", registry.OCI("extra"), "-f", "extra", "-t", "1.0.0")
	b.want(0, "lock", "-f", "shop.yaml")
	build := func() result { return b.run("build", "-f", "shop.yaml", "--locked") }
	if r := build(); r.Code != 0 || !strings.Contains(r.Stdout, "the-registry") {
		t.Fatalf("nothing is poisoned yet: %s", r)
	}
	digest := ""
	for name := range walked(t, filepath.Join(kept, "trees", "sha256")) {
		digest, _, _ = strings.Cut(filepath.ToSlash(name), "/")
	}
	data, err := os.ReadFile(filepath.Join(b.dir, "hawser.lock"))
	if err != nil || digest == "" || !strings.Contains(string(data), "sha256:"+digest) {
		t.Fatalf("the tree %q of the cache is not what is locked (%v):\n%s", digest, err, data)
	}
	poison := func() {
		t.Helper()
		var inventory struct{ Note []byte }
		data, err := os.ReadFile(filepath.Join(kept, "trees", "sha256", digest, "inventory.json"))
		if err := errors.Join(err, json.Unmarshal(data, &inventory), os.RemoveAll(filepath.Join(kept, "trees"))); err != nil {
			t.Fatal(err)
		}
		if _, err := cache.Open(cache.Options{Dir: kept}).Tree(t.Context(), cache.Key{Digest: "sha256:" + digest}, nil, func(_ context.Context, to string) ([]byte, error) {
			evil := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {from: somebody-else}\n"
			return inventory.Note, errors.Join(os.MkdirAll(to, 0o755), os.WriteFile(filepath.Join(to, "a.yaml"), []byte(evil), 0o644))
		}); err != nil {
			t.Fatal(err)
		}
		evil := false
		for _, text := range walked(t, filepath.Join(kept, "trees")) {
			evil = evil || strings.Contains(text, "somebody-else")
		}
		if !evil {
			t.Fatal("the cache is not poisoned")
		}
	}
	poison()
	if r := build(); r.Code != 0 || !strings.Contains(r.Stdout, "the-registry") || strings.Contains(r.Stdout, "somebody-else") {
		t.Errorf("a poisoned cache: %s", r)
	}
	poison()
	for name := range walked(t, filepath.Join(kept, "blobs")) { // the layers are verified by themselves
		if err := os.WriteFile(filepath.Join(kept, "blobs", name), []byte("somebody-else"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	registry.Stop()
	if r := build(); r.Code == 0 || strings.Contains(r.Stdout, "somebody-else") || strings.Contains(r.Stdout, "kind:") {
		t.Errorf("a poisoned cache without the registry: %s", r)
	}
}

// walked are the files below a directory, by their path in it.
func walked(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
