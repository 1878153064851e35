package engine

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/testserver"
)

// killed lets the servers together answer the first n requests, locks apart; what comes after them is not carried out, as of a process
// that was killed, and no lock stays. With done the last one is carried out and not answered. besides is what a server answers in its own
// stead. It returns how many came.
func (s *served) killed(n int64, done bool, besides map[string]testserver.Fault) *atomic.Int64 {
	var came atomic.Int64
	gone := testserver.Body(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"gone","code":403}`)
	for name, server := range s.servers {
		server.Fault(func(w http.ResponseWriter, r *http.Request) bool {
			at := came.Load()
			if !strings.Contains(r.URL.Path, "/leases") {
				at = came.Add(1)
			}
			own := besides[name]
			switch {
			case at > n:
				return gone(w, r)
			case at == n && done && (own == nil || !testserver.Writing("configmaps")(r)):
				return server.Lost(gone)(w, r)
			case at == n:
				return gone(w, r)
			}
			return own != nil && own(w, r)
		})
	}
	return &came
}

// revive serves as before.
func (s *served) revive(besides map[string]testserver.Fault) {
	for name, server := range s.servers {
		server.Fault(besides[name])
	}
}

// byPasses carries out what the files say, each pass in a process of its own, which is gone then: soaks are waited out, and what waits for
// an approval gets it.
func (s *served) byPasses(later func(time.Duration)) error {
	for range 10 {
		next := s.another()
		next.Now = s.Now
		fp, err := next.Plan(s.t.Context(), s.request())
		if err != nil {
			return err
		}
		o, err := next.Begin(s.t.Context(), fp, s.request())
		if err != nil {
			return err
		}
		w := o.Pass(s.t.Context())
		switch {
		case w == nil:
			_, err := o.End()
			return err
		case w.On == rollout.ForSoak:
			later(11 * time.Minute)
		case w.On == rollout.ForApproval:
			req := s.request()
			docs(&req).Files, req.Bundle = nil, "shop"
			if _, err := next.Say(s.t.Context(), req, release.Approve, "", func(*release.Saying) error { return nil }); err != nil {
				return err
			}
		default:
			return fmt.Errorf("it waits for %s", w.On)
		}
		fp.run.close()
	}
	return errors.New("it does not end")
}

// A rollout that soaks and waits for an approval is killed before or after each of its requests, those of the approval too, and gone on with
// by other processes, one for each pass: it ends as it would have, as one release, and no object is made twice.
func TestPassesKilledAtEveryRequest(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		for lane := range int64(4) {
			t.Run(fmt.Sprintf("done=%t/%d", done, lane), func(t *testing.T) {
				t.Parallel()
				for n, died := lane+1, true; died; n += 4 {
					s := newServed(t, "    a: {group: first, kubeContext: a}\n    b: {group: second, kubeContext: b}\n"+
						"  rollout: {waves: [{groups: [first], soak: 10m}, {name: prod, groups: [second], approval: manual}]}\n", nil, "a", "b")
					var ahead atomic.Int64
					s.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
					later := func(d time.Duration) { ahead.Add(int64(d)) }
					came := s.killed(n, done, nil)
					err := s.byPasses(later)
					if died = came.Load() >= n; !died && err != nil {
						t.Fatal(err)
					}
					s.revive(nil)
					if err := s.byPasses(later); err != nil {
						t.Fatalf("killed at request %d, and again: %v", n, err)
					}
					if rel := s.releases(); !slices.Equal(rel, []string{"1 succeeded on a b"}) {
						t.Errorf("killed at request %d: %v", n, rel)
					}
					for name := range s.servers {
						if wrote := carriedOut(s.wrote(name), "configmaps/a"); wrote < 1 || wrote > 2 {
							t.Errorf("killed at request %d: written %d times on %s", n, wrote, name)
						}
					}
					if n > 400 {
						t.Fatal("it does not end")
					}
				}
			})
		}
	}
}

func carriedOut(wrote []string, path string) (n int) {
	for _, request := range wrote {
		if strings.HasPrefix(request, "PATCH ") && strings.Contains(request, path) {
			n++
		}
	}
	return n
}

// A rollout whose second wave fails and goes back is killed before or after each of its requests, those of the rollback too. Run again,
// it fails and goes back again: what the wave before has stays, and the clusters of the wave that failed have what they had.
func TestRollbackOfAFailedWaveKilledAtEveryRequest(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		for lane := range int64(4) {
			t.Run(fmt.Sprintf("done=%t/%d", done, lane), func(t *testing.T) {
				t.Parallel()
				for n, died := lane+1, true; died; n += 4 {
					s := newServed(t, backFleet, nil, "a", "b", "c")
					s.applied(s.request())
					no := map[string]testserver.Fault{"c": testserver.Before(testserver.Writing("configmaps"),
						testserver.Body(http.StatusForbidden, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"a policy says no","code":403}`))}
					s.write("app.yaml", strings.Replace(someMap, "one", "two", 1))
					carry := func() error {
						next := s.another()
						fp, err := next.Plan(t.Context(), s.request())
						if err == nil {
							_, err = next.Apply(t.Context(), fp, s.request())
						}
						return err
					}
					came := s.killed(n, done, no)
					if err := carry(); err == nil {
						t.Fatal("it did not fail")
					}
					died = came.Load() >= n
					s.revive(no)
					if err := carry(); err == nil {
						t.Fatalf("killed at request %d: it did not fail again", n)
					}
					if got := s.values("a", "b", "c"); got != "a=two b=one c=one" {
						t.Errorf("killed at request %d: %s, %v", n, got, s.releases())
					}
					if n > 400 {
						t.Fatal("it does not end")
					}
				}
			})
		}
	}
}
