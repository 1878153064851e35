package dag_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hawser.dev/hawser/internal/dag"
)

func walkOf(t *testing.T, text string) *dag.Walk[string] {
	t.Helper()
	w, err := graph(text).Walk()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWalkCycle(t *testing.T) {
	_, err := graph("a>b b>a c").Walk()
	if _, ok := errors.AsType[*dag.CycleError[string]](err); !ok {
		t.Errorf("error %v, want a cycle", err)
	}
}

func TestWalkCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := walkOf(t, "a>b b>c x>c")
	w.Pass(ctx, nil, 1, func(_ context.Context, node string) error {
		if node == "b" {
			cancel()
			return errBroken
		}
		return nil
	})
	if got, want := show(w.Result()), "a; b; c(b); x"; got != want {
		t.Errorf("walked %q, want %q", got, want)
	}
}

// Independent branches run at the same time, bounded by a limit: with a fake clock the walk takes exactly as long as it must.
func TestWalkParallel(t *testing.T) {
	for limit, want := range map[int]time.Duration{1: 8 * time.Second, 2: 4 * time.Second, 3: 3 * time.Second, 100: 2 * time.Second} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, w := time.Now(), walkOf(t, "a>w b>x c>y d>z")
				w.Pass(t.Context(), nil, limit, func(context.Context, string) error {
					time.Sleep(time.Second)
					return nil
				})
				if !w.Result().OK() {
					t.Error(show(w.Result()))
				}
				if took := time.Since(start); took != want {
					t.Errorf("took %s, want %s", took, want)
				}
			})
		})
	}
}

// A pass ends when what is left waits. What is woken while something else runs goes on in the same pass; else Changed says so, and the
// next pass does. A stop and the end of the context take what waits once more, but a pause only for that.
func TestWalkWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := walkOf(t, "a>b long pause")
		ctx, cancel := context.WithCancel(t.Context())
		stop := make(chan struct{})
		var mu sync.Mutex
		visits := map[string]int{}
		var woken atomic.Int64
		w.OnWake = func() { woken.Add(1) }
		pass := func() string {
			w.Pass(ctx, stop, 10, func(ctx context.Context, node string) error {
				mu.Lock()
				visits[node]++
				n := visits[node]
				mu.Unlock()
				switch {
				case node == "long":
					time.Sleep(time.Minute)
				case node == "a" && n == 1:
					time.AfterFunc(time.Second, func() { w.Wake("a") })
					return dag.ErrWaits
				case node == "pause" && ctx.Err() == nil:
					return dag.ErrPauses
				case node == "b" && ctx.Err() == nil && n < 3:
					return fmt.Errorf("told: %w", dag.ErrWaits)
				}
				return nil
			})
			return strings.Join(w.Waiting(), " ")
		}
		start := time.Now()
		if got := pass(); got != "b pause" || visits["a"] != 2 || time.Since(start) != time.Minute {
			t.Errorf("%s waits after %s: %v", got, time.Since(start), visits)
		}
		w.Wake("b")
		if n := woken.Load(); n != 2 { // a's timer is the other
			t.Errorf("woken %d times", n)
		}
		if got := pass(); got != "b pause" || visits["b"] != 2 {
			t.Errorf("%s waits: %v", got, visits)
		}
		close(stop)
		if got := pass(); got != "pause" || visits["b"] != 3 {
			t.Errorf("%s waits after a stop: %v", got, visits)
		}
		cancel()
		if got := pass(); got != "" || !w.Result().OK() {
			t.Errorf("%s waits at the end: %s", got, show(w.Result()))
		}
	})
}
