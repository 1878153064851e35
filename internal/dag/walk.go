package dag

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Result is what a Walk did. Every node is in exactly one of its lists.
type Result[K cmp.Ordered] struct {
	// Done are the nodes that succeeded, in the order in which they ended.
	Done []K
	// Failed are the nodes that ran and failed, in the order in which they ended.
	Failed []Failure[K]
	// Skipped are the nodes that did not run because one before them failed, in topological order.
	Skipped []Skip[K]
	// NotStarted are the nodes that did not run because the context had ended, in topological order.
	NotStarted []K
}

// Failure is a node that failed and why.
type Failure[K cmp.Ordered] struct {
	Node K
	Err  error
}

// Skip is a node that did not run. Because is the failed node it waited for, directly or not; of several the one
// that failed first.
type Skip[K cmp.Ordered] struct {
	Node, Because K
}

// OK reports whether every node ran and succeeded.
func (r Result[K]) OK() bool { return len(r.Failed)+len(r.Skipped)+len(r.NotStarted) == 0 }

// Walk runs fn for every node, each after all those before it succeeded, at most parallel at once (0 or less: all
// that may run); one that has called Yield does not count. A failed node stops only what comes after it. Of the nodes that may run, the one with the longest
// way still behind it goes first, then the smaller key. When ctx ends nothing new is started; Walk returns when what
// runs has ended. The error is a *CycleError, and then nothing has run.
func (g *Graph[K]) Walk(ctx context.Context, parallel int, fn func(ctx context.Context, node K) error) (Result[K], error) {
	order, err := g.order(nil)
	if err != nil {
		return Result[K]{}, err
	}
	if parallel <= 0 || parallel > len(order) {
		parallel = len(order)
	}
	w := &walk[K]{g: g, waits: make([]int, len(order)), ended: make([]bool, len(order)), blame: make([]int, len(order)),
		yields: make(chan struct{}), over: make(chan struct{})}
	defer close(w.over)
	w.ready = &queue{less: g.deepest(order)}
	for _, n := range order {
		w.blame[n] = -1
		if w.waits[n] = len(g.needs[n]); w.waits[n] == 0 {
			w.ready.nodes = append(w.ready.nodes, n)
		}
	}
	heap.Init(w.ready)
	w.run(ctx, parallel, fn)
	for _, n := range order {
		switch {
		case w.ended[n]:
		case w.blame[n] >= 0:
			w.result.Skipped = append(w.result.Skipped, Skip[K]{Node: g.keys[n], Because: g.keys[w.blame[n]]})
		default:
			w.result.NotStarted = append(w.result.NotStarted, g.keys[n])
		}
	}
	return w.result, nil
}

// walk is a Walk under way. Only the goroutine of run touches it.
type walk[K cmp.Ordered] struct {
	g      *Graph[K]
	ready  *queue
	waits  []int
	ended  []bool
	blame  []int // the failed node that stops this one, -1 for none
	result Result[K]
	// yields are told of nodes that only wait from now on; over is closed when the walk has ended.
	yields, over chan struct{}
}

type ending struct {
	node    int
	yielded bool
	err     error
}

type placeKey struct{}

// place is what a running node has of those that a Walk gives at once.
type place struct {
	yields chan<- struct{}
	over   <-chan struct{}
	once   sync.Once
	given  atomic.Bool
}

// Yield tells the Walk that the node, whose ctx this is, only waits from now on: another may run in its place. Outside of a
// Walk it does nothing.
func Yield(ctx context.Context) {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return
	}
	p.once.Do(func() {
		p.given.Store(true)
		select {
		case p.yields <- struct{}{}:
		case <-p.over:
		}
	})
}

func (w *walk[K]) run(ctx context.Context, parallel int, fn func(ctx context.Context, node K) error) {
	endings := make(chan ending)
	for running, alive := 0, 0; ; {
		for running < parallel && w.ready.Len() > 0 && ctx.Err() == nil {
			n := heap.Pop(w.ready).(int)
			running, alive = running+1, alive+1
			go func() {
				p := &place{yields: w.yields, over: w.over}
				err := fn(context.WithValue(ctx, placeKey{}, p), w.g.keys[n])
				endings <- ending{n, p.given.Load(), err}
			}()
		}
		if alive == 0 {
			return
		}
		select {
		case <-w.yields:
			running--
		case e := <-endings:
			if alive--; !e.yielded {
				running--
			}
			w.end(e)
		}
	}
}

func (w *walk[K]) end(e ending) {
	w.ended[e.node] = true
	if e.err != nil {
		w.result.Failed = append(w.result.Failed, Failure[K]{Node: w.g.keys[e.node], Err: e.err})
		w.stop(e.node)
		return
	}
	w.result.Done = append(w.result.Done, w.g.keys[e.node])
	for _, a := range w.g.after[e.node] {
		if w.waits[a]--; w.waits[a] == 0 {
			heap.Push(w.ready, a)
		}
	}
}

// stop blames everything after a failed node on it; each node is visited once in the whole walk.
func (w *walk[K]) stop(failed int) {
	for todo := []int{failed}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, a := range w.g.after[n] {
			if w.blame[a] < 0 {
				w.blame[a] = failed
				todo = append(todo, a)
			}
		}
	}
}

// deepest orders nodes by the length of the longest path that starts at them, longest first, then by key.
func (g *Graph[K]) deepest(order []int) func(a, b int) bool {
	depth := make([]int, len(g.keys))
	for _, n := range slices.Backward(order) {
		for _, a := range g.after[n] {
			depth[n] = max(depth[n], depth[a]+1)
		}
	}
	return func(a, b int) bool {
		if depth[a] != depth[b] {
			return depth[a] > depth[b]
		}
		return g.keys[a] < g.keys[b]
	}
}
