//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A run that was suspended for longer than its lock lives sends nothing when it goes on, as another run has been there since:
// neither what waited for its turn, nor what would be sent again, nor a record.
func TestFault24Suspended(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(faultBundle)
	const many = 60
	for i := range many {
		s.write(fmt.Sprintf("m/c%d.yaml", i), fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i))
	}
	reached, woken := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(reached) })
	px := s.interpose("staging", func(w http.ResponseWriter, r *http.Request, pass func()) {
		if !writesOf(r, "configmaps") {
			pass()
			return
		}
		once()
		<-woken
		status(w, http.StatusServiceUnavailable, "ServiceUnavailable", "not now") // it is asked again
	})
	first := s.start(onOne("staging", "apply", "-y")...)
	await(t, "the first run writes", reached)
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	px.set(nil)
	for i := range many {
		if err := os.Remove(filepath.Join(s.dir, fmt.Sprintf("m/c%d.yaml", i))); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(3 * time.Second) { // until the lock has expired
		r := s.run(onOne("staging", "apply", "-y")...)
		if r.Code == 0 {
			break
		}
		if s.exits(r, 5); time.Now().After(end) {
			t.Fatalf("the lock does not expire: %s", r)
		}
	}
	s.there("staging", "a", "b")
	s.mark()
	close(woken)
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	r := first.end()
	s.exits(r, 1)
	s.has(r.Stdout+r.Stderr, "the lock was lost")
	if strings.Contains(r.Stdout+r.Stderr, "hawser rollback") {
		t.Errorf("a rollback would undo what the other run has delivered: %s", r)
	}
	for _, e := range s.writes("staging") {
		if e.Resource != "leases" {
			t.Errorf("written after the lock was lost: %s", show(s.writes("staging")))
			break
		}
	}
	s.gone("staging", "c0", "c59")
	s.mark()
	s.want(0, onOne("staging", "apply", "-y")...)
	s.untouched("staging")
}
