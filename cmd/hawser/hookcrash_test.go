package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/testfleet"
	"hawser.dev/hawser/internal/testseed"
)

// hookCrashChart has a migration before installations and upgrades and a notice after them, one of them gone when it
// has succeeded, and a farewell before the removal; what only one version has is deleted when the hooks have run.
const hookCrashChart = `
-- chart/Chart.yaml --
apiVersion: v2
name: crash
version: 1.0.0
-- chart/values.yaml --
v: "1"
-- chart/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
data: {v: {{ .Values.v | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: only-{{ .Values.v }}}
---
{{- range $name, $of := dict "migrate" (list "pre-install,pre-upgrade" "before-hook-creation") "notice" (list "post-install,post-upgrade" "hook-succeeded") "bye" (list "pre-delete" "before-hook-creation") }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  annotations: {helm.sh/hook: "{{ index $of 0 }}", helm.sh/hook-delete-policy: {{ index $of 1 }}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "example.com/work:1"}]
---
{{- end }}
`

// hookCrash kills applies of a bundle with hooks, and its removal.
type hookCrash struct {
	*scene
	cluster string
	proxy   *killer
	config  string
}

func (l *hookCrash) args(verb string) []string {
	return []string{verb, "-f", "bundle.yaml", "--kubeconfig", l.config, "--kube-context", l.cluster, "--yes"}
}

// dies runs a verb and kills it at one request; false when it ended before that.
func (l *hookCrash) dies(verb string, at int, after bool) bool {
	return l.proxy.kills(l.bench, l.args(verb), at, after, 0)
}

// created is how often each Job was created since the mark, as the audit log tells.
func (l *hookCrash) created() map[string]int {
	out := map[string]int{}
	for _, e := range testfleet.Get().Audit(l.t, l.cluster, l.from[l.cluster]) {
		if e.Namespace == l.ns && e.Resource == "jobs" && e.Subresource == "" && e.Verb == "patch" && e.Status == http.StatusCreated {
			out[e.Name]++
		}
	}
	return out
}

// converges runs the verb again: it succeeds, and counted from the mark on every hook ran exactly as often as wanted.
func (l *hookCrash) converges(verb, where string, want map[string]int) {
	l.t.Helper()
	l.want(0, l.args(verb)...)
	if got := l.created(); !maps.Equal(got, want) {
		l.t.Fatalf("%s: hooks ran %v, want %v", where, got, want)
	}
}

// TestHooksKilledAtEveryRequest kills the process before and after every single request of an installation with hooks,
// of an upgrade and of the removal, and runs it again: it converges, and every hook has run exactly once.
func TestHooksKilledAtEveryRequest(t *testing.T) {
	t.Parallel()
	step, first := testseed.Deaths(t, 40)
	s := newScene(t)
	l := &hookCrash{scene: s, cluster: "production-us", proxy: newKiller(t, "production-us")}
	l.config = l.kubeconfig(l.cluster, l.proxy.URL, l.proxy.ca())
	s.files(hookCrashChart)
	s.worker(l.cluster, s.ns)
	bundle := func(v string) {
		s.files("\n-- bundle.yaml --\nbundle: {apiVersion: v1alpha1, name: $B, instances: {web: {helm: {chart: ./chart}, namespace: $NS, values: {v: \"" + v + "\"}}}}\n")
	}
	points := 0
	for at := 1 + first; at < 200; at += step {
		reached := false
		for _, after := range []bool{false, true} {
			for _, c := range []struct {
				verb, v string
				want    map[string]int
			}{
				{"apply", "1", map[string]int{"migrate": 1, "notice": 1}},
				{"apply", "2", map[string]int{"migrate": 1, "notice": 1}},
				{"delete", "2", map[string]int{"bye": 1}},
			} {
				bundle(c.v)
				s.mark()
				if l.dies(c.verb, at, after) {
					reached = true
					points++
				}
				where := fmt.Sprintf("%s v%s killed at request %d (after=%t)", c.verb, c.v, at, after)
				if c.verb == "delete" && l.removed() {
					continue // killed with its last request
				}
				l.converges(c.verb, where, c.want)
				l.leaves(c.verb, where)
			}
		}
		if !reached {
			break
		}
	}
	t.Logf("%d points of death", points)
	if points < 15 {
		t.Errorf("only %d points were tried", points)
	}
}

// removed reports that nothing of the bundle is recorded any more.
func (l *hookCrash) removed() bool {
	return len(list(l.t, l.client(l.cluster), "api/v1/namespaces/"+object.SystemNamespace+"/secrets", object.LabelOwner+"="+object.OwnerID("", "", l.bundle))) == 0
}

// leaves checks what stays: the migration until it runs again, nothing after the removal.
func (l *hookCrash) leaves(verb, where string) {
	l.t.Helper()
	want := []string{"migrate"}
	if verb == "delete" {
		want = nil
	}
	if got := l.jobs(l.cluster); !slices.Equal(got, want) {
		l.t.Fatalf("%s: jobs %q are left, want %q", where, got, want)
	}
}
