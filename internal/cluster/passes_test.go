package cluster_test

import (
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/testfleet"
)

// writes are the requests of sessions of these tests that change something since an offset.
func writes(t *testing.T, from int64) (out []string) {
	t.Helper()
	for _, e := range mine(testfleet.Get().Audit(t, one, from)) {
		if e.Verb != "get" && e.Verb != "list" && e.Verb != "watch" && !strings.Contains(e.Path, "selfsubject") && !strings.Contains(e.Path, "dryRun") {
			out = append(out, e.Verb+" "+e.Path)
		}
	}
	return out
}

// waken gives a request something that is told when the next pass may have something to do.
func waken(req *cluster.ExecuteRequest) <-chan struct{} {
	woken := make(chan struct{}, 1)
	req.OnWake = func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	return woken
}

// awaken fails the test unless the next pass of an execution has something to do in time.
func awaken(t *testing.T, woken <-chan struct{}) {
	t.Helper()
	select {
	case <-woken:
	case <-time.After(time.Minute):
		t.Fatal("nobody woke it")
	}
}

// A pass does what can be done, and returns what it waits for; passes that find nothing new write nothing. When what holds it back is gone the
// next one goes on where it was: nothing is deleted or written twice, and what comes after it is done.
func TestPassesOfAnExecution(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	immutable := strings.Replace(cmA, "kind: ConfigMap", "kind: ConfigMap\nimmutable: true", 1)
	b.apply(t, s, objs(t, ns, immutable)...)
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	b.opts.Recreate = true
	p, bodies := b.plan(t, s, objs(t, ns, strings.Replace(immutable, "x: ", "x: other-", 1)+"\n---\n"+scaled))
	from := f.AuditOffset(t, one)
	req := b.request(p, bodies)
	woken := waken(&req)
	x := s.Begin(req)
	defer x.Close()
	held := func() bool {
		t.Helper()
		_, waits := x.Pass(t.Context())
		for _, w := range waits {
			if w.Since.IsZero() || w.Wake.Before(w.Since) || w.Why == "" || w.Instance != "app" {
				t.Errorf("%+v", w)
			}
			if w.Ref.Kind == "ConfigMap" {
				return true
			}
		}
		return false
	}
	if !held() {
		t.Fatal("it does not wait for what is held")
	}
	for range 3 {
		if !held() {
			t.Fatal("it waits no more")
		}
	}
	if got := strings.Join(writes(t, from), "\n"); strings.Count(got, "delete ") != 1 || strings.Count(got, "/configmaps/a") != 1 {
		t.Errorf("written:\n%s", got)
	}
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"finalizers":null}}`)
	for {
		r, waits := x.Pass(t.Context())
		if len(waits) == 0 {
			mustOK(t, r)
			break
		}
		awaken(t, woken)
	}
	if got := strings.Join(writes(t, from), "\n"); strings.Count(got, "delete ") != 1 || strings.Count(got, "/configmaps/a") != 2 || strings.Count(got, "/deployments/api") != 1 {
		t.Errorf("written:\n%s", got)
	}
	if again, waits := x.Pass(t.Context()); len(waits) > 0 || !again.OK() {
		t.Errorf("over, it says %+v", again)
	}
}

// A pass that waits and is dropped leaves what it did; another execution of what is left goes on with it.
func TestExecutionThatIsDropped(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, cmA)...)
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	b.opts.Deleting = true
	p, _ := b.plan(t, s, nil)
	x := s.Begin(b.request(p, nil))
	if _, waits := x.Pass(t.Context()); len(waits) != 1 {
		t.Fatalf("%+v", waits)
	}
	x.Close()
	patch(t, "someone", configMaps, ns, "a", `{"metadata":{"finalizers":null}}`)
	if r := b.delete(t, s); !r.OK() || len(r.Inventory) != 0 {
		t.Errorf("%+v", r)
	}
}
