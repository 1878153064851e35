package engine

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testserver"
)

// A release that failed stays stopped for a driver that is no person, also where its wave went back by itself and in another process, while
// what it is made of is the same; nothing is written. A change, and a person, are tried.
func TestUnattendedStaysStopped(t *testing.T) {
	t.Parallel()
	for name, fleet := range map[string]string{"it failed": threeWaves, "it went back": backFleet} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clusters := []string{"eu", "us", "ap"}
			if fleet != threeWaves {
				clusters = []string{"a", "b", "c"}
			}
			s := newServed(t, fleet, nil, clusters...)
			s.applied(s.request())
			s.refuses(clusters[1])
			if _, err := s.run("two"); err == nil {
				t.Fatal("it did not fail")
			}
			s.servers[clusters[1]].Fault(nil)
			try := func(unattended bool) error {
				req := s.request()
				req.Unattended = unattended
				next := s.another()
				fp, err := next.Plan(t.Context(), req)
				if err == nil {
					_, err = next.Apply(t.Context(), fp, req)
				}
				return err
			}
			count := func() (n int) {
				for name := range s.servers {
					n += len(s.wrote(name))
				}
				return n
			}
			before := count()
			for range 2 {
				refusedFor(t, try(true), "not tried again by itself", "failed")
			}
			if now := count(); now != before {
				t.Errorf("%d requests were written", now-before)
			}
			s.write("app.yaml", strings.Replace(someMap, "one", "three", 1))
			if err := try(true); err != nil {
				t.Errorf("changed: %v", err)
			}
			s.servers[clusters[1]].Fault(testserver.Before(testserver.Writing("configmaps"), testserver.Body(403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)))
			if _, err := s.run("four"); err == nil {
				t.Fatal("it did not fail")
			}
			s.servers[clusters[1]].Fault(nil)
			if err := try(false); err != nil {
				t.Errorf("a person: %v", err)
			}
		})
	}
}
