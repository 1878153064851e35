package cli

import (
	"context"
	"os"
	"sync"
)

// interruption is Ctrl-C in two stages: while a rollout runs the first lets it finish what is in flight (stop is
// closed), otherwise it cancels the command; the second quits at once (quit is closed).
type interruption struct {
	stop, quit chan struct{}
	cancel     context.CancelFunc

	mu     sync.Mutex
	gentle func()
	count  int
	// cancelled: the command was ended in the middle of its work, and what it says of it is that.
	cancelled bool
}

func newInterruption(cancel context.CancelFunc) *interruption {
	return &interruption{stop: make(chan struct{}), quit: make(chan struct{}), cancel: cancel}
}

// listen hears interrupts until the command is over, also after it was cancelled.
func (in *interruption) listen(over <-chan struct{}, interrupts <-chan os.Signal) {
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

func (in *interruption) interrupt() {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch in.count++; {
	case in.count == 1 && in.gentle != nil:
		close(in.stop)
		in.gentle()
	case in.count == 1:
		in.cancelled = true
		in.cancel()
	case in.count == 2:
		close(in.quit)
	}
}

// gently makes the first interrupt a gentle one until the returned func is called; say tells the user.
func (in *interruption) gently(say func()) (end func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.gentle = say
	return func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.gentle = nil
	}
}

// ended reports whether an interrupt cancelled the command.
func (in *interruption) ended() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.cancelled
}
