package sigstore

import (
	"context"
	"errors"
	"testing"
)

// Who is interrupted leaves nothing behind for the others; a failure and an answer are remembered.
func TestInterruptedRootIsAskedAgain(t *testing.T) {
	asked, answer := 0, error(nil)
	public := once(func(ctx context.Context) (int, error) {
		asked++
		if ctx.Err() != nil {
			return 0, errors.New("request: " + ctx.Err().Error()) // a library that hides the cause
		}
		return asked, answer
	})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // a turn that is free may be taken or not
		if _, err := public(ended); err == nil {
			t.Fatal("no error")
		}
	}
	before := asked
	for range 2 {
		if got, err := public(t.Context()); err != nil || got != before+1 {
			t.Fatalf("after an interrupted one: %d %v", got, err)
		}
	}
	if asked != before+1 {
		t.Errorf("asked %d times more", asked-before)
	}
	fails := once(func(context.Context) (int, error) { asked++; return 0, errors.New("no network") })
	before = asked
	for range 2 {
		if _, err := fails(t.Context()); err == nil || err.Error() != "no network" {
			t.Error(err)
		}
	}
	if asked != before+1 {
		t.Errorf("a failure was asked for %d times", asked-before)
	}
	// Who waits for another's turn can be interrupted, too.
	in, out := make(chan struct{}), make(chan struct{})
	slow := once(func(context.Context) (int, error) { close(in); <-out; return 1, nil })
	done := make(chan error)
	go func() { _, err := slow(t.Context()); done <- err }()
	<-in
	if _, err := slow(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(out)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
