package engine

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/render"
	"hawser.dev/hawser/internal/render/plain"
)

// slow is a renderer during whose work something else happens.
type slow struct {
	render.Renderer
	meanwhile func()
}

func (s slow) Key(ctx context.Context, req render.Request) (string, error) {
	s.meanwhile()
	return s.Renderer.Key(ctx, req)
}

// What an apply learns while sources are being pinned stays in the file, and so does what another lock pins.
func TestLockKeepsWhatOthersWrote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bundle, path := filepath.Join(dir, "bundle.yaml"), filepath.Join(dir, lockfile.Name)
	for name, text := range map[string]string{"app.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"bundle.yaml": "bundle:\n  apiVersion: v1alpha1\n  name: shop\n  instances:\n    app:\n      namespace: shop\n      manifests: {paths: [app.yaml]}\n",
		lockfile.Name: `{"v":3,"sources":{"file://./old":{"digest":"sha256:1"}},"bundles":{"shop":["file://./old"]}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	theirs := lockfile.Pin{Version: "1.4.2", Digest: "sha256:2"}
	news := lockfile.News{Fleet: "fleet", UIDs: map[string]string{"eu": "u1"}, Servers: map[string]string{}, Lineages: map[string]string{"shop": "l1"}}
	e := &Engine{Renderers: map[string]render.Renderer{"manifests": slow{plain.New(plain.Options{}), func() {
		if err := lockfile.Update(path, func(f lockfile.File) bool {
			f.Pin(map[string]lockfile.Pin{"oci://r/web 1.x": theirs}, nil)
			return f.Learn(news)
		}); err != nil {
			t.Error(err)
		}
	}}}}
	out, err := e.Lock(t.Context(), Request{Input: filesOf(dir, filepath.Base(bundle))})
	if err != nil {
		t.Fatal(err)
	}
	got, err := lockfile.Read(path)
	if err != nil || got.Lineages["shop"] != "l1" || got.UID("fleet", "eu") != "u1" || got.Sources["oci://r/web 1.x"] != theirs {
		t.Errorf("what others wrote is lost: %+v, %v", got, err)
	}
	if _, kept := got.Sources["file://./old"]; kept || len(out.Sources) != 2 || !out.Sources[1].Dropped || len(got.Sources) != 2 {
		t.Errorf("pinned: %+v, reported %+v", got.Sources, out.Sources)
	}
}

// lockIn runs Lock on a bundle file, with the pins of instances to be forgotten.
func lockIn(t *testing.T, dir, file string, upgrade ...string) *fleetplan.LockReport {
	t.Helper()
	e := &Engine{Renderers: map[string]render.Renderer{"manifests": plain.New(plain.Options{})}}
	out, err := e.Lock(t.Context(), Request{Input: filesOf(dir, file), RunOptions: RunOptions{Upgrade: upgrade}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Bundles of files that lie in one directory have one hawser.lock, and each keeps its pins whoever locks.
func TestLockKeepsPinsOfBundlesBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bundle := func(name string, paths ...string) {
		t.Helper()
		text := "bundle:\n  apiVersion: v1alpha1\n  name: " + name + "\n  instances:\n"
		for _, p := range paths {
			put(p+".yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+p+"}\n")
			text += "    " + p + ":\n      namespace: shop\n      manifests: {paths: [" + p + ".yaml]}\n"
		}
		put(name+".bundle.yaml", text)
	}
	pinned := func(want ...string) {
		t.Helper()
		f, err := lockfile.Read(filepath.Join(dir, lockfile.Name))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(f.Sources)); !slices.Equal(got, want) {
			t.Errorf("pinned are %q, want %q", got, want)
		}
	}
	bundle("a", "one", "both")
	bundle("b", "two", "both")
	lockIn(t, dir, "a.bundle.yaml")
	if out := lockIn(t, dir, "b.bundle.yaml"); len(out.Sources) != 2 {
		t.Errorf("of b: %+v", out.Sources)
	}
	pinned("manifests both.yaml", "manifests one.yaml", "manifests two.yaml")
	lockIn(t, dir, "a.bundle.yaml", "one")
	pinned("manifests both.yaml", "manifests one.yaml", "manifests two.yaml")

	bundle("a", "other") // what b has too stays, what nobody has goes
	if out := lockIn(t, dir, "a.bundle.yaml"); len(out.Sources) != 2 || !out.Sources[1].Dropped || out.Sources[1].Source != "manifests one.yaml" {
		t.Errorf("of a: %+v", out.Sources)
	}
	pinned("manifests both.yaml", "manifests other.yaml", "manifests two.yaml")
}

// TestLockNeedsNoFacts: sources that need no fact of a cluster are pinned without one.
func TestLockNeedsNoFacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n",
		"bundle.yaml": "bundle:\n  apiVersion: v1alpha1\n  name: b\n  instances:\n    m:\n      namespace: {$cluster: labels.team}\n      manifests: {paths: [m.yaml]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := lockIn(t, dir, "bundle.yaml"); len(out.Sources) != 1 || out.Sources[0].Digest == "" {
		t.Errorf("%+v", out)
	}
}
