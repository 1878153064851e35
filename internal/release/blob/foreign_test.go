package blob

import (
	"encoding/json"
	"errors"
	"testing"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
)

// TestBlobsOfOthers: a head that names blobs of others is damaged: they are neither read nor deleted for it.
func TestBlobsOfOthers(t *testing.T) {
	r := storetest.Record(t, 1)
	for _, name := range []string{"uid-1/other/heads/000000000001", "uid-2/" + r.Owner + "/sets/r1", "uid-1/" + r.Owner + "/sets/../../other/sets/r1",
		"uid-1/" + r.Owner + "/kept/000000000001", "", "uid-1/" + r.Owner + "/sets/"} {
		for field, h := range map[string]head{"sweep": {V: headV, Sweep: []string{name}}, "kept": {V: headV, Kept: []revision{{Revision: 1, Blob: name}}}} {
			s := open(t, openDir(t, t.TempDir()))
			_, err := s.Put(t.Context(), r, storetest.Objects(2, "x"), "")
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			j, tip, _, err := s.now(t.Context(), r.Owner)
			if err != nil {
				t.Fatal(err)
			}
			if tip, err = j.add(t.Context(), tip, body); err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Current(t.Context(), r.Owner); !errors.Is(err, release.ErrDamaged) {
				t.Errorf("%s %q: %v", field, name, err)
			}
			if _, err := s.Put(t.Context(), r, nil, tip.handle()); !errors.Is(err, release.ErrDamaged) {
				t.Errorf("%s %q: written: %v", field, name, err)
			}
			if err := s.Delete(t.Context(), r.Owner, tip.handle()); !errors.Is(err, release.ErrDamaged) {
				t.Errorf("%s %q: deleted: %v", field, name, err)
			}
		}
	}
}
