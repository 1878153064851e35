// Package interrupt is Ctrl-C in two stages: a first one that lets what is in flight finish, and a second that quits.
//
// interrupt must not know what is interrupted.
package interrupt

import (
	"context"
	"os"
	"sync"
)

// Interruption is Ctrl-C in two stages: while a rollout runs the first lets it finish what is in flight (stop is
// closed), otherwise it cancels the command; the second quits at once (quit is closed).
type Interruption struct {
	// Stop and Quit are closed by the first and the second interrupt.
	Stop, Quit chan struct{}
	cancel     context.CancelFunc

	mu     sync.Mutex
	gentle func()
	count  int
	// cancelled: the command was ended in the middle of its work, and what it says of it is that.
	cancelled bool
}

// New makes one; cancel ends a command that has nothing to finish.
func New(cancel context.CancelFunc) *Interruption {
	return &Interruption{Stop: make(chan struct{}), Quit: make(chan struct{}), cancel: cancel}
}

// Listen hears interrupts until the command is over, also after it was cancelled.
func (in *Interruption) Listen(over <-chan struct{}, interrupts <-chan os.Signal) {
	for {
		select {
		case _, ok := <-interrupts:
			if !ok {
				return
			}
			in.interrupt()
		case <-over:
			return
		}
	}
}

func (in *Interruption) interrupt() {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch in.count++; {
	case in.count == 1 && in.gentle != nil:
		close(in.Stop)
		in.gentle()
	case in.count == 1:
		in.cancelled = true
		in.cancel()
	case in.count == 2:
		close(in.Quit)
	}
}

// Gently makes the first interrupt a gentle one until the returned func is called; say tells the user.
func (in *Interruption) Gently(say func()) (end func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.gentle = say
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.gentle = nil
	}
}

// Ended reports whether an interrupt cancelled the command.
func (in *Interruption) Ended() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.cancelled
}
