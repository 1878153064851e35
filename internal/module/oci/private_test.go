package oci

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/internal/module"
)

// What is private is for its owner alone before anything is in it: a layout that could not be filled is, and one and an archive that were there.
func TestPrivateFromTheBeginning(t *testing.T) {
	dir := t.TempDir()
	a := moduleOf(t, "1.0.0", moduleFiles)
	opts := module.PushOptions{Tags: []string{"1.0.0"}, Private: true}
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm()
	}
	cannot := opts
	cannot.Tags = []string{"not a tag"}
	if _, err := client("").Push(t.Context(), "oci-layout://"+filepath.ToSlash(dir)+"/none", a, cannot); err == nil {
		t.Error("a tag that is none")
	}
	for _, name := range []string{"lay", "x.tar", "below/lay"} {
		url := "oci-layout://" + filepath.ToSlash(filepath.Join(dir, name))
		want := fs.FileMode(0o700)
		if filepath.Ext(name) == ".tar" {
			url, want = "oci-archive://"+filepath.ToSlash(filepath.Join(dir, name)), 0o600
		}
		for range 2 { // the second time it is there
			if _, err := client("").Push(t.Context(), url, a, opts); err != nil {
				t.Fatal(err)
			}
			if got := mode(name); got != want {
				t.Errorf("%s has mode %v", name, got)
			}
			if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	p, err := parsePlace("oci-archive://" + filepath.ToSlash(dir) + "/y.tar")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writeArchive(t.Context(), filepath.Join(dir, "src"), p.path, true); err != nil || mode("y.tar") != 0o600 {
		t.Errorf("%v, %v", err, mode("y.tar"))
	}
	if err := writeArchive(t.Context(), filepath.Join(dir, "src"), p.path, false); err != nil || mode("y.tar") != 0o644 {
		t.Errorf("%v, %v", err, mode("y.tar"))
	}
	if mode("below") != 0o755 {
		t.Errorf("what lies above has mode %v", mode("below"))
	}
}
