package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/testseed"
)

// correctionLane tries points of death of drift corrections, before or after the request.
type correctionLane struct{ *rollbackLane }

// TestKilledCorrections kills drift corrections before and after requests to one of two clusters and runs them again: both clusters are as released, each object was put
// right once and no hook ran, nothing drifts, and the release is the one that there was, with one note of each correction, which ended well.
func TestKilledCorrections(t *testing.T) {
	t.Parallel()
	step, first := testseed.Deaths(t, 12)
	var points atomic.Int64
	var wg sync.WaitGroup
	for _, after := range []bool{false, true} {
		wg.Go(func() {
			t.Run(fmt.Sprintf("after=%t", after), func(t *testing.T) {
				s := newScene(t)
				l := &correctionLane{&rollbackLane{scene: s, on: []string{"staging", "production-eu"}, proxy: newKiller(t, "staging"), after: after}}
				l.kubeconfig("staging", l.proxy.URL, l.proxy.ca())
				s.files(rollbackCrash)
				for _, c := range l.on {
					s.worker(c, s.ns)
				}
				points.Add(int64(l.try(step, first)))
			})
		})
	}
	wg.Wait()
	t.Logf("%d points of death", points.Load())
	if points.Load() < 4 {
		t.Errorf("only %d points were tried", points.Load())
	}
}

// try has others change both clusters, and corrects that, each time dying some requests later.
func (l *correctionLane) try(step, first int) (points int) {
	l.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
	args := []string{"drift", l.bundle, "--fleet", "fleet.yaml", "--correct", "-y", "-m"}
	for at := 1 + first; at < 200; at += step {
		for _, c := range l.on {
			l.admin(c, http.MethodPatch, "api/v1/namespaces/$NS/configmaps/both", `{"data":{"v":"edited"}}`, "fieldManager", "somebody")
			l.admin(c, http.MethodDelete, "api/v1/namespaces/$NS/configmaps/only-1", "")
		}
		l.mark()
		why := fmt.Sprintf("at %d", at)
		died := l.proxy.kills(l.bench, append(args, why), at, l.after, 0)
		l.corrected(append(args, why), why)
		if !died {
			break
		}
		points++
	}
	return points
}

// corrected runs the correction again and looks at what both clusters have, at what was written since the mark, and at the note of it.
func (l *correctionLane) corrected(args []string, why string) {
	l.t.Helper()
	where := fmt.Sprintf("killed %s (after=%t)", why, l.after)
	r := l.want(0, args...)
	for _, c := range l.on {
		l.wantData(c, "both", "v", "1")
		l.there(c, "only-1")
		if got, want := l.put(c), map[string]int{"configmaps/both": 1, "configmaps/only-1": 1}; !maps.Equal(got, want) {
			l.t.Fatalf("%s: put right on %s: %v, want %v\n%s", where, c, got, want, r)
		}
	}
	l.want(0, "drift", l.bundle, "--fleet", "fleet.yaml")
	var h history.History
	if err := json.Unmarshal([]byte(l.want(0, "history", l.bundle, "--fleet", "fleet.yaml", "-o", "json").Stdout), &h); err != nil {
		l.t.Fatal(err)
	}
	if len(h.Bundles) != 1 || len(h.Bundles[0].Releases) != 1 || h.Bundles[0].Releases[0].State != history.Succeeded {
		l.t.Fatalf("%s: %+v", where, h)
	}
	for _, c := range h.Bundles[0].Releases[0].Clusters {
		notes := 0
		for _, n := range c.Corrections {
			if n.Finished.IsZero() {
				l.t.Errorf("%s: on %s a correction has not ended well: %+v", where, c.Cluster, n)
			}
			if n.Message == why {
				notes++
			}
		}
		if notes != 1 {
			l.t.Errorf("%s: on %s it is noted %d times: %+v", where, c.Cluster, notes, c.Corrections)
		}
	}
}

// put is how often each object of the namespace was written since the mark, by the product, as the audit log tells.
func (l *correctionLane) put(cluster string) map[string]int {
	out := map[string]int{}
	for _, e := range writes(l.fleet.Audit(l.t, cluster, l.from[cluster])) {
		if e.Namespace == l.ns && e.Subresource == "" && e.Status < http.StatusBadRequest {
			out[e.Resource+"/"+e.Name]++
		}
	}
	return out
}
