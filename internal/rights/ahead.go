package rights

import (
	"context"
	"sync"
	"time"
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
	asked map[string]*asked
}

type asked struct {
	done  chan struct{}
	at    time.Time
	known Known
	err   error
}

// Ask begins to ask for a namespace, and does not wait.
func (a *Ahead) Ask(namespace string, now time.Time, ask func() (Known, error)) {
	one := &asked{done: make(chan struct{}), at: now}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asked == nil {
		a.asked = map[string]*asked{}
	}
	a.asked[namespace] = one
	go func() {
		defer close(one.done)
		one.known, one.err = ask()
	}()
}

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
