package dag_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/dag"
)

var errBroken = errors.New("broken")

// show is a result in one line: done; failed; skipped(because); not started.
func show(r dag.Result[string]) string {
	var failed, skipped []string
	for _, f := range r.Failed {
		failed = append(failed, f.Node)
	}
	for _, s := range r.Skipped {
		skipped = append(skipped, s.Node+"("+s.Because+")")
	}
	var parts []string
	for _, list := range [][]string{r.Done, failed, skipped, r.NotStarted} {
		parts = append(parts, strings.Join(list, " "))
	}
	return strings.Join(parts, "; ")
}

func TestWalk(t *testing.T) {
	for _, c := range []struct{ name, graph, broken, want, reason string }{
		{"nothing", "", "", "; ; ; ", "an empty graph is walked at once"},
		{"chain", "c>b b>a", "", "c b a; ; ; ", "in order"},
		{"deep first", "a m>n n>o", "", "m n a o; ; ; ", "m has the longest way behind it, then n; a and o are equal"},
		{"failure", "a>b b>c d>e", "b", "a d e; b; c(b); ", "only what depends on b stops"},
		{"first failure is named", "a>x b>x x>y", "a b", "; a b; x(a) y(a); ", "x waits for both"},
		{"failure and success before", "a>x b>x", "b", "a; b; x(b); ", "one broken predecessor is enough"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := graph(c.graph).Walk(t.Context(), 1, func(_ context.Context, node string) error {
				if slices.Contains(strings.Fields(c.broken), node) {
					return errBroken
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := show(r); got != c.want {
				t.Errorf("walked %q, want %q: %s", got, c.want, c.reason)
			}
			if r.OK() != (c.broken == "") {
				t.Errorf("OK is %t", r.OK())
			}
		})
	}
}

func TestWalkCycle(t *testing.T) {
	_, err := graph("a>b b>a c").Walk(t.Context(), 0, func(context.Context, string) error {
		t.Error("a node ran")
		return nil
	})
	if _, ok := errors.AsType[*dag.CycleError[string]](err); !ok {
		t.Errorf("error %v, want a cycle", err)
	}
}

func TestWalkCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := graph("a>b b>c x>c").Walk(ctx, 1, func(_ context.Context, node string) error {
		if node == "b" {
			cancel()
			return errBroken
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(r), "a; b; c(b); x"; got != want {
		t.Errorf("walked %q, want %q", got, want)
	}
}

// Independent branches run at the same time, bounded by parallel: with a fake clock the walk takes exactly as long as
// it must.
func TestWalkParallel(t *testing.T) {
	for _, c := range []struct {
		parallel int
		want     time.Duration
	}{{0, 2 * time.Second}, {1, 8 * time.Second}, {2, 4 * time.Second}, {3, 3 * time.Second}, {100, 2 * time.Second}} {
		t.Run(fmt.Sprint(c.parallel), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r, err := graph("a>w b>x c>y d>z").Walk(t.Context(), c.parallel, func(context.Context, string) error {
					time.Sleep(time.Second)
					return nil
				})
				if err != nil || !r.OK() {
					t.Fatal(r, err)
				}
				if took := time.Since(start); took != c.want {
					t.Errorf("took %s, want %s", took, c.want)
				}
			})
		})
	}
}

// A node that only waits gives its place away: what it waits for may come after it. A second Yield gives nothing more, and
// outside of a Walk it does nothing.
func TestWalkYield(t *testing.T) {
	dag.Yield(t.Context())
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		var mu sync.Mutex
		var running atomic.Int32
		var most int32
		r, err := graph("a b c d e f").Walk(t.Context(), 2, func(ctx context.Context, node string) error {
			if strings.Contains("abc", node) {
				dag.Yield(ctx)
				dag.Yield(ctx)
				<-let
				return nil
			}
			mu.Lock()
			most = max(most, running.Add(1))
			mu.Unlock()
			time.Sleep(time.Second)
			if running.Add(-1); node == "f" {
				close(let)
			}
			return nil
		})
		if err != nil || !r.OK() || len(r.Done) != 6 || most != 2 {
			t.Errorf("%s, %d at once: %v", show(r), most, err)
		}
	})
}

// On random graphs with random failures: never more than parallel at once, no node before its predecessors succeeded,
// every node in exactly one list, and skipped is exactly what comes after a failed node.
func TestWalkProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "nodes")
		var g dag.Graph[int]
		g.Add(ints(n)...)
		for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
			if a != b {
				g.Edge(min(a, b), max(a, b))
			}
		}
		broken := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), func(i int) int { return i }).Draw(t, "broken")
		parallel := rapid.IntRange(1, 4).Draw(t, "parallel")
		var running atomic.Int32
		var mu sync.Mutex
		done := map[int]bool{}
		r, err := g.Walk(context.Background(), parallel, func(_ context.Context, node int) error {
			defer running.Add(-1)
			if now := running.Add(1); int(now) > parallel {
				t.Errorf("%d run at once, want at most %d", now, parallel)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, b := range g.Before(node) {
				if !done[b] {
					t.Errorf("%d ran before %d", node, b)
				}
			}
			if slices.Contains(broken, node) {
				return errBroken
			}
			done[node] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Clone(r.Done)
		for _, f := range r.Failed {
			all = append(all, f.Node)
		}
		for _, s := range r.Skipped {
			all = append(all, s.Node)
			if !g.Reaches(s.Because, s.Node) || !slices.Contains(broken, s.Because) {
				t.Errorf("%d was skipped because of %d", s.Node, s.Because)
			}
		}
		slices.Sort(all)
		if !slices.Equal(all, ints(n)) || len(r.NotStarted) > 0 {
			t.Fatalf("lists %v and %v, want each node once", all, r.NotStarted)
		}
	})
}

// Ten thousand nodes are walked in parallel without trouble.
func TestWalkLarge(t *testing.T) {
	const n = 10_000
	var g dag.Graph[int]
	for i := range n {
		g.Edge(i, n+i%10)
		g.Edge(n+i%10, 2*n+i)
	}
	var count atomic.Int64
	start := time.Now()
	r, err := g.Walk(t.Context(), 32, func(context.Context, int) error { count.Add(1); return nil })
	if err != nil || !r.OK() || count.Load() != 2*n+10 {
		t.Fatalf("ran %d nodes: %v", count.Load(), err)
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %s", took)
	}
}
