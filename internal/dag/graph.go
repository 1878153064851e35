// Package dag orders things that depend on each other: a stable topological order, cycles with their path, who can
// be reached from where, and a walk that runs independent nodes in parallel and stops only what depends on a failure.
//
// Between two big groups ("all of these before all of those") put one barrier node instead of every pair of edges:
// the cost of everything here is in nodes and edges.
//
// dag must not know what its nodes stand for.
package dag

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// Graph is a directed graph. An edge leads from what comes before to what comes after it. The zero Graph is empty and
// ready to use. A Graph may be read by several goroutines, and changed by one alone.
type Graph[K cmp.Ordered] struct {
	keys  []K
	index map[K]int
	after [][]int // by node: those that wait for it
	needs [][]int // by node: those that it waits for
	edges map[[2]int]struct{}
}

// Add puts nodes into the graph; one that is there already stays as it is.
func (g *Graph[K]) Add(nodes ...K) {
	for _, n := range nodes {
		g.node(n)
	}
}

func (g *Graph[K]) node(k K) int {
	if i, ok := g.index[k]; ok {
		return i
	}
	if g.index == nil {
		g.index, g.edges = map[K]int{}, map[[2]int]struct{}{}
	}
	i := len(g.keys)
	g.index[k] = i
	g.keys = append(g.keys, k)
	g.after = append(g.after, nil)
	g.needs = append(g.needs, nil)
	return i
}

// Edge says that before comes before after. Nodes not there yet are added; an edge that is there stays as it is.
func (g *Graph[K]) Edge(before, after K) {
	b, a := g.node(before), g.node(after)
	if _, ok := g.edges[[2]int{b, a}]; ok {
		return
	}
	g.edges[[2]int{b, a}] = struct{}{}
	g.after[b] = append(g.after[b], a)
	g.needs[a] = append(g.needs[a], b)
}

// Len is the number of nodes.
func (g *Graph[K]) Len() int { return len(g.keys) }

// Has reports whether the node is in the graph.
func (g *Graph[K]) Has(node K) bool {
	_, ok := g.index[node]
	return ok
}

// Nodes are the nodes in the order in which they were added.
func (g *Graph[K]) Nodes() []K { return slices.Clone(g.keys) }

// Before are the direct predecessors of a node, sorted.
func (g *Graph[K]) Before(node K) []K { return g.neighbours(node, g.needs) }

// After are the direct successors of a node, sorted.
func (g *Graph[K]) After(node K) []K { return g.neighbours(node, g.after) }

func (g *Graph[K]) neighbours(node K, to [][]int) []K {
	i, ok := g.index[node]
	if !ok {
		return nil
	}
	return g.sorted(to[i])
}

func (g *Graph[K]) sorted(nodes []int) []K {
	out := make([]K, len(nodes))
	for i, n := range nodes {
		out[i] = g.keys[n]
	}
	slices.Sort(out)
	return out
}

// Ancestors are all nodes that come before a node, directly or not, sorted. On a cycle a node is its own ancestor.
func (g *Graph[K]) Ancestors(node K) []K { return g.closure(node, g.needs) }

// Descendants are all nodes that come after a node, directly or not, sorted.
func (g *Graph[K]) Descendants(node K) []K { return g.closure(node, g.after) }

func (g *Graph[K]) closure(node K, to [][]int) []K {
	start, ok := g.index[node]
	if !ok {
		return nil
	}
	seen := make([]bool, len(g.keys))
	var found []int
	for todo := []int{start}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range to[n] {
			if !seen[next] {
				seen[next] = true
				found = append(found, next)
				todo = append(todo, next)
			}
		}
	}
	return g.sorted(found)
}

// Reaches reports whether to comes after from, directly or not.
func (g *Graph[K]) Reaches(from, to K) bool {
	goal, ok := g.index[to]
	if !ok {
		return false
	}
	_, found := slices.BinarySearch(g.Descendants(from), g.keys[goal])
	return found
}

// Order returns the nodes so that each comes after all those before it. Where several may come next, the one that tie
// puts first does; nil is by key, g.ByAdded the order in which they were added. tie must be a strict total order; the
// result depends on nothing else. The error is a *CycleError.
func (g *Graph[K]) Order(tie func(a, b K) int) ([]K, error) {
	order, err := g.order(tie)
	if err != nil {
		return nil, err
	}
	out := make([]K, len(order))
	for i, n := range order {
		out[i] = g.keys[n]
	}
	return out, nil
}

// ByAdded compares two nodes of the graph by the order in which they were added: a tie-break for Order.
func (g *Graph[K]) ByAdded(a, b K) int { return cmp.Compare(g.index[a], g.index[b]) }

// order is Kahn's algorithm with a heap for the ties.
func (g *Graph[K]) order(tie func(a, b K) int) ([]int, error) {
	if tie == nil {
		tie = cmp.Compare[K]
	}
	waits := make([]int, len(g.keys))
	ready := &queue{less: func(a, b int) bool { return tie(g.keys[a], g.keys[b]) < 0 }}
	for n := range g.keys {
		if waits[n] = len(g.needs[n]); waits[n] == 0 {
			ready.nodes = append(ready.nodes, n)
		}
	}
	heap.Init(ready)
	order := make([]int, 0, len(g.keys))
	for ready.Len() > 0 {
		n := heap.Pop(ready).(int)
		order = append(order, n)
		for _, a := range g.after[n] {
			if waits[a]--; waits[a] == 0 {
				heap.Push(ready, a)
			}
		}
	}
	if len(order) < len(g.keys) {
		return nil, g.cycle(waits)
	}
	return order, nil
}

// Cycle returns a *CycleError when the nodes cannot be ordered, else nil.
func (g *Graph[K]) Cycle() error {
	_, err := g.order(nil)
	return err
}

// CycleError names the nodes of a cycle. Path starts and ends with the same node, each needs the one after it.
type CycleError[K cmp.Ordered] struct{ Path []K }

// Error is "cycle: a -> b -> a".
func (e *CycleError[K]) Error() string { return "cycle: " + e.String() }

// String is the path alone, "a -> b -> a": each needs the next one.
func (e *CycleError[K]) String() string {
	parts := make([]string, len(e.Path))
	for i, k := range e.Path {
		parts[i] = fmt.Sprint(k)
	}
	return strings.Join(parts, " -> ")
}

// cycle finds a cycle among the nodes that still wait. Each of those has a predecessor that waits too, so walking
// from one to its smallest such predecessor must come round; of the nodes of that ring the smallest starts the path,
// and a breadth-first search gives the shortest way back to it.
func (g *Graph[K]) cycle(waits []int) error {
	at := -1
	for n := range g.keys {
		if waits[n] > 0 && (at < 0 || g.keys[n] < g.keys[at]) {
			at = n
		}
	}
	position := map[int]int{}
	var walked []int
	for {
		if from, ok := position[at]; ok {
			walked = walked[from:]
			break
		}
		position[at] = len(walked)
		walked = append(walked, at)
		next := -1
		for _, b := range g.needs[at] {
			if waits[b] > 0 && (next < 0 || g.keys[b] < g.keys[next]) {
				next = b
			}
		}
		at = next
	}
	start := slices.MinFunc(walked, func(a, b int) int { return cmp.Compare(g.keys[a], g.keys[b]) })
	return &CycleError[K]{Path: g.ring(start)}
}

// ring is the shortest way along the needs from start back to start, which must be on a cycle.
func (g *Graph[K]) ring(start int) []K {
	from := map[int]int{}
	todo := []int{start}
	for {
		n := todo[0]
		todo = todo[1:]
		for _, b := range g.needs[n] {
			if b == start {
				path := []K{g.keys[start]}
				for ; n != start; n = from[n] {
					path = append(path, g.keys[n])
				}
				path = append(path, g.keys[start])
				slices.Reverse(path)
				return path
			}
			if _, seen := from[b]; !seen {
				from[b] = n
				todo = append(todo, b)
			}
		}
	}
}

// queue is a heap of nodes.
type queue struct {
	nodes []int
	less  func(a, b int) bool
}

func (q *queue) Len() int           { return len(q.nodes) }
func (q *queue) Less(i, j int) bool { return q.less(q.nodes[i], q.nodes[j]) }
func (q *queue) Swap(i, j int)      { q.nodes[i], q.nodes[j] = q.nodes[j], q.nodes[i] }
func (q *queue) Push(x any)         { q.nodes = append(q.nodes, x.(int)) }
func (q *queue) Pop() any {
	last := q.nodes[len(q.nodes)-1]
	q.nodes = q.nodes[:len(q.nodes)-1]
	return last
}
