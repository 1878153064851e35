package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hawser.dev/hawser/internal/testserver"
)

// until waits for what is so in good time.
func until(what func() bool) bool {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if what() {
			return true
		}
	}
	return false
}

// TestWatchOutlivesAHostileServer: drift --watch goes on while a server that was good says anything whatever, shows nothing of secrets,
// sees drift again when it is good again, and ends with Ctrl-C.
func TestWatchOutlivesAHostileServer(t *testing.T) {
	if runsApart(t) {
		return
	}
	rig := newHostileRig(t)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %q was sent elsewhere", r.Method, r.URL.Path, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	requestLimit = 2 * time.Second
	t.Cleanup(func() { requestLimit = 0 })
	all := testserver.Hostile(other.URL)
	faults := map[string]func(*testserver.Server) testserver.Fault{"other UIDs": (*testserver.Server).OtherUIDs}
	for _, name := range []string{"html", "null", "wrong types", "other object", "null items", "deep", "bomb of text", "endless", "redirect 307"} {
		faults[name] = func(*testserver.Server) testserver.Fault { return all[name] }
	}
	faults["cut"] = func(*testserver.Server) testserver.Fault { return testserver.Cut }
	faults["silent"] = func(*testserver.Server) testserver.Fault { return testserver.Silent }
	var wg sync.WaitGroup
	for name, fault := range faults {
		wg.Go(func() { rig.watched(name, fault) })
	}
	wg.Wait()
}

func (rig *hostileRig) watched(name string, of func(*testserver.Server) testserver.Fault) {
	srv, dir := rig.ready(hostileLine{verb: "drift"})
	run := rig.start(srv, dir, "drift hostile --watch --interval 5s --fleet fleet.yaml")
	bad := func(what string) { rig.t.Errorf("%s: %s\n%.3000s", name, what, run.out.String()) }
	if !until(func() bool { return run.out.String() != "" }) {
		bad("no first look")
	}
	first, fault, hurt := len(run.out.String()), of(srv), new(atomic.Int64)
	srv.Fault(testserver.Before(func(r *http.Request) bool { return !testserver.Connecting(r) }, func(w http.ResponseWriter, r *http.Request) bool {
		hurt.Add(1)
		return fault(w, r)
	}))
	if !until(func() bool { return hurt.Load() > 0 && len(run.out.String()) > first }) {
		bad("nothing was said of a second look")
	}
	srv.Fault(nil)
	srv.Put("/api/v1/namespaces/default/configmaps/a", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": "default"}, "data": map[string]any{"v": "changed-by-hand"}})
	if !until(func() bool {
		return strings.Contains(run.out.String()[first:], "configmap") || strings.Contains(run.out.String()[first:], "ConfigMap")
	}) {
		bad("no drift is seen afterwards")
	}
	run.interrupt <- syscall.SIGINT
	select {
	case code := <-run.done:
		if code != 130 {
			bad("ends otherwise than by Ctrl-C")
		}
	case <-time.After(2 * time.Minute):
		bad("goes on after Ctrl-C")
	}
	if out := run.out.String(); strings.Contains(out, "canary-") || strings.Contains(out, "Y2FuYXJ5") || strings.Contains(out, "panic") || strings.Contains(out, "goroutine ") {
		bad("says what it must not")
	}
}
