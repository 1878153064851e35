package main

import (
	"fmt"
	"maps"
	"net/http"
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

// rollbackCrash is a bundle of two releases on two clusters: what changes, what only one of them has, and hooks of rollbacks. All its
// revisions are kept, so that a test goes to and fro between the first two.
const rollbackCrash = `
-- fleet.yaml --
fleet: {apiVersion: v1alpha1, name: $B, clusters: {staging: {group: all, kubeContext: staging}, production-eu: {group: all, kubeContext: production-eu}}}
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  revisionHistoryLimit: 100
  instances: {web: {helm: {chart: ./chart}, namespace: $NS, values: {v: "1"}}}
-- chart/Chart.yaml --
apiVersion: v2
name: crash
version: 1.0.0
-- chart/values.yaml --
v: "1"
-- chart/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: both}
data: {v: {{ .Values.v | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: only-{{ .Values.v }}}
---
{{- range $name, $of := dict "undo" (list "pre-rollback" "before-hook-creation") "undone" (list "post-rollback" "hook-succeeded") }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  annotations: {helm.sh/hook: "{{ index $of 0 }}", helm.sh/hook-delete-policy: {{ index $of 1 }}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "example.com/{{ $name }}:{{ $.Values.v }}"}]
---
{{- end }}
`

// rollbackLane tries every point of death of rollbacks, before or after the request.
type rollbackLane struct {
	*scene
	on    []string // the first is reached by the proxy
	proxy *killer
	after bool
}

// TestKilledRollbacks kills rollbacks before and after requests to one of two clusters, spread over the whole run, and runs them
// again: they converge, both clusters are alike, and nothing was made twice nor any hook run twice.
func TestKilledRollbacks(t *testing.T) {
	t.Parallel()
	step, first := testseed.Deaths(t, 13) // all of them take ten minutes
	var points atomic.Int64
	var wg sync.WaitGroup
	for _, after := range []bool{false, true} {
		wg.Go(func() {
			t.Run(fmt.Sprintf("after=%t", after), func(t *testing.T) {
				s := newScene(t)
				l := &rollbackLane{scene: s, on: []string{"staging", "production-eu"}, proxy: newKiller(t, "staging"), after: after}
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
	if points.Load() < 8 {
		t.Errorf("only %d points were tried", points.Load())
	}
}

// try applies both releases, and goes back to one and the other, each time dying a step later.
func (l *rollbackLane) try(step, first int) (points int) {
	l.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
	l.edit("bundle.yaml", `v: "1"`, `v: "2"`)
	l.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
	for at, to := 1+first, 1; at < 200; at, to = at+step, 3-to {
		l.mark()
		died := l.proxy.kills(l.bench, l.args(to), at, l.after, 0)
		l.converges(at, to, points%8 == 0)
		if !died {
			break
		}
		points++
	}
	return points
}

func (l *rollbackLane) args(to int) []string {
	return []string{"rollback", l.bundle, "--to", strconv.Itoa(to), "--fleet", "fleet.yaml", "-y"}
}

// converges runs the rollback again and looks at what both clusters have, and at what was made since the mark; and once more, where that is asked for.
func (l *rollbackLane) converges(at, to int, once bool) {
	l.t.Helper()
	where := fmt.Sprintf("to %d, killed at request %d (after=%t)", to, at, l.after)
	r := l.run(l.args(to)...)
	if r.Code != 0 {
		l.t.Fatalf("%s: run again: %s", where, r)
	}
	want := map[string]int{"configmaps/only-" + strconv.Itoa(to): 1, "jobs/undo": 1, "jobs/undone": 1}
	for _, c := range l.on {
		if got := l.made(c); !maps.Equal(got, want) {
			l.t.Fatalf("%s: made on %s: %v, want %v\n%s", where, c, got, want, r)
		}
		l.wantData(c, "both", "v", strconv.Itoa(to))
		l.gone(c, "only-"+strconv.Itoa(3-to))
		if jobs := l.jobs(c); !slices.Equal(jobs, []string{"undo"}) {
			l.t.Fatalf("%s: jobs %q are left on %s", where, jobs, c)
		}
	}
	if l.after && once {
		l.quiet(where, to)
	}
}

// made is how often each object was created in the namespace since the mark, as the audit log tells.
func (l *rollbackLane) made(cluster string) map[string]int {
	out := map[string]int{}
	for _, e := range writes(l.fleet.Audit(l.t, cluster, l.from[cluster])) {
		if e.Namespace == l.ns && e.Subresource == "" && e.Verb == "patch" && e.Status == http.StatusCreated && (e.Resource == "jobs" || e.Resource == "configmaps") {
			out[e.Resource+"/"+e.Name]++
		}
	}
	return out
}

// quiet runs it once more: nothing is written for the bundle.
func (l *rollbackLane) quiet(where string, to int) {
	l.t.Helper()
	l.mark()
	l.want(0, l.args(to)...)
	owner := object.OwnerID("", "", l.bundle)
	for _, c := range l.on {
		w := slices.DeleteFunc(writes(l.fleet.Audit(l.t, c, l.from[c])), func(e testfleet.AuditEntry) bool {
			return e.Namespace != l.ns && !strings.Contains(e.Path, owner)
		})
		if w = slices.DeleteFunc(w, func(e testfleet.AuditEntry) bool { return e.Subresource == "status" }); len(w) > 0 { // the worker's
			l.t.Fatalf("%s: the run after convergence writes on %s:\n%s", where, c, show(w))
		}
	}
}
