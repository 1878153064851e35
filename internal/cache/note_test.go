package cache

import (
	"bytes"
	"testing"
	"time"
)

// Notes are kept under their key, replaced, listed and pruned with everything else.
func TestNotes(t *testing.T) {
	c := Open(Options{Dir: t.TempDir()})
	if data, ok := c.Note("a"); ok {
		t.Fatal(data)
	}
	c.KeepNote("a", []byte("one"))
	c.KeepNote("a", []byte("two"))
	c.KeepNote("b", bytes.Repeat([]byte("x"), maxNote+1))
	if data, ok := c.Note("a"); !ok || string(data) != "two" {
		t.Errorf("%q %t", data, ok)
	}
	if _, ok := c.Note("b"); ok {
		t.Error("a note that is too long is kept")
	}
	if all, err := c.List(t.Context()); err != nil || len(all) != 1 || all[0].Bytes != 3 {
		t.Error(all, err)
	}
	if gone, err := c.Prune(t.Context(), Policy{All: true}, time.Now()); err != nil || len(gone.Entries) != 1 {
		t.Error(gone, err)
	}
	if _, ok := c.Note("a"); ok {
		t.Error("a pruned note is there")
	}
	none := Open(Options{})
	none.KeepNote("a", []byte("one"))
	if _, ok := none.Note("a"); ok {
		t.Error("a cache that keeps nothing has a note")
	}
}
