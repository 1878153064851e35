package blob

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
)

// seen is what a store says of a bundle: its current record and that one's objects, or that it cannot be told.
type seen struct {
	record  *release.Record
	objects []object.Object
	err     error
}

func look(t *testing.T, b Bucket, owner string) (out seen) {
	s := open(t, b)
	if out.record, _, out.err = s.Current(t.Context(), owner); out.err == nil && out.record != nil {
		out.objects, out.err = s.Objects(t.Context(), *out.record)
	}
	return out
}

// TestEditedBlobs: whatever a writer of the bucket does to one blob (a bit, an end, nothing left, any other blob of any bundle in its
// place, one that was there before), a bundle is what was written of it, at some time, or an error: nothing is made and nothing is mixed.
func TestEditedBlobs(t *testing.T) {
	at := t.TempDir()
	dir := openDir(t, at)
	s := open(t, dir)
	written := map[string][]seen{}
	for _, name := range []string{"one", "two"} {
		h := release.RecordVersion("")
		for revision := 1; revision <= 2; revision++ {
			r := storetest.Record(t, revision)
			r.Owner = strings.Replace(r.Owner, r.Owner[len(r.Owner)-3:], name, 1)
			var err error
			if h, err = s.Put(t.Context(), r, storetest.Objects(revision, name), h); err != nil {
				t.Fatal(err)
			}
			written[r.Owner] = append(written[r.Owner], look(t, dir, r.Owner))
		}
	}
	blobs := map[string][]byte{}
	if err := filepath.WalkDir(at, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		blobs[path], err = os.ReadFile(path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(blobs) < 6 || len(written) != 2 {
		t.Fatalf("%d blobs of %d bundles", len(blobs), len(written))
	}
	tried, refused := 0, 0
	try := func(path, what string, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for owner, all := range written {
			got := look(t, dir, owner)
			tried++
			if got.err != nil {
				refused++
				continue
			}
			same := false
			for _, was := range all {
				same = same || cmp.Equal(was.record, got.record) && cmp.Equal(was.objects, got.objects)
			}
			if !same {
				t.Errorf("%s of %s: %s became %+v with %d objects", what, path, owner, got.record, len(got.objects))
			}
		}
		if err := os.WriteFile(path, blobs[path], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, data := range blobs {
		for _, place := range []int{0, 1, len(data) / 2, len(data) - 1} {
			if len(data) == 0 {
				continue
			}
			edited := bytes.Clone(data)
			edited[place] ^= 1
			try(path, "a bit", edited)
		}
		try(path, "nothing", nil)
		try(path, "the end", append(bytes.Clone(data), 0))
		try(path, "half", data[:len(data)/2])
		for other, theirs := range blobs {
			if other != path {
				try(path, filepath.Base(other)+" in the place", theirs)
			}
		}
	}
	if refused < tried/4 {
		t.Errorf("%d of %d were refused: the blobs are not read", refused, tried)
	}
}

// TestReadingMakesNoDirectory: who reads writes nothing, wherever a fleet's file says that its records are: a plan of somebody's change
// to that file makes nothing on the machine that plans it.
func TestReadingMakesNoDirectory(t *testing.T) {
	at := filepath.Join(t.TempDir(), "far", "away")
	dir := openDir(t, at)
	s := open(t, dir)
	owner := storetest.Record(t, 1).Owner
	if r, _, err := s.Current(t.Context(), owner); r != nil || err != nil {
		t.Errorf("%+v %v", r, err)
	}
	if err := s.Bundles(t.Context(), func(r release.Record) error { t.Errorf("%+v", r); return nil }); err != nil {
		t.Error(err)
	}
	if held, err := s.Holder(t.Context(), owner); held != nil || err != nil {
		t.Errorf("%+v %v", held, err)
	}
	if _, err := os.Stat(filepath.Dir(at)); err == nil {
		t.Error("it was made")
	}
	if _, err := s.Put(t.Context(), storetest.Record(t, 1), storetest.Objects(1, "x"), ""); err != nil {
		t.Error(err)
	}
	if r, _, err := open(t, openDir(t, at)).Current(t.Context(), owner); r == nil || err != nil {
		t.Errorf("written: %+v %v", r, err)
	}
}
