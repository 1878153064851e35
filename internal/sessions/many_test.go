package sessions

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cluster"
)

// TestEndedBeforeItsTurn: a run that is over waits for no turn, however many are before it.
func TestEndedBeforeItsTurn(t *testing.T) {
	var p Pool
	p.mu.Lock() // another one has its turn
	defer p.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := p.Get(ctx, cluster.Config{})
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("it waits for its turn")
	}
}

// TestManyUsed: a turn costs what unused connections there are, which are bounded, and not all that are used.
func TestManyUsed(t *testing.T) {
	const many = 30000
	var p Pool
	start := time.Now()
	var all []*connection
	for i := range many {
		e, _, _ := p.enter(strconv.Itoa(i))
		all = append(all, e)
	}
	for _, e := range all {
		p.leave(e)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("%d turns took %s", 2*many, took)
	}
	if p.Kept() != 128 || p.Users() != 0 {
		t.Errorf("%d kept, %d users", p.Kept(), p.Users())
	}
}
