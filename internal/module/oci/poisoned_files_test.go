package oci

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/testregistry"
)

// pinned is what is pinned, and what it has.
type pinned struct {
	ref  module.Reference
	want map[string]string
}

// pinnedOnes are a module, a chart and an artifact of Flux in a registry.
func pinnedOnes(t *testing.T, r *testregistry.Registry) map[string]pinned {
	t.Helper()
	chart := map[string]string{"app/Chart.yaml": "name: app\nversion: 1.2.3\n", "app/templates/x.yaml": "a: 1\n"}
	manifests := map[string]string{"deploy.yaml": "kind: Deployment\n", "sub/kustomization.yaml": "resources: []\n"}
	all := map[string]pinned{"module": {module.Reference{URL: r.OCI("mods/x"), Version: "1.0.0", Digest: push(t, r, "1.0.0", moduleFiles), Kept: true}, moduleFiles}}
	for what, c := range map[string]struct {
		config string
		layer  v1.Layer
		want   map[string]string
	}{
		"flux":  {module.FluxConfigType, layerOf(t, module.FluxContentType, manifests), manifests},
		"chart": {module.ChartConfigType, layerOf(t, module.ChartContentType, chart), map[string]string{"Chart.yaml": chart["app/Chart.yaml"], "templates/x.yaml": "a: 1\n"}},
	} {
		ref, err := name.ParseReference(r.Host + "/theirs/" + what + ":1.2.3")
		if err != nil {
			t.Fatal(err)
		}
		image := theirImage(t, types.MediaType(c.config), map[string]string{"org.opencontainers.image.version": "1.2.3"}, []v1.Layer{c.layer}, nil)
		if err := remote.Write(ref, image, remote.WithContext(t.Context())); err != nil {
			t.Fatal(err)
		}
		digest, err := image.Digest()
		if err != nil {
			t.Fatal(err)
		}
		all[what] = pinned{module.Reference{URL: r.OCI("theirs/" + what), Version: "1.2.3", Digest: digest.String(), Kept: true}, c.want}
	}
	return all
}

// poisonAll writes into every file of a directory and says how many there are.
func poisonAll(t *testing.T, dir string, poison func([]byte) []byte) (files int) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) == 0 {
			return err
		}
		files++
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
		return os.WriteFile(path, poison(data), 0o600)
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPoisonedFiles: whatever is written into any file of the cache, of a module, a chart or an artifact of Flux, what is pinned is what its
// digest says, with the registry and, where anything is given at all, without it.
func TestPoisonedFiles(t *testing.T) {
	r := testregistry.Start(t, testregistry.Options{})
	warm, all := t.TempDir(), pinnedOnes(t, r)
	for what, p := range all {
		got, err := client(warm).Fetch(t.Context(), p.ref)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if d := cmp.Diff(p.want, read(t, got.Root, got.Files)); d != "" {
			t.Fatalf("%s: %s", what, d)
		}
	}
	poisons := map[string]func([]byte) []byte{
		"other":  func([]byte) []byte { return []byte("evil") },
		"longer": func(data []byte) []byte { return append(bytes.Clone(data), "\nevil: true\n"...) },
		"a bit":  func(data []byte) []byte { data = bytes.Clone(data); data[len(data)/2] ^= 1; return data },
		"none":   func([]byte) []byte { return nil },
	}
	given := 0
	for _, there := range []bool{true, false} {
		if !there {
			r.Stop()
		}
		for how, poison := range poisons {
			dir := filepath.Join(t.TempDir(), fmt.Sprint(there))
			if err := os.CopyFS(dir, os.DirFS(warm)); err != nil {
				t.Fatal(err)
			}
			files := poisonAll(t, dir, poison)
			if files < 6 {
				t.Fatalf("%d files are in the cache", files)
			}
			for what, p := range all {
				got, err := client(dir).Fetch(t.Context(), p.ref)
				if err != nil {
					if there {
						t.Errorf("%s, %s: %v", what, how, err)
					}
					continue
				}
				given++
				if d := cmp.Diff(p.want, read(t, got.Root, got.Files)); d != "" {
					t.Errorf("%s, %s, with the registry: %v: %s", what, how, there, d)
				}
			}
		}
	}
	if given < len(all)*len(poisons) {
		t.Errorf("%d contents were given", given)
	}
}
