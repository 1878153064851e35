package toolchain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/cuegen"
)

// TestVendorStaysInTheModule: generated files are written through no link below the module, wherever that leads to, and nothing is then.
func TestVendorStaysInTheModule(t *testing.T) {
	files := []cuegen.File{{Path: "a.example/foo/v1/types_gen.cue", Data: []byte("package v1\n")}, {Path: "x.example/foo/v1/types_gen.cue", Data: []byte("package v1\n")}}
	for _, link := range []string{"cue.mod", "cue.mod/gen", "cue.mod/gen/x.example", "cue.mod/gen/x.example/foo/v1", "cue.mod/gen/x.example/foo/v1/types_gen.cue"} {
		for _, inside := range []bool{false, true} {
			dir, to := t.TempDir(), t.TempDir()
			if inside {
				to = filepath.Join(dir, ".git", "hooks")
			}
			at := filepath.Join(dir, filepath.FromSlash(link))
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.MkdirAll(to, 0o755)); err != nil {
				t.Fatal(err)
			}
			if to, err := filepath.Rel(filepath.Dir(at), to); err != nil || os.Symlink(to, at) != nil {
				t.Fatal(err)
			}
			err := new(VendorResult).write(dir, files)
			left, lerr := os.ReadDir(to)
			if err == nil || !strings.Contains(err.Error(), at+" is a link") || lerr != nil || len(left) > 0 {
				t.Errorf("%s: %v %v %v", link, err, left, lerr)
			}
			if _, err := os.Lstat(filepath.Join(dir, "cue.mod", "gen", "a.example")); err == nil {
				t.Errorf("%s: something was written before it was refused", link)
			}
		}
	}
	if err := new(VendorResult).write(t.TempDir(), files); err != nil {
		t.Error(err)
	}
}
