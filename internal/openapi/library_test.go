package openapi

import (
	"context"
	"errors"
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
