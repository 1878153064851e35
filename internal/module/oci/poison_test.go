package oci

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/cache"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// TestPoisonedCache: a tree that somebody put into the cache, with an inventory that fits and the right manifest, is not
// taken for the pinned content, also without the registry.
func TestPoisonedCache(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	digest := push(t, r, "1.4.2", moduleFiles)
	dir := t.TempDir()
	ref := module.Reference{URL: r.OCI("mods/x"), Version: "1.4.2", Digest: digest, Kept: true}
	got, err := client(dir).Fetch(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(moduleFiles, read(t, got.Root, got.Files)); d != "" {
		t.Error(d)
	}
	at := filepath.Join(dir, "trees", "sha256", digest[7:])
	var inventory struct{ Note []byte }
	data, err := os.ReadFile(filepath.Join(at, "inventory.json"))
	if err := errors.Join(err, json.Unmarshal(data, &inventory), os.RemoveAll(filepath.Join(dir, "trees"))); err != nil {
		t.Fatal(err)
	}
	r.Stop()
	evil := func(_ context.Context, to string) ([]byte, error) {
		return inventory.Note, errors.Join(os.MkdirAll(to, 0o755), os.WriteFile(filepath.Join(to, "timoni.cue"), []byte("evil"), 0o644))
	}
	if _, err := cache.Open(cache.Options{Dir: dir}).Tree(t.Context(), cache.Key{Digest: digest}, nil, evil); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(at, "files", "timoni.cue")); err != nil || string(data) != "evil" {
		t.Fatalf("%q %v", data, err)
	}
	// the manifest is not kept as a blob: without the registry there is nothing, rather than what is evil
	if again, err := client(dir).Fetch(t.Context(), ref); err == nil {
		if d := cmp.Diff(moduleFiles, read(t, again.Root, again.Files)); d != "" {
			t.Error(d)
		}
	}
	if data, err := os.ReadFile(filepath.Join(at, "files", "timoni.cue")); err == nil && string(data) == "evil" {
		t.Error("the evil tree is still there")
	}
}
