package once

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// TestGet: asked once, whatever the answer; what was cancelled with its caller answers for nobody else.
func TestGet(t *testing.T) {
	for _, want := range []error{nil, errors.New("no")} {
		var v Value[int]
		var wg sync.WaitGroup
		asked := 0
		for range 10 {
			wg.Go(func() {
				got, err := v.Get(t.Context(), func() (int, error) {
					asked++ // under -race: nobody else is here
					return 7, want
				})
				if got != 7 || !errors.Is(err, want) {
					t.Errorf("%d %v", got, err)
				}
			})
		}
		wg.Wait()
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	}
}

func TestCancelled(t *testing.T) {
	var v Value[string]
	first, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := v.Get(first, func() (string, error) {
			close(begun)
			<-first.Done()
			return "", errors.New("the server did not answer") // a library's own words
		})
		if err == nil {
			t.Error("the cancelled caller has an answer")
		}
	})
	<-begun
	for range 5 {
		wg.Go(func() {
			if got, err := v.Get(t.Context(), func() (string, error) { return "second", nil }); got != "second" || err != nil {
				t.Errorf("%q %v", got, err)
			}
		})
	}
	short, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := v.Get(short, func() (string, error) { return "", nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it waits longer than it has time: %v", err)
	}
	cancel()
	wg.Wait()
	if _, ok := new(Value[int]).Known(); ok {
		t.Error("what nobody asked is known")
	}
	if got, ok := v.Known(); got != "second" || !ok {
		t.Errorf("%q %t", got, ok)
	}
	if got, err := v.Get(t.Context(), nil); got != "second" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

// TestPanic: who asks after one that panicked is not left waiting.
func TestPanic(t *testing.T) {
	var v Value[int]
	func() {
		defer func() { _ = recover() }()
		_, _ = v.Get(t.Context(), func() (int, error) { panic("x") })
	}()
	if got, err := v.Get(t.Context(), func() (int, error) { return 1, nil }); got != 1 || err != nil {
		t.Errorf("%d %v", got, err)
	}
}
