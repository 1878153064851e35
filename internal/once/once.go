// Package once keeps what is asked once and shared by all who want it, without letting a caller that was cancelled answer
// for those who were not.
//
// It must not know what is asked, nor of whom.
package once

import (
	"context"
	"errors"
	"sync"
)

// Value is asked for once. The zero value is ready to use; a Value must not be copied.
type Value[T any] struct {
	mu    sync.Mutex
	under chan struct{} // closed when who is asking has an answer
	done  bool
	value T
	err   error
}

// Get is the answer, asked for by the first caller while the others wait, each as long as its own context lasts. What
// failed when its caller's context had ended, or because something was cancelled, is nobody else's answer: the next caller
// asks again. A limit of the question's own that was reached is an answer.
func (v *Value[T]) Get(ctx context.Context, ask func() (T, error)) (T, error) {
	var none T
	for {
		v.mu.Lock()
		if v.done {
			v.mu.Unlock()
			return v.value, v.err
		}
		under := v.under
		if under == nil {
			v.under = make(chan struct{})
			v.mu.Unlock()
			return v.ask(ctx, ask)
		}
		v.mu.Unlock()
		select {
		case <-under:
		case <-ctx.Done():
			return none, context.Cause(ctx)
		}
	}
}

// Known is the answer when there is one and it is no error.
func (v *Value[T]) Known() (value T, ok bool) {
	value, done, err := v.answer()
	if !done || err != nil {
		var none T
		return none, false
	}
	return value, true
}

// Failed reports that the answer is an error.
func (v *Value[T]) Failed() bool {
	_, done, err := v.answer()
	return done && err != nil
}

func (v *Value[T]) answer() (value T, done bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.value, v.done, v.err
}

func (v *Value[T]) ask(ctx context.Context, ask func() (T, error)) (value T, err error) {
	err = errUnanswered // where ask panics, the next caller asks
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if err == nil || ctx.Err() == nil && !errors.Is(err, errUnanswered) && !errors.Is(err, context.Canceled) {
			v.done, v.value, v.err = true, value, err
		}
		close(v.under)
		v.under = nil
	}()
	value, err = ask()
	return value, err
}

var errUnanswered = errors.New("nobody has answered")
