package toolchain

import (
	"os"
	"path/filepath"
	"testing"

	"hawser.dev/hawser/internal/cuegen"
)

// TestVendorStaysInTheModule: generated files are written through no link that leads out of the module.
func TestVendorStaysInTheModule(t *testing.T) {
	for _, link := range []string{"cue.mod", "cue.mod/gen", "cue.mod/gen/x.example"} {
		dir, outside := t.TempDir(), t.TempDir()
		at := filepath.Join(dir, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, at); err != nil {
			t.Fatal(err)
		}
		err := new(VendorResult).write(dir, []cuegen.File{{Path: "x.example/foo/v1/types_gen.cue", Data: []byte("package v1\n")}})
		if left, lerr := os.ReadDir(outside); err == nil || lerr != nil || len(left) > 0 {
			t.Errorf("%s: %v %v %v", link, err, left, lerr)
		}
	}
	if err := new(VendorResult).write(t.TempDir(), []cuegen.File{{Path: "x.example/foo/v1/types_gen.cue", Data: []byte("package v1\n")}}); err != nil {
		t.Error(err)
	}
}
