package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"hawser.dev/hawser/internal/testserver"
)

// delivered tells what the server has of the bundle: "one", "two", "nothing", or a mixture.
func (rig *hostileRig) delivered(srv *testserver.Server) string {
	var has []string
	for _, path := range []string{"configmaps/a", "configmaps/b", "configmaps/gone", "secrets/s"} {
		obj := srv.Object("/api/v1/namespaces/default/" + path)
		switch text := fmt.Sprint(obj["data"]); {
		case obj == nil:
		case path == "configmaps/gone":
			has = append(has, "what should be gone")
		case strings.Contains(text, "two") || strings.Contains(text, "Y2FuYXJ5LWluLWEtYm9keS10d28"):
			has = append(has, "two")
		default:
			has = append(has, "one")
		}
	}
	switch all := strings.Join(has, ", "); all {
	case "":
		return "nothing"
	case "two, two, two":
		return "two"
	default:
		return all
	}
}

// rightInItself are the faults whose answers are whole and fit together: a verb that only reads may take them for what is there.
var rightInItself = map[string]bool{"other UIDs": true, "another cluster": true}

// meets counts the hostile answers that a line had, by what they were answers to.
func (rig *hostileRig) meets(c hostileCase, times int64) {
	_, to, _ := strings.Cut(c.fault, ", ")
	n, _ := rig.met.LoadOrStore([2]string{c.line, to}, new(atomic.Int64))
	if n, ok := n.(*atomic.Int64); ok {
		n.Add(times)
	}
}

// everyLineMet: every line had hostile answers, and one that writes had some to its writes, to its objects and after them: a test in which nothing happens
// shows nothing.
func (rig *hostileRig) everyLineMet() {
	rig.t.Helper()
	for _, line := range rig.verbs {
		to := []string{""}
		if line.writes != "" {
			to = append(to, "once connected, to writes", "to objects", "after the work was done")
		}
		for _, what := range to {
			n, _ := rig.met.Load([2]string{line.line, what})
			if n, ok := n.(*atomic.Int64); !ok || n.Load() == 0 {
				rig.t.Errorf("%s: no hostile answer was met (%q)", line.line, what)
			}
		}
	}
}

// slow: a server that answers a byte at a time, or nothing, costs a verb no more than its time-outs, and Ctrl-C ends it
// at once, whatever it waits for.
func (rig *hostileRig) slow() {
	always := func(*http.Request) bool { return true }
	connected := func(r *http.Request) bool { return !testserver.Connecting(r) }
	var cases []hostileCase
	for _, line := range rig.verbs {
		cases = append(cases, hostileCase{line, "drip at once", always, testserver.Drip(100 * time.Millisecond), nil, false, true},
			hostileCase{line, "drip", connected, testserver.Drip(100 * time.Millisecond), nil, false, true},
			hostileCase{line, "silent", connected, testserver.Silent, nil, false, true})
	}
	var wg sync.WaitGroup
	wg.Go(func() { rig.all(len(cases), cases) })
	for _, line := range rig.verbs {
		wg.Go(func() { rig.interrupted(line, always) })
		wg.Go(func() { rig.interrupted(line, connected) })
	}
	wg.Wait()
}

// interrupted sends an interrupt when the server hangs.
func (rig *hostileRig) interrupted(c hostileLine, when func(*http.Request) bool) {
	srv, dir := rig.ready(c)
	hangs := make(chan struct{}, 1000)
	srv.Fault(testserver.Before(when, func(w http.ResponseWriter, r *http.Request) bool {
		hangs <- struct{}{}
		return testserver.Silent(w, r)
	}))
	run := rig.start(srv, dir, c.line)
	select {
	case <-hangs:
	case code := <-run.done:
		if code != 0 {
			rig.t.Errorf("%s: exit %d and nothing hung\n%s", c.line, code, run.out.String())
		}
		return
	case <-time.After(5 * time.Minute):
		rig.t.Errorf("%s: nothing was asked", c.line)
		return
	}
	start := time.Now()
	run.interrupt <- syscall.SIGINT
	select {
	case code := <-run.done:
		if code != 130 || time.Since(start) > 2*time.Minute {
			rig.t.Errorf("%s: exit %d, %s after Ctrl-C\n%.2000s", c.line, code, time.Since(start), run.out.String())
		}
	case <-time.After(5 * time.Minute):
		rig.t.Errorf("%s: goes on after Ctrl-C\n%.2000s", c.line, run.out.String())
	}
}

// contactNobody: what takes the flags of access and says that it contacts nobody does not.
func (rig *hostileRig) contactNobody() {
	for verb, line := range quietVerbs {
		srv, dir := rig.ready(hostileLine{verb: verb, line: line})
		run := rig.start(srv, dir, line)
		if code := <-run.done; code != 0 || len(srv.Requests()) > 0 {
			rig.t.Errorf("hawser %s: exit %d, asked %v\n%s", verb, code, srv.Requests(), run.out.String())
		}
	}
}
