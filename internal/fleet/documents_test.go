package fleet

import (
	"crypto/sha512"
	"encoding/hex"
	"strings"
	"testing"
)

// A document comes back as it was; one that is not there, damaged, too large or another one is an error.
func TestSnapshotDocuments(t *testing.T) {
	hash := func(data []byte) string {
		sum := sha512.Sum512(data)
		return hex.EncodeToString(sum[:])
	}
	var s Snapshot
	text := []byte(`{"openapi": "3.0.0"}`)
	large := []byte(strings.Repeat(" ", maxDocument+1))
	for _, data := range [][]byte{text, large} {
		if key, err := s.Pack(data); err != nil || key != hash(data) {
			t.Fatal(key, err)
		}
	}
	s.Documents["other"] = s.Documents[hash(text)]
	s.Documents["damaged"] = []byte("no gzip")
	file, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = ParseSnapshot(file); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Unpack(hash(text)); err != nil || string(got) != string(text) {
		t.Errorf("%s, %v", got, err)
	}
	for key, want := range map[string]string{"missing": "no document", "damaged": "of the facts", "other": "another hash", hash(large): "more than"} {
		if _, err := s.Unpack(key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.12s: %v, want %s", key, err, want)
		}
	}
}
