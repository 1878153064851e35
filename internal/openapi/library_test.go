package openapi

import (
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestLibraryWaiters: who waits for a document does so only as long as its own context lasts; a failure is not kept.
func TestLibraryWaiters(t *testing.T) {
	var l Library
	in, out := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		_, err := l.Document(t.Context(), "", "k", func() ([]byte, error) { close(in); <-out; return nil, errors.New("no") })
		first <- err
	}()
	<-in
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Document(gone, "", "k", func() ([]byte, error) { return nil, nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(out)
	if err := <-first; err == nil {
		t.Error("no error")
	}
	if _, err := l.Document(t.Context(), "", "k", func() ([]byte, error) { return []byte(`{"openapi":"3.0.0"}`), nil }); err != nil {
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
		if _, err := l.Document(t.Context(), "", strconv.Itoa(key), func() ([]byte, error) { reads++; return document, nil }); err != nil {
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

// TestLibraryBelievesNoClaim: a document that is not the one which its server claims is that server's alone, whoever asks first or waits for the
// other; and what one server fails to answer the other is asked for.
func TestLibraryBelievesNoClaim(t *testing.T) {
	const honest, lie = `{"openapi":"3.0.0","components":{"schemas":{"true":{}}}}`, `{"openapi":"3.0.0","components":{"schemas":{"false":{}}}}`
	sum := sha512.Sum512([]byte(honest))
	hash := hex.EncodeToString(sum[:])
	l := &Library{}
	ask := func(own, answer string, reads *int, wait func()) string {
		d, err := l.Document(t.Context(), hash, own, func() ([]byte, error) {
			*reads++
			wait()
			if answer == "" {
				return nil, errors.New("no answer")
			}
			return []byte(answer), nil
		})
		if err != nil {
			return err.Error()
		}
		for name := range d.raw {
			return name
		}
		return ""
	}
	now := func() {}
	for _, first := range []string{"liar", "honest"} {
		l = &Library{}
		reads := map[string]*int{"liar": new(int), "honest": new(int), "third": new(int)}
		for _, own := range []string{first, "liar", "honest", "third", "liar"} {
			answer := honest
			if own == "liar" {
				answer = lie
			}
			if got := ask(own, answer, reads[own], now); got != "true" && own != "liar" {
				t.Errorf("%s first: %s has %q", first, own, got)
			}
		}
		if *reads["honest"] != 1 || *reads["third"] != 0 {
			t.Errorf("%s first: the honest ones are asked %d and %d times", first, *reads["honest"], *reads["third"])
		}
	}
	for answer, want := range map[string]string{lie: "false", "": "no answer", "no document": "invalid character 'o' in literal null (expecting 'u')"} {
		l = &Library{}
		in, out, got, reads := make(chan struct{}), make(chan struct{}), make(chan string, 2), [2]int{}
		go func() { got <- ask("liar", answer, &reads[0], func() { close(in); <-out }) }()
		<-in
		waiting := make(chan struct{})
		go func() { close(waiting); got <- ask("honest", honest, &reads[1], now) }()
		<-waiting
		time.Sleep(10 * time.Millisecond) // most of them wait by now; what comes out is the same when it does not
		close(out)
		if one, other := <-got, <-got; !(one == "true" && strings.Contains(other, want) || other == "true" && strings.Contains(one, want)) {
			t.Errorf("%q: %q, %q", answer, one, other)
		}
	}
}
