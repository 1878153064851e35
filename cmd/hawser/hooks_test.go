package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// hookChart is a chart with a ConfigMap, an account and a migration before installations and upgrades, a notice after
// them, a farewell before the removal, and a test. image is that of the migration, testImage that of the test.
const hookChart = `
-- chart/Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0
-- chart/values.yaml --
v: "1"
image: example.com/migrate:1
testImage: example.com/test:1
-- chart/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {v: {{ .Values.v | quote }}}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: migrate
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-weight: "-5"
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
---
{{- range $name, $of := dict "migrate" (list "pre-install,pre-upgrade" .Values.image "before-hook-creation") "notice" (list "post-install,post-upgrade" "example.com/notice:1" "hook-succeeded") "bye" (list "pre-delete" "example.com/bye:1" "before-hook-creation") }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  annotations:
    helm.sh/hook: {{ index $of 0 }}
    helm.sh/hook-delete-policy: {{ index $of 2 }}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: {{ index $of 1 | quote }}}]
---
{{- end }}
apiVersion: v1
kind: Pod
metadata: {name: test, annotations: {helm.sh/hook: test}}
spec:
  restartPolicy: Never
  containers: [{name: main, image: {{ .Values.testImage | quote }}}]
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    web:
      helm: {chart: ./chart}
      namespace: $NS
      values: {v: "1"}
    after: {manifests: {paths: [./after]}, namespace: $NS, dependsOn: [web]}
-- after/after.yaml --
{apiVersion: v1, kind: ConfigMap, metadata: {name: after}, data: {v: "1"}}
`

// worker plays the controllers of Jobs and Pods in one namespace, until the test ends: the cluster has none. What has
// "crashing" in its image fails, what has "endless" runs for ever, everything else completes.
func (s *scene) worker(cluster, namespace string) {
	client := s.client(cluster)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	s.t.Cleanup(func() { cancel(); wg.Wait() })
	wg.Go(func() {
		for ctx.Err() == nil {
			for _, kind := range []string{"apis/batch/v1/namespaces/" + namespace + "/jobs", "api/v1/namespaces/" + namespace + "/pods"} {
				var all struct{ Items []map[string]any }
				data, err := client.Get().AbsPath("/" + kind).DoRaw(ctx)
				if err != nil || json.Unmarshal(data, &all) != nil {
					continue
				}
				for _, o := range all.Items {
					if status := workStatus(o, strings.HasSuffix(kind, "pods")); status != "" {
						name, _, _ := unstructured.NestedString(o, "metadata", "name")
						_, _ = client.Patch(types.MergePatchType).AbsPath("/" + kind + "/" + name + "/status").Body([]byte(status)).DoRaw(ctx)
					}
				}
			}
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
}

// workStatus is what the worker writes into an object's status, "" for nothing.
func workStatus(o map[string]any, pod bool) string {
	text := fmt.Sprint(o["spec"])
	if phase, _, _ := unstructured.NestedString(o, "status", "phase"); pod {
		switch {
		case phase == "Succeeded" || phase == "Failed" || strings.Contains(text, "endless"):
			return ""
		case strings.Contains(text, "crashing"):
			return `{"status":{"phase":"Failed","containerStatuses":[{"name":"main","image":"x","imageID":"x","restartCount":0,"state":{"terminated":{"exitCode":3}}}]}}`
		}
		return `{"status":{"phase":"Succeeded"}}`
	}
	conditions, _, _ := unstructured.NestedSlice(o, "status", "conditions")
	if len(conditions) > 0 || strings.Contains(text, "endless") {
		return ""
	}
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind, reason string) string {
		return fmt.Sprintf(`{"type":%q,"status":"True","reason":%q,"message":"Job has reached the specified backoff limit","lastTransitionTime":%q}`, kind, reason, now)
	}
	if strings.Contains(text, "crashing") {
		return fmt.Sprintf(`{"status":{"startTime":%q,"failed":1,"conditions":[%s,%s]}}`, now,
			condition("FailureTarget", "BackoffLimitExceeded"), condition("Failed", "BackoffLimitExceeded"))
	}
	return fmt.Sprintf(`{"status":{"startTime":%q,"completionTime":%q,"succeeded":1,"conditions":[%s,%s]}}`, now, now,
		condition("SuccessCriteriaMet", "CompletionsReached"), condition("Complete", "CompletionsReached"))
}

// jobs are the names of the Jobs in the scene's namespace.
func (s *scene) jobs(cluster string) []string {
	var out []string
	for _, it := range list(s.t, s.client(cluster), "apis/batch/v1/namespaces/"+s.ns+"/jobs", "") {
		out = append(out, it.Metadata.Name)
	}
	slices.Sort(out)
	return out
}

// uid is that of an object, "" when it is not there.
func (s *scene) uid(cluster, path string) string {
	if it := s.get(cluster, path); it != nil {
		return it.Metadata.UID
	}
	return ""
}

func TestHooksOfAChart(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(hookChart)
	const on = "staging"
	s.worker(on, s.ns)
	run := func(code int, args ...string) result {
		return s.want(code, append(args, "-f", "bundle.yaml", "--kube-context", on)...)
	}
	migrate := "apis/batch/v1/namespaces/$NS/jobs/migrate"

	r := run(2, "plan", "--detailed-exitcode")
	s.has(r.Stdout, "» ServiceAccount $NS/migrate", "pre-install hook (weight -5): runs before the installation",
		"» Job $NS/migrate", "» Job $NS/notice", "post-install hook: runs after the installation", "3 to create", "3 hooks")
	s.lacks(r.Stdout, "bye", "Pod $NS/test")

	s.mark()
	run(0, "apply", "-y")
	want := []string{"PATCH serviceaccounts/migrate", "PATCH jobs/migrate", "PATCH configmaps/web", "PATCH jobs/notice", "PATCH configmaps/after"}
	var got []string
	for _, w := range s.written(on) {
		if slices.Contains(want, w) {
			got = append(got, w)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("written in the order %q, want %q", got, want)
	}
	if jobs := s.jobs(on); !slices.Equal(jobs, []string{"migrate"}) {
		t.Errorf("jobs %q, only the migration stays", jobs)
	}
	if s.uid(on, "api/v1/namespaces/$NS/serviceaccounts/migrate") != "" {
		t.Error("the account goes when the hooks have succeeded")
	}
	first := s.uid(on, migrate)

	// nothing changed: no hook runs, nothing is written, health and drift do not look at what hooks left
	s.mark()
	r = run(0, "apply", "-y")
	s.has(r.Stderr, "No changes")
	s.untouched(on)
	r = s.want(0, "status", s.bundle, "--kube-context", on)
	s.lacks(r.Stdout, "migrate")

	// an upgrade: the migration runs again
	s.edit("bundle.yaml", `v: "1"`, `v: "2"`)
	r = run(0, "plan")
	s.has(r.Stdout, "pre-upgrade hook: runs before the upgrade; the one of an earlier run is deleted before", "1 to change", "3 hooks")
	run(0, "apply", "-y")
	second := s.uid(on, migrate)
	if second == first || second == "" {
		t.Errorf("the migration did not run again: uid %s, was %s", second, first)
	}

	// a migration that fails stops its instance and what depends on it, and says why; the next run runs it again
	s.edit("bundle.yaml", `values: {v: "2"}`, `values: {v: "3", image: "example.com/crashing:1"}`)
	s.edit("after/after.yaml", `v: "1"`, `v: "2"`)
	r = run(1, "apply", "-y")
	s.has(r.Stdout+r.Stderr, "Job $NS/migrate", "the pre-upgrade hook failed")
	s.wantData(on, "web", "v", "2")
	s.wantData(on, "after", "v", "1")
	s.edit("bundle.yaml", "crashing:1", "migrate:2")
	r = run(0, "apply", "-y", "--test")
	s.wantData(on, "web", "v", "3")
	s.wantData(on, "after", "v", "2")
	if s.uid(on, "api/v1/namespaces/$NS/pods/test") == "" {
		t.Error("the test did not run, or did not stay")
	}
	s.mark()
	run(0, "apply", "-y")
	s.untouched(on)

	// a failed test fails the cluster
	s.edit("bundle.yaml", `image: "example.com/migrate:2"`, `image: "example.com/migrate:2", testImage: "example.com/crashing:1"`)
	r = run(1, "apply", "-y", "--test", "--timeout", "15m")
	s.has(r.Stdout+r.Stderr, "Pod $NS/test", "test")
	r = run(0, "apply", "-y", "--no-hooks")

	s.removesWithHooks(on, run)
}

// removesWithHooks: the farewell runs, what hooks left goes too.
func (s *scene) removesWithHooks(on string, run func(int, ...string) result) {
	s.t.Helper()
	s.mark()
	run(0, "delete", "-y")
	if w := s.written(on); !slices.Contains(w, "PATCH jobs/bye") || slices.Index(w, "PATCH jobs/bye") > slices.Index(w, "DELETE configmaps/web") {
		s.t.Errorf("the farewell did not run first: %q", w)
	}
	eventually(s.t, "nothing is left", func() bool {
		return len(s.jobs(on)) == 0 && s.uid(on, "api/v1/namespaces/$NS/pods/test") == "" && s.configMap(on, "web") == nil
	})
}

// TestHooksOfAnInstanceThatLeaves: its farewell runs although nothing renders it any more, also from a saved plan; one
// that fails leaves everything of the instance, and runs again.
func TestHooksOfAnInstanceThatLeaves(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(hookChart)
	const on = "production-eu"
	s.worker(on, s.ns)
	run := func(code int, args ...string) result { return s.want(code, append(args, "--kube-context", on)...) }
	s.edit("chart/templates/all.yaml", "example.com/bye:1", "example.com/crashing:1")
	run(0, "plan", "-f", "bundle.yaml", "--out", "first.plan")
	s.want(0, "apply", "first.plan", "-y")
	s.there(on, "web", "after")
	run(0, "apply", "-f", "bundle.yaml", "-y") // nothing

	s.files("\n-- gone.yaml --\nbundle: {apiVersion: v1alpha1, name: $B, instances: {after: {manifests: {paths: [./after]}, namespace: $NS}}}\n")
	r := run(1, "apply", "-f", "gone.yaml", "-y", "--confirm-delete", "1")
	s.has(r.Stdout+r.Stderr, "Job $NS/bye", "the pre-delete hook failed")
	s.there(on, "web", "after")

	// it is back with a farewell that works: an upgrade, whose farewell is recorded
	s.edit("chart/templates/all.yaml", "example.com/crashing:1", "example.com/bye:2")
	run(0, "apply", "-f", "bundle.yaml", "-y")
	r = run(0, "plan", "-f", "gone.yaml", "--out", "gone.plan")
	s.has(r.Stdout, "» Job $NS/bye", "pre-delete hook: runs before the removal", "1 to delete")
	s.mark()
	s.want(0, "apply", "gone.plan", "-y")
	if w := s.written(on); !slices.Contains(w, "PATCH jobs/bye") {
		t.Errorf("the farewell did not run: %q", w)
	}
	s.gone(on, "web")
	s.there(on, "after")
	if jobs := s.jobs(on); len(jobs) > 0 {
		t.Errorf("jobs %q are left", jobs)
	}
	s.mark()
	run(0, "apply", "-f", "gone.yaml", "-y")
	s.untouched(on)
}

// lateHooks is a chart with a migration and a notice, twice: the second takes a value that the first makes.
const lateHooks = `
-- chart/Chart.yaml --
apiVersion: v2
name: late
version: 1.0.0
-- chart/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data: {v: {{ .Values.v | quote }}}
---
{{- range $name, $event := dict "migrate" "pre-install,pre-upgrade" "notice" "post-install,post-upgrade" }}
apiVersion: batch/v1
kind: Job
metadata: {name: "{{ $.Release.Name }}-{{ $name }}", annotations: {helm.sh/hook: "{{ $event }}"}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "example.com/{{ $name }}:{{ $.Values.v }}"}]
---
{{- end }}
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    first: {helm: {chart: ./chart}, namespace: $NS, values: {v: "1"}}
    second: {helm: {chart: ./chart}, namespace: $NS, values: {v: {from: {instance: first, object: v1/ConfigMap/first, path: data.v}}}}
`

// TestHooksWithLateValues: hooks of an instance whose values are known only later run with those values, once.
func TestHooksWithLateValues(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(lateHooks)
	const on = "staging"
	s.worker(on, s.ns)
	run := func(code int, args ...string) result {
		return s.want(code, append(args, "-f", "bundle.yaml", "--kube-context", on)...)
	}
	steps := func(v string) {
		t.Helper()
		s.mark()
		run(0, "apply", "-y")
		s.wantData(on, "second", "v", v)
		want := []string{"PATCH jobs/first-migrate", "PATCH configmaps/first", "PATCH jobs/first-notice",
			"PATCH jobs/second-migrate", "PATCH configmaps/second", "PATCH jobs/second-notice"}
		got := slices.DeleteFunc(s.written(on), func(w string) bool { return !slices.Contains(want, w) })
		if !slices.Equal(got, want) {
			t.Errorf("written %q, want %q", got, want)
		}
		s.mark()
		run(0, "apply", "-y")
		s.untouched(on)
	}
	steps("1")
	s.edit("bundle.yaml", `v: "1"`, `v: "2"`)
	steps("2")
}
