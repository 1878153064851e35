package kubeapi

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestWatchErrorsQuoteNothing: an event of a watch that is none, or an error of one that is none, is an answer that is not understood, and nothing
// of it is said; a connection that breaks stays what it is.
func TestWatchErrorsQuoteNothing(t *testing.T) {
	for _, c := range []struct{ name, said string }{
		{"no JSON", "c4nary"},
		{"a number where a type is", `{"type": 424242424242}`},
		{"a number too large", `{"type": "ERROR", "object": {"code": 42424242424242424242424242}}`},
		{"an error that is none", `{"type": "ERROR", "object": "c4nary"}`},
		{"an error of another type", `{"type": "ERROR", "object": {"code": "c4nary"}}`},
		{"an object that is none", `{"type": "ADDED", "object": {"a": c4nary}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &heard{ask: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.said) }}
			err := h.client(t, false).Watch(t.Context(), Request{Path: "/api/v1/secrets"}, "1", time.Minute, func(WatchEvent) error { return nil })
			wrong, ok := errors.AsType[*AnswerError](err)
			if !ok || !strings.Contains(wrong.What, "cannot be understood") {
				t.Errorf("the error is %v, no answer that is not understood", err)
			}
			for _, part := range []string{"c4n", "'c'", "4242"} {
				if err != nil && strings.Contains(err.Error(), part) {
					t.Errorf("%v quotes %s", err, part)
				}
			}
		})
	}
	h := &heard{ask: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"type": "ADDED", "obj`) }}
	err := h.client(t, false).Watch(t.Context(), Request{Path: "/api/v1/secrets"}, "1", time.Minute, func(WatchEvent) error { return nil })
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a stream that is cut off ends with %v", err)
	}
}
