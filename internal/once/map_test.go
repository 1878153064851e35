package once

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// TestMap: each key is asked once; with Try an error is told to those who waited, and asked again by the next.
func TestMap(t *testing.T) {
	no := errors.New("no")
	for _, retry := range []bool{false, true} {
		var m Map[string, int]
		get := m.Get
		if retry {
			get = m.Try
		}
		asked := map[string]int{}
		ask := func(key string, want error) {
			t.Helper()
			got, err := get(t.Context(), key, func() (int, error) { asked[key]++; return len(key), want })
			if got != len(key) || !errors.Is(err, want) {
				t.Errorf("%s: %d %v", key, got, err)
			}
		}
		for range 3 {
			ask("good", nil)
			ask("bad", no)
		}
		if want := map[bool]int{false: 1, true: 3}[retry]; asked["good"] != 1 || asked["bad"] != want {
			t.Errorf("retry %t: asked %v", retry, asked)
		}
	}
}

// TestMapCancelled: whoever was cancelled answers for nobody, leaves nothing behind, and the ones who waited are asked for once.
func TestMapCancelled(t *testing.T) {
	for _, own := range []bool{true, false} { // the caller's context, or something else that was cancelled
		var m Map[string, string]
		first, cancel := context.WithCancel(t.Context())
		begun, ended := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := m.Get(first, "k", func() (string, error) {
				close(begun)
				<-ended
				return "", fmt.Errorf("asking: %w", context.Canceled)
			})
			if err == nil {
				t.Error("the cancelled caller has an answer")
			}
		})
		<-begun
		asked := 0
		for range 5 {
			wg.Go(func() {
				if got, err := m.Get(t.Context(), "k", func() (string, error) { asked++; return "second", nil }); got != "second" || err != nil {
					t.Errorf("%q %v", got, err)
				}
			})
		}
		if own {
			cancel()
		}
		close(ended)
		wg.Wait()
		cancel()
		if asked > 1 {
			t.Errorf("asked %d times", asked)
		}
		gone, stop := context.WithCancel(t.Context())
		stop()
		if _, err := m.Get(gone, "other", func() (string, error) { return "", gone.Err() }); err == nil || m.Len() != 1 {
			t.Errorf("%v, %d keys", err, m.Len())
		}
	}
}

// TestMapIsBounded: what was not asked for longest goes first, by weight; what is being asked for stays.
func TestMapIsBounded(t *testing.T) {
	m := Map[int, int]{Most: 10, Weight: func(n int) int64 { return int64(n) }}
	asked := 0
	get := func(n int) {
		if _, err := m.Get(t.Context(), n, func() (int, error) { asked++; return n, nil }); err != nil {
			t.Fatal(err)
		}
	}
	get(4)
	get(5)
	get(4)
	get(3) // 12: 5 goes
	if m.Len() != 2 {
		t.Errorf("%d are kept", m.Len())
	}
	asked = 0
	get(4)
	get(3)
	if asked != 0 {
		t.Error("what was in use has gone")
	}
	get(100) // more than there may be: nothing is left
	if get(100); asked != 2 || m.Len() != 0 {
		t.Errorf("asked %d times, %d are kept", asked, m.Len())
	}
	failing := Map[int, int]{Most: 3}
	for i := range 10 {
		_, _ = failing.Get(t.Context(), i, func() (int, error) { return 0, errors.New("no") })
	}
	if failing.Len() != 3 {
		t.Errorf("%d errors are kept", failing.Len())
	}
}

// TestMapPanic: a question that panicked is asked again.
func TestMapPanic(t *testing.T) {
	var m Map[int, int]
	func() {
		defer func() { _ = recover() }()
		_, _ = m.Get(t.Context(), 1, func() (int, error) { panic("x") })
	}()
	if got, err := m.Get(t.Context(), 1, func() (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("%d %v", got, err)
	}
}
