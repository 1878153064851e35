package dag

import (
	"cmp"
	"container/heap"
	"slices"
)

// Result is what became of a graph's nodes. Every node that has ended is in exactly one of its lists.
type Result[K cmp.Ordered] struct {
	// Done are the nodes that succeeded, in the order in which they ended.
	Done []K
	// Failed are the nodes that ran and failed, in the order in which they ended.
	Failed []Failure[K]
	// Skipped are the nodes that did not run because one before them failed, in topological order.
	Skipped []Skip[K]
	// NotStarted are the other nodes that have not ended, in topological order.
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

// Progress is how far the nodes of a graph have got: which may run, run, wait for something outside of the graph, or have ended.
// Whoever drives it tells what happens to the nodes, and is told which may run then. It is for one goroutine.
type Progress[K cmp.Ordered] struct {
	g      *Graph[K]
	order  []int
	ready  *queue
	again  []int // woken, in this order
	state  []state
	woken  []bool // while they ran, or since they wait
	needs  []int
	blame  []int // the failed node that stops this one, -1 for none
	counts [ended + 1]int
	result Result[K]
}

type state int

const (
	blocked state = iota
	running
	waiting
	ended
)

// Begin is a graph none of whose nodes has run. The graph stays as it is from then on. The error is a *CycleError.
func (g *Graph[K]) Begin() (*Progress[K], error) {
	order, err := g.order(nil)
	if err != nil {
		return nil, err
	}
	n := len(order)
	p := &Progress[K]{g: g, order: order, state: make([]state, n), woken: make([]bool, n), needs: make([]int, n), blame: make([]int, n),
		ready: &queue{less: g.deepest(order)}}
	p.counts[blocked] = n
	for _, i := range order {
		p.blame[i] = -1
		if p.needs[i] = len(g.needs[i]); p.needs[i] == 0 {
			p.ready.nodes = append(p.ready.nodes, i)
		}
	}
	heap.Init(p.ready)
	return p, nil
}

func (p *Progress[K]) set(i int, s state) {
	p.counts[p.state[i]]--
	p.counts[s]++
	p.state[i] = s
}

// Next takes nodes that may run now, as long as no more than limit run: first those that were woken, then, unless only those are
// wanted, the ones whose predecessors have all succeeded, of which the one with the longest way still behind it goes first, then
// the smaller key. They run until End or Wait.
func (p *Progress[K]) Next(limit int, wokenOnly bool) []K {
	var out []K
	for p.counts[running] < limit {
		var i int
		switch {
		case len(p.again) > 0:
			i, p.again = p.again[0], p.again[1:]
			p.woken[i] = false
		case !wokenOnly && p.ready.Len() > 0:
			i = heap.Pop(p.ready).(int)
		default:
			return out
		}
		p.set(i, running)
		out = append(out, p.g.keys[i])
	}
	return out
}

// Wait says that a node that runs can do nothing more until it is woken. One that was woken meanwhile may run again at once.
func (p *Progress[K]) Wait(node K) {
	i := p.g.index[node]
	if p.set(i, waiting); p.woken[i] {
		p.again = append(p.again, i)
	}
}

// Wake says that something has happened that a node may wait for. What waits may run again; of what has ended, or has not
// begun, nothing becomes.
func (p *Progress[K]) Wake(node K) {
	i, ok := p.g.index[node]
	if !ok || p.woken[i] || p.state[i] != running && p.state[i] != waiting {
		return
	}
	if p.woken[i] = true; p.state[i] == waiting {
		p.again = append(p.again, i)
	}
}

// WakeAll wakes everything that waits.
func (p *Progress[K]) WakeAll() {
	for _, k := range p.Waiting() {
		p.Wake(k)
	}
}

// End says that a node that ran has ended; an error is why it failed, which stops what comes after it and nothing else.
func (p *Progress[K]) End(node K, err error) {
	i := p.g.index[node]
	p.set(i, ended)
	if err != nil {
		p.result.Failed = append(p.result.Failed, Failure[K]{Node: node, Err: err})
		p.stop(i)
		return
	}
	p.result.Done = append(p.result.Done, node)
	for _, a := range p.g.after[i] {
		if p.needs[a]--; p.needs[a] == 0 {
			heap.Push(p.ready, a)
		}
	}
}

// stop blames everything after a failed node on it; each node is visited once in the whole walk.
func (p *Progress[K]) stop(failed int) {
	for todo := []int{failed}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, a := range p.g.after[n] {
			if p.blame[a] < 0 {
				p.blame[a] = failed
				todo = append(todo, a)
			}
		}
	}
}

// Running is the number of nodes that run.
func (p *Progress[K]) Running() int { return p.counts[running] }

// Waiting are the nodes that wait, woken ones included, in topological order.
func (p *Progress[K]) Waiting() []K {
	if p.counts[waiting] == 0 {
		return nil
	}
	var out []K
	for _, i := range p.order {
		if p.state[i] == waiting {
			out = append(out, p.g.keys[i])
		}
	}
	return out
}

// Result is what became of the nodes so far.
func (p *Progress[K]) Result() Result[K] {
	r := p.result
	r.Skipped, r.NotStarted = nil, nil
	for _, i := range p.order {
		switch {
		case p.state[i] == ended:
		case p.blame[i] >= 0:
			r.Skipped = append(r.Skipped, Skip[K]{Node: p.g.keys[i], Because: p.g.keys[p.blame[i]]})
		default:
			r.NotStarted = append(r.NotStarted, p.g.keys[i])
		}
	}
	return r
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
