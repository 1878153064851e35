package release_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
)

func TestNextRevision(t *testing.T) {
	for current, want := range map[int]int{(*release.Record)(nil).At(): 1, 7: 8, release.MaxNumber: release.MaxNumber} {
		if got := release.NextRevision(current); got != want {
			t.Errorf("after %d comes %d, want %d", current, got, want)
		}
	}
}

func TestPhaseOpen(t *testing.T) {
	for phase, want := range map[release.Phase]bool{release.Applying: true, release.Deleting: true, release.Succeeded: false, release.Failed: false} {
		if phase.Open() != want {
			t.Errorf("%s is open: %t", phase, !want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		n    int
		want []int
	}{{0, []int{0}}, {9, []int{9}}, {10, []int{10}}, {11, []int{10, 1}}, {30, []int{10, 10, 10}}} {
		data := bytes.Repeat([]byte{7}, c.n)
		var got []int
		for _, part := range release.Split(data, 10) {
			got = append(got, len(part))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%d bytes: %s", c.n, diff)
		}
		if joined := bytes.Join(release.Split(data, 10), nil); !bytes.Equal(joined, data) {
			t.Errorf("%d bytes do not come back", c.n)
		}
	}
}

// A record that an earlier version wrote with a token in the address of a source is read without it.
func TestSourcesAreReadWithoutTokens(t *testing.T) {
	r := storetest.Record(t, 3)
	r.Sources = map[string]string{"api": "manifests https://h/x?token=UrlCanary77 1.0.0", "web": "helm web 2.0.0 (https://h/charts?sig=UrlCanary78)"}
	data, err := release.EncodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := release.DecodeRecord(data)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"api": "manifests https://h/x?token=*** 1.0.0", "web": "helm web 2.0.0 (https://h/charts?sig=***)"}
	if diff := cmp.Diff(want, got.Sources); diff != "" {
		t.Error(diff)
	}
}

func TestRevisionRoundTrip(t *testing.T) {
	r, objects := storetest.Record(t, 3), storetest.Objects(3, "x")
	r.V = 0 // is written as the current one
	data, err := release.EncodeRevision(r, objects)
	if err != nil {
		t.Fatal(err)
	}
	gotR, gotObjects, err := release.DecodeRevision(data, release.SetDigest(objects))
	if err != nil {
		t.Fatal(err)
	}
	r.V = release.V
	if diff := cmp.Diff(r, *gotR) + cmp.Diff(objects, gotObjects); diff != "" {
		t.Error(diff)
	}
	if release.SetDigest(objects) == release.SetDigest(objects[:2]) {
		t.Error("the digest does not see a missing object")
	}
	if _, _, err := release.DecodeRevision(data, release.SetDigest(objects[:2])); !errors.Is(err, release.ErrDamaged) {
		t.Errorf("objects that are not those of the digest are believed: %v", err)
	}
}

func TestDecodeNewer(t *testing.T) {
	r := storetest.Record(t, 1)
	r.V, r.Version = release.V+1, "9.1.0"
	record, err := release.EncodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	revision, err := release.EncodeRevision(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, errRecord := release.DecodeRecord(record)
	_, _, errRevision := release.DecodeRevision(revision, "")
	for _, err := range []error{errRecord, errRevision} {
		if newer, ok := errors.AsType[*release.NewerError](err); !ok || newer.V != release.V+1 || newer.Hawser != "9.1.0" {
			t.Errorf("error %v, want one that names the newer Hawser", err)
		}
	}
}

// Whatever is in a cluster's Secrets, decoding gives a value or an error.
func FuzzDecode(f *testing.F) {
	r := storetest.Record(f, 1)
	record, err := release.EncodeRecord(r)
	if err != nil {
		f.Fatal(err)
	}
	revision, err := release.EncodeRevision(r, storetest.Objects(2, "x"))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{record, revision, nil, record[:len(record)/2], {0x28, 0xb5, 0x2f, 0xfd}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := release.DecodeRecord(data); (r == nil) != (err != nil) {
			t.Errorf("record %v, error %v", r, err)
		}
		if r, _, err := release.DecodeRevision(data, release.SetDigest(nil)); (r == nil) != (err != nil) {
			t.Errorf("revision %v, error %v", r, err)
		}
	})
}

// TestChecksAreRecorded: health checks that come from a record are known for it, whichever way the record is read, and are the same as those
// of the module that the record was made of.
func TestChecksAreRecorded(t *testing.T) {
	own := map[string][]health.Check{"api": {{Name: "up", Group: "x", Kind: "Y", Source: "current: true"}}}
	r := release.Record{Bundle: "shop", Owner: "o", Revision: 1, Phase: release.Succeeded, Checks: own}
	read := map[string]*release.Record{}
	data, err := release.EncodeRecord(r)
	if err == nil {
		read["current"], err = release.DecodeRecord(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	if data, err = release.EncodeRevision(r, nil); err == nil {
		read["kept"], _, err = release.DecodeRevision(data, release.SetDigest(nil))
	}
	if err != nil {
		t.Fatal(err)
	}
	if read["kept, without objects"], err = release.DecodeRevisionRecord(data, "o", 1, release.Succeeded); err != nil {
		t.Fatal(err)
	}
	for way, got := range read {
		if checks := got.Checks["api"]; len(checks) != 1 || !checks[0].Recorded || own["api"][0].Recorded || !health.Same(checks, own["api"]) {
			t.Errorf("%s: %+v", way, checks)
		}
	}
}
