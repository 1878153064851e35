package main

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hawser.dev/hawser/internal/object"
)

func (s *scene) lease(cluster string) *item {
	s.t.Helper()
	return s.get(cluster, "apis/coordination.k8s.io/v1/namespaces/"+object.SystemNamespace+"/leases/hawser-"+object.OwnerID("", "", s.bundle))
}

// Ctrl-C once: nothing new is started, the cluster in work is finished and recorded. The next run does the rest.
func TestFault02CtrlCOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultFleet + faultBundle)
	reached, release := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(reached) })
	s.interpose("staging", func(_ http.ResponseWriter, r *http.Request, pass func()) {
		if writesOf(r, "configmaps") {
			once()
			<-release
		}
		pass()
	})
	s.mark()
	p := s.start(onFleet("apply", "-y")...)
	await(t, "a write to staging", reached)
	p.interrupt()
	time.Sleep(300 * time.Millisecond)
	p.running("while a write was in flight")
	close(release)
	r := p.end()
	s.exits(r, 130)
	s.there("staging", "a", "b")
	s.untouched("production-eu", "production-us")
	s.has(r.Stdout+r.Stderr, "not started", "interrupted")
	s.unlocked("staging")

	s.mark()
	s.want(0, onFleet("apply", "-y")...)
	s.untouched("staging")
	for _, c := range clusters {
		s.there(c, "a", "b")
	}
}

// Ctrl-C while objects are waited for: waiting is given up, what was written is recorded.
func TestFault02CtrlCWhileWaiting(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle + faultDeployment)
	p := s.start(onOne("staging", "apply", "-y", "--timeout", "15m")...)
	eventually(t, "the Deployment is written", func() bool {
		return s.get("staging", "apis/apps/v1/namespaces/$NS/deployments/api") != nil
	})
	time.Sleep(500 * time.Millisecond)
	p.running("while the Deployment was not ready")
	p.interrupt()
	r := p.end()
	s.exits(r, 130)
	if r.Elapsed > 10*time.Minute {
		t.Errorf("the run went on for %s", r.Elapsed)
	}
	s.unlocked("staging")
	s.has(s.want(4, "status", s.bundle, "--kube-context", "staging").Stdout, "api")
}

// Ctrl-C twice: the process ends at once, in the middle of a write, and the next run resumes.
func TestFault02CtrlCTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	reached, release := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(reached) })
	px := s.interpose("staging", func(_ http.ResponseWriter, r *http.Request, pass func()) {
		if writesOf(r, "configmaps") {
			once()
			<-release
		}
		pass()
	})
	defer close(release)
	p := s.start(onOne("staging", "apply", "-y")...)
	await(t, "a write to staging", reached)
	p.interrupt()
	time.Sleep(200 * time.Millisecond)
	again := time.Now()
	p.interrupt()
	r := p.end()
	s.exits(r, 130)
	if took := time.Since(again); took > 25*time.Second {
		t.Errorf("the second Ctrl-C took %s", took)
	}
	px.set(nil)
	s.has(s.want(0, onOne("staging", "plan")...).Stdout, "Resumes a run that ended in the middle")
	s.want(0, onOne("staging", "apply", "-y")...)
	s.there("staging", "a", "b")
	s.unlocked("staging")
	s.mark()
	s.want(0, onOne("staging", "apply", "-y")...)
	s.untouched("staging")
}

// Two runs on one release: the first has the lock, the second fails at once, names the holder and writes nothing.
func TestFault23TwoRuns(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	reached, release := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(reached) })
	s.interpose("staging", func(_ http.ResponseWriter, r *http.Request, pass func()) {
		if writesOf(r, "configmaps") {
			once()
			<-release
		}
		pass()
	})
	s.env = append(s.env, "HAWSER_AUTHOR=alice@laptop")
	first := s.start(onOne("staging", "apply", "-y")...)
	await(t, "the first run writes", reached)
	s.env = append(s.env, "HAWSER_AUTHOR=bob@ci")
	second := s.run(onOne("staging", "apply", "-y")...)
	first.running("while its write was held")
	s.exits(second, 5)
	s.has(second.Stdout+second.Stderr, "alice@laptop")
	s.gone("staging", "a", "b")
	close(release)
	s.exits(first.end(), 0)
	s.there("staging", "a", "b")
	s.unlocked("staging")
	s.want(0, onOne("staging", "apply", "-y")...)
}

// Many runs at the same moment: one wins, nothing is done twice, no lock is left.
func TestFault23Race(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	s.mark()
	var all []*process
	for range 4 {
		all = append(all, s.start(onOne("staging", "apply", "-y")...))
	}
	won := 0
	for _, p := range all {
		r := p.end()
		switch {
		case r.Code == 0:
			won++
		case r.Code != 5:
			t.Errorf("a loser did not say that it was refused: %s", r)
		}
	}
	if won == 0 {
		t.Error("nobody won")
	}
	created := map[string]int{}
	for _, e := range s.writes("staging") {
		if e.Status == 201 && e.Resource == "configmaps" {
			created[e.Name]++
		}
	}
	for _, n := range []string{"a", "b"} {
		if created[n] != 1 {
			t.Errorf("ConfigMap %s was created %d times", n, created[n])
		}
	}
	if n := strings.Count(show(s.writes("staging")), `"PATCH"`); n > 3 { // namespace, a, b
		t.Errorf("%d applies were sent for 3 objects:\n%s", n, show(s.writes("staging")))
	}
	s.unlocked("staging")
}
