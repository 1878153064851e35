package dag_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
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

// walked drives a graph to its end, n nodes at once: those that were taken together end in the same order.
func walked(t *testing.T, graph string, n int, broken string) dag.Result[string] {
	t.Helper()
	p := begun(t, graph)
	for next := p.Next(n, false); len(next) > 0; next = p.Next(n, false) {
		for _, node := range next {
			if slices.Contains(strings.Fields(broken), node) {
				p.End(node, errBroken)
			} else {
				p.End(node, nil)
			}
		}
	}
	return p.Result()
}

func begun(t *testing.T, text string) *dag.Progress[string] {
	t.Helper()
	p, err := graph(text).Begin()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProgress(t *testing.T) {
	for _, c := range []struct{ name, graph, broken, want, reason string }{
		{"nothing", "", "", "; ; ; ", "an empty graph is over at once"},
		{"chain", "c>b b>a", "", "c b a; ; ; ", "in order"},
		{"deep first", "a m>n n>o", "", "m n a o; ; ; ", "m has the longest way behind it, then n; a and o are equal"},
		{"failure", "a>b b>c d>e", "b", "a d e; b; c(b); ", "only what depends on b stops"},
		{"first failure is named", "a>x b>x x>y", "a b", "; a b; x(a) y(a); ", "x waits for both"},
		{"failure and success before", "a>x b>x", "b", "a; b; x(b); ", "one broken predecessor is enough"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := walked(t, c.graph, 1, c.broken)
			if got := show(r); got != c.want {
				t.Errorf("got %q, want %q: %s", got, c.want, c.reason)
			}
			if r.OK() != (c.broken == "") {
				t.Errorf("OK is %t", r.OK())
			}
		})
	}
}

func TestProgressOfACycle(t *testing.T) {
	_, err := graph("a>b b>a c").Begin()
	if _, ok := errors.AsType[*dag.CycleError[string]](err); !ok {
		t.Errorf("error %v, want a cycle", err)
	}
}

// What happens to nodes, and which may run then. Of a script's steps "next N" takes at most as many as make N, "woken N" only woken ones;
// the others are told.
func TestProgressStepByStep(t *testing.T) {
	for name, script := range map[string]string{
		"at most so many":                "a b c d | next 2=a b | next 2= | done a | next 2=c | done b | next 5=d",
		"what waits gives its place":     "a b c | next 1=a | wait a | next 1=b | waiting=a | done b | next 1=c",
		"woken ones go first":            "a>x b c | next 1=a | wait a | next 1=b | wake a | done b | next 1=a | done a | next 9=c x",
		"woken while it ran":             "a | next 1=a | wake a | wait a | next 1=a | wait a | next 1=",
		"woken twice, it runs once":      "a b | next 1=a | wait a | wake a | wake a | next 9=a b",
		"what has not begun is no sleep": "a>b | wake b | next 9=a | done a | wake a | next 9=b",
		"nothing new":                    "a b>c | next 1=b | wait b | wake b | woken 9=b | done b | woken 9= | next 9=a c",
		"all of them":                    "a b c | next 2=a b | wait b | wait a | waiting=a b | all | next 9=a b c",
		"a failure of what waited":       "a>b | next 1=a | wait a | wake a | next 1=a | fail a | next 9= | result=; a; b(a); ",
		"over before all began":          "a b | next 1=a | done a | result=a; ; ; b",
		"what waits has not ended":       "a>b | next 1=a | wait a | result=; ; ; a b",
		"an unknown node":                "a | wake z | next 9=a",
	} {
		t.Run(name, func(t *testing.T) {
			steps := strings.Split(script, " | ")
			p := begun(t, steps[0])
			for _, step := range steps[1:] {
				call, want, _ := strings.Cut(step, "=")
				verb, arg, _ := strings.Cut(call, " ")
				got := ""
				switch verb {
				case "next", "woken":
					got = strings.Join(p.Next(int(arg[0]-'0'), verb == "woken"), " ")
				case "wait":
					p.Wait(arg)
				case "wake":
					p.Wake(arg)
				case "all":
					p.WakeAll()
				case "done":
					p.End(arg, nil)
				case "fail":
					p.End(arg, errBroken)
				case "waiting":
					got = strings.Join(p.Waiting(), " ")
				case "result":
					got = show(p.Result())
				}
				if got != want {
					t.Fatalf("%s: got %q", step, got)
				}
			}
		})
	}
}

// On random graphs with random failures and random waiting: never more than the limit run, no node before its predecessors succeeded, every
// node in exactly one list, and skipped is exactly what comes after a failed node.
func TestProgressProperty(t *testing.T) {
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
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		p, err := g.Begin()
		if err != nil {
			t.Fatal(err)
		}
		var running []int
		done := map[int]bool{}
		for {
			next := p.Next(limit, false)
			for _, node := range next {
				for _, b := range g.Before(node) {
					if !done[b] {
						t.Fatalf("%d ran before %d", node, b)
					}
				}
			}
			running = append(running, next...)
			if len(running) > limit || len(running) != p.Running() {
				t.Fatalf("%d run at once, want at most %d, it says %d", len(running), limit, p.Running())
			}
			if len(running) == 0 && len(p.Waiting()) == 0 {
				break
			}
			if len(running) == 0 || rapid.Bool().Draw(t, "wakes") {
				p.WakeAll()
				continue
			}
			i := rapid.IntRange(0, len(running)-1).Draw(t, "ends")
			node := running[i]
			running = slices.Delete(running, i, i+1)
			switch {
			case rapid.Bool().Draw(t, "waits"):
				p.Wait(node)
			case slices.Contains(broken, node):
				p.End(node, errBroken)
			default:
				done[node] = true
				p.End(node, nil)
			}
		}
		r := p.Result()
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

// Twenty thousand nodes, all of which wait once, are walked without trouble.
func TestProgressLarge(t *testing.T) {
	const n = 10_000
	var g dag.Graph[int]
	for i := range n {
		g.Edge(i, n+i%10)
		g.Edge(n+i%10, 2*n+i)
	}
	p, err := g.Begin()
	if err != nil {
		t.Fatal(err)
	}
	start, waited := time.Now(), map[int]bool{}
	for {
		next := p.Next(32, false)
		if len(next) == 0 && len(p.Waiting()) == 0 {
			break
		}
		if len(next) == 0 {
			p.WakeAll()
		}
		for _, node := range next {
			if waited[node] {
				p.End(node, nil)
			} else {
				waited[node] = true
				p.Wait(node)
			}
		}
	}
	if r := p.Result(); !r.OK() || len(r.Done) != 2*n+10 {
		t.Fatalf("%d nodes ended", len(r.Done))
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %s", took)
	}
}
