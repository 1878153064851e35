package blob

import (
	"context"
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

// keyed gives a key to a store.
func keyed(key []byte) func(context.Context, bool) ([]byte, error) {
	return func(context.Context, bool) ([]byte, error) { return key, nil }
}

func scoped(s string) func() (string, error) { return func() (string, error) { return s, nil } }

func open(t *testing.T, b Bucket) *store {
	t.Helper()
	return New(Options{Bucket: b, Scope: scoped("uid-1"), Cluster: "c1", Key: keyed(testKey)}).(*store)
}

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	storetest.Run(t, func(t *testing.T) release.Store { return open(t, openDir(t, dir)) })
}
