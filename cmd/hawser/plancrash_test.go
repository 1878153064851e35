package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testfleet"
	"hawser.dev/hawser/internal/testseed"
)

// planLane tries points of death of saved plans, before or after the request.
type planLane struct {
	*rollbackLane
	back bool
}

// TestKilledSavedPlans kills applies of saved plans, of releases and of rollbacks, before and after requests to one of two
// clusters, and carries the same file out again: it goes on, both clusters are alike, the release is one, and once more
// nothing is written.
func TestKilledSavedPlans(t *testing.T) {
	t.Parallel()
	var points atomic.Int64
	var wg sync.WaitGroup
	for _, back := range []bool{false, true} {
		for _, after := range []bool{false, true} {
			wg.Go(func() {
				t.Run(fmt.Sprintf("back=%t,after=%t", back, after), func(t *testing.T) {
					s := newScene(t)
					l := &planLane{&rollbackLane{scene: s, on: []string{"staging", "production-eu"}, proxy: newKiller(t, "staging"), after: after}, back}
					l.kubeconfig("staging", l.proxy.URL, l.proxy.ca())
					s.files(rollbackCrash)
					for _, c := range l.on {
						s.worker(c, s.ns)
					}
					step, first := testseed.Deaths(t, map[bool]int{false: 9, true: 17}[back])
					points.Add(int64(l.try(step, first)))
				})
			})
		}
	}
	wg.Wait()
	t.Logf("%d points of death", points.Load())
	if points.Load() < 10 {
		t.Errorf("only %d points were tried", points.Load())
	}
}

// try plans to go to one version and the other, each time dying some requests later.
func (l *planLane) try(step, first int) (points int) {
	l.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
	l.edit("bundle.yaml", `v: "1"`, `v: "2"`)
	l.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
	for at, to := 1+first, 1; at < 200; at, to = at+step, 3-to {
		if l.back {
			l.want(0, "rollback", l.bundle, "--to", strconv.Itoa(to), "--fleet", "fleet.yaml", "--out", "saved.plan")
		} else {
			l.edit("bundle.yaml", fmt.Sprintf("v: %q", strconv.Itoa(3-to)), fmt.Sprintf("v: %q", strconv.Itoa(to)))
			l.want(0, "plan", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "--out", "saved.plan")
		}
		l.mark()
		died := l.proxy.kills(l.bench, []string{"apply", "saved.plan", "-y"}, at, l.after, 0)
		l.goesOn(at, to)
		if !died {
			break
		}
		points++
	}
	return points
}

// goesOn carries the same file out again, and looks at what both clusters have; then once more.
func (l *planLane) goesOn(at, to int) {
	l.t.Helper()
	where := fmt.Sprintf("to %d, killed at request %d (after=%t, back=%t)", to, at, l.after, l.back)
	r := l.run("apply", "saved.plan", "-y")
	if r.Code != 0 {
		l.t.Fatalf("%s: run again: %s", where, r)
	}
	for _, c := range l.on {
		l.wantData(c, "both", "v", strconv.Itoa(to))
		l.there(c, "only-"+strconv.Itoa(to))
		l.gone(c, "only-"+strconv.Itoa(3-to))
	}
	l.mark()
	if r = l.run("apply", "saved.plan", "-y"); r.Code != 0 {
		l.t.Fatalf("%s: once more: %s", where, r)
	}
	owner := object.OwnerID("", "", l.bundle)
	for _, c := range l.on {
		w := slices.DeleteFunc(writes(l.fleet.Audit(l.t, c, l.from[c])), func(e testfleet.AuditEntry) bool {
			return e.Namespace != l.ns && !strings.Contains(e.Path, owner) || e.Subresource == "status" // the worker's
		})
		if len(w) > 0 {
			l.t.Fatalf("%s: once more, and it writes on %s:\n%s", where, c, show(w))
		}
	}
}
