package blob

import (
	"testing"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/storetest"
)

var testKey = []byte("0123456789abcdef0123456789abcdef")

func openDir(t *testing.T, dir string) *Dir {
	t.Helper()
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func open(t *testing.T, b Bucket) *store {
	t.Helper()
	s, err := New(b, "uid-1", "c1", testKey)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*store)
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	storetest.Run(t, func(t *testing.T) release.Store { return open(t, openDir(t, dir)) })
}
