package openapi

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
)

// TestLibraryWaiters: who waits for a document does so only as long as its own context lasts; a failure is not kept.
func TestLibraryWaiters(t *testing.T) {
	var l Library
	in, out := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		_, err := l.Document(t.Context(), "k", func() ([]byte, error) { close(in); <-out; return nil, errors.New("no") })
		first <- err
	}()
	<-in
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Document(gone, "k", func() ([]byte, error) { return nil, nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(out)
	if err := <-first; err == nil {
		t.Error("no error")
	}
	if _, err := l.Document(t.Context(), "k", func() ([]byte, error) { return []byte(`{"openapi":"3.0.0"}`), nil }); err != nil {
		t.Error(err)
	}
}

// TestLibraryIsBounded: what is kept is bounded in bytes, and what was not asked for longest goes first.
func TestLibraryIsBounded(t *testing.T) {
	var l Library
	document := []byte(`{"openapi":"3.0.0","info":{"title":"` + strings.Repeat("x", 8<<20) + `"},"components":{"schemas":{"a":{"type":"object"}}}}`)
	reads := 0
	ask := func(key int) {
		t.Helper()
		if _, err := l.Document(t.Context(), strconv.Itoa(key), func() ([]byte, error) { reads++; return document, nil }); err != nil {
			t.Fatal(err)
		}
	}
	const kept = maxBytes / (8<<20 + 100)
	for key := range 2 * kept {
		ask(key)
		ask(0)
	}
	if reads != 2*kept {
		t.Errorf("%d reads of %d documents: what is asked for always is read once", reads, 2*kept)
	}
	if ask(1); reads != 2*kept+1 {
		t.Error("everything is kept")
	}
}
