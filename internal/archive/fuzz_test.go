package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Whatever the bytes are, extraction ends, stays in its directory, makes plain files alone, and leaves nothing of what
// it refuses.
func FuzzExtract(f *testing.F) {
	good := makeTar(f, dir("d"), file("d/a.yaml", "a: 1\n"), symlink("l", "d/a.yaml"), hardlink("h", "l"))
	f.Add(good)
	f.Add(zip(f, good))
	f.Add(good[:700])
	f.Add(makeTar(f, file("../x", "x"), symlink("y", "/etc/passwd")))
	f.Add(makeTar(f, item{name: "p", kind: '0', content: "1", pax: map[string]string{"HAWSER.x": "1"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		parent := t.TempDir()
		limits := Limits{Entries: 100, Bytes: 1 << 20, FileBytes: 1 << 19}
		err := Extract(t.Context(), bytes.NewReader(data), filepath.Join(parent, "out"), limits)
		left, readErr := os.ReadDir(parent)
		if readErr != nil {
			t.Fatal(readErr)
		}
		switch {
		case err != nil && len(left) != 0:
			t.Errorf("%v left %v behind", err, left)
		case err == nil && (len(left) != 1 || left[0].Name() != "out"):
			t.Errorf("made %v", left)
		case err == nil:
			files := tree(t, filepath.Join(parent, "out"))
			sums, err := Sums(t.Context(), []Source{func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}, limits)
			if err != nil || len(sums) != len(files) {
				t.Fatalf("sums of %d files are %d: %v", len(files), len(sums), err)
			}
			for _, f := range sums {
				sum := sha256.Sum256([]byte(files[f.Path]))
				if f.SHA256 != hex.EncodeToString(sum[:]) || f.Size != int64(len(files[f.Path])) {
					t.Errorf("%s: %+v", f.Path, f)
				}
			}
		}
	})
}
