package dag_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hawser.dev/hawser/internal/dag"
)

// graph reads "a>b b>c d": edges and lone nodes.
func graph(text string) *dag.Graph[string] {
	var g dag.Graph[string]
	for _, word := range strings.Fields(text) {
		if before, after, ok := strings.Cut(word, ">"); ok {
			g.Edge(before, after)
		} else {
			g.Add(word)
		}
	}
	return &g
}

func TestOrder(t *testing.T) {
	for _, c := range []struct{ name, graph, byKey, byAdded string }{
		{"empty", "", "", ""},
		{"one", "a", "a", "a"},
		{"ties", "c b a", "a b c", "c b a"},
		{"chain against the ties", "c>b b>a", "c b a", "c b a"},
		{"diamond", "d>b d>c b>a c>a", "d b c a", "d b c a"},
		{"tie after an edge", "z>a m", "m z a", "z a m"},
		{"an edge twice", "b>a b>a", "b a", "b a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph(c.graph)
			for want, tie := range map[string]func(a, b string) int{"k " + c.byKey: nil, "a " + c.byAdded: g.ByAdded} {
				order, err := g.Order(tie)
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(order, " "); got != want[2:] {
					t.Errorf("order %q, want %q", got, want)
				}
			}
		})
	}
}

func TestCycle(t *testing.T) {
	for _, c := range []struct{ name, graph, want, reason string }{
		{"itself", "a>a", "a -> a", "a node may not need itself"},
		{"two", "b>a a>b", "a -> b -> a", "starts with the smallest"},
		{"needs are followed", "a>b b>c c>a", "a -> c -> b -> a", "each needs the one after it"},
		{"before and after it", "x>a a>b b>a b>y", "a -> b -> a", "only the cycle is named"},
		{"shortest", "a>b b>c c>d d>a b>a", "a -> b -> a", "the short way round"},
		{"two cycles", "m>n n>m a>m", "m -> n -> m", "a is no part of it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := graph(c.graph).Cycle()
			cycle, ok := errors.AsType[*dag.CycleError[string]](err)
			if !ok {
				t.Fatalf("error %v, want a cycle", err)
			}
			if cycle.String() != c.want {
				t.Errorf("cycle %s, want %s: %s", cycle, c.want, c.reason)
			}
			if want := "cycle: " + c.want; err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
		})
	}
}

func TestReach(t *testing.T) {
	g := graph("a>b b>c a>d e")
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"ancestors", g.Ancestors("c"), []string{"a", "b"}},
		{"no ancestors", g.Ancestors("a"), nil},
		{"descendants", g.Descendants("a"), []string{"b", "c", "d"}},
		{"of no node", g.Descendants("nobody"), nil},
		{"before", g.Before("c"), []string{"b"}},
		{"after", g.After("a"), []string{"b", "d"}},
		{"nodes as added", g.Nodes(), []string{"a", "b", "c", "d", "e"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if !g.Reaches("a", "c") || g.Reaches("c", "a") || g.Reaches("a", "a") || g.Reaches("a", "nobody") || g.Reaches("nobody", "a") {
		t.Error("Reaches does not follow the edges")
	}
}

// Every order of a random graph without cycles holds every node once and every edge, whatever the order in which
// nodes and edges were added.
func TestOrderProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "nodes")
		names := rapid.Permutation(ints(n)).Draw(t, "names")
		type edge struct{ before, after int }
		var edges []edge
		for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "a"), rapid.IntRange(0, n-1).Draw(t, "b")
			if a != b {
				edges = append(edges, edge{names[min(a, b)], names[max(a, b)]})
			}
		}
		build := func(edges []edge) []int {
			var g dag.Graph[int]
			for _, e := range edges {
				g.Edge(e.before, e.after)
			}
			g.Add(names...)
			order, err := g.Order(nil)
			if err != nil {
				t.Fatal(err)
			}
			return order
		}
		order := build(edges)
		if sorted := slices.Sorted(slices.Values(order)); !slices.Equal(sorted, ints(n)) {
			t.Fatalf("nodes %v, want each once", sorted)
		}
		for _, e := range edges {
			if slices.Index(order, e.before) > slices.Index(order, e.after) {
				t.Fatalf("%d must come before %d: %v", e.before, e.after, order)
			}
		}
		if again := build(rapid.Permutation(edges).Draw(t, "shuffled")); !slices.Equal(order, again) {
			t.Fatalf("order depends on the order of adding: %s", cmp.Diff(order, again))
		}
	})
}

// A graph has a cycle exactly when it has no order, and the path named is one.
func TestCycleProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g dag.Graph[int]
		for range rapid.IntRange(0, 30).Draw(t, "edges") {
			g.Edge(rapid.IntRange(0, 11).Draw(t, "before"), rapid.IntRange(0, 11).Draw(t, "after"))
		}
		cyclic := false
		for _, n := range g.Nodes() {
			cyclic = cyclic || g.Reaches(n, n)
		}
		err := g.Cycle()
		if cyclic != (err != nil) {
			t.Fatalf("cyclic is %t, error is %v", cyclic, err)
		}
		if err == nil {
			return
		}
		cycle, _ := errors.AsType[*dag.CycleError[int]](err)
		path := cycle.Path
		if len(path) < 2 || path[0] != path[len(path)-1] {
			t.Fatalf("path %v does not come round", path)
		}
		for i := range len(path) - 1 {
			if !slices.Contains(g.Before(path[i]), path[i+1]) {
				t.Fatalf("path %v: %d does not need %d", path, path[i], path[i+1])
			}
		}
	})
}

func ints(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Ten thousand nodes in a chain, in a layered graph and on one cycle are ordered at once: nothing is quadratic.
func TestLarge(t *testing.T) {
	const n = 10_000
	start := time.Now()
	var chain, layers, ring dag.Graph[string]
	name := func(i int) string { return fmt.Sprintf("node-%05d", i) }
	for i := range n {
		ring.Edge(name(i), name((i+1)%n))
		if i > 0 {
			chain.Edge(name(n-i), name(n-i-1))
		}
		for j := range 5 {
			layers.Edge(name(i), name(n+(i*7+j)%n))
		}
	}
	for _, g := range []*dag.Graph[string]{&chain, &layers} {
		if _, err := g.Order(nil); err != nil {
			t.Fatal(err)
		}
	}
	if cycle, ok := errors.AsType[*dag.CycleError[string]](ring.Cycle()); !ok || len(cycle.Path) != n+1 {
		t.Fatal("the ring was not found")
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %s", took)
	}
}
