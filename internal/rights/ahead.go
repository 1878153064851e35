package rights

import (
	"context"
	"sync"
	"time"

	"hawser.dev/hawser/internal/broke"
)

// FreshFor is how long what was asked ahead is good for.
const FreshFor = 3 * time.Second

// Known is what is known of the rights in one namespace. Whole: the rules are all there are.
type Known struct {
	Rules []Rule
	Whole bool
}

// Ahead keeps the rules of namespaces that were asked for ahead, each until it is taken. The zero value is empty. It may be
// used from several goroutines.
type Ahead struct {
	mu    sync.Mutex
	all   broke.Group
	asked map[string]*asked
}

type asked struct {
	done  chan struct{}
	at    time.Time
	known Known
	err   error
}

// Ask begins to ask for a namespace, and does not wait: Wait does. It is given up with ctx, and when the answer would be
// fresh no more.
func (a *Ahead) Ask(ctx context.Context, namespace string, now time.Time, ask func(context.Context) (Known, error)) {
	one := &asked{done: make(chan struct{}), at: now}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked == nil {
		a.asked = map[string]*asked{}
	}
	a.asked[namespace] = one
	a.all.Go(func() {
		defer close(one.done)
		ctx, cancel := context.WithTimeout(ctx, FreshFor)
		defer cancel()
		one.known, one.err = ask(ctx)
	})
}

// Wait waits until nothing is being asked.
func (a *Ahead) Wait() { a.all.Wait() }

// Take gives what was asked for a namespace, once; false when there is nothing, nothing fresh, or no answer.
func (a *Ahead) Take(ctx context.Context, namespace string, now time.Time) (Known, bool) {
	a.mu.Lock()
	one := a.asked[namespace]
	delete(a.asked, namespace)
	a.mu.Unlock()
	if one == nil || now.Sub(one.at) > FreshFor {
		return Known{}, false
	}
	select {
	case <-one.done:
	case <-ctx.Done():
		return Known{}, false
	}
	return one.known, one.err == nil
}
