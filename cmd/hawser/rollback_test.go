package main

import (
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testfleet"
)

// TestRollbackStory: a bad release stops at the canary of the first wave; rollback takes back there what was done, costs the
// clusters that never got it nothing, and history and status say so. The same files go forward again.
func TestRollbackStory(t *testing.T) {
	t.Parallel()
	b, ns := newBench(t), testfleet.Get().Namespace(t, clusters...)
	b.write("fleet.yaml", strings.NewReplacer("$B", ns, "soak: 3s", "soak: 1s").Replace(stepsFleet))
	b.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: "+ns+", instances: {app: {namespace: "+ns+", manifests: {paths: [app.yaml]}}}}\n")
	good := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: good}\n"
	b.write("app.yaml", good)
	b.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
	b.write("app.yaml", strings.Replace(good, "good", "bad", 1)+"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {selector: {matchLabels: {a: b}}, "+
		"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: example.com/web:bad}]}}}\n")
	if r := b.run("apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y", "--timeout", "2s"); r.Code == 0 {
		t.Fatalf("the bad release went through: %s", r)
	}
	guarded := b.want(5, "rollback", ns, "--fleet", "fleet.yaml", "-y")
	if all := guarded.Stdout + guarded.Stderr; !strings.Contains(all, "back to release 1 (") || !strings.Contains(all, "--confirm-delete=1") {
		t.Errorf("%s", guarded)
	}
	back := b.want(0, "rollback", ns, "--fleet", "fleet.yaml", "-y", "--confirm-delete", "1", "-m", "incident-731")
	if !strings.Contains(back.Stdout, "Rolled back "+ns) || !strings.Contains(back.Stdout, "0 created, 1 changed, 1 deleted") {
		t.Errorf("%s", back)
	}
	shown := b.want(0, "history", ns, "--fleet", "fleet.yaml")
	if !strings.Contains(shown.Stdout, "rollback to 1 (") || !strings.Contains(shown.Stdout, "incident-731") || !strings.Contains(shown.Stdout, "1/3") {
		t.Errorf("%s", shown)
	}
	status := b.want(0, "status", ns, "--fleet", "fleet.yaml")
	if strings.Count(status.Stdout, "rollback to 1 (") != 1 {
		t.Errorf("%s", status)
	}
	ahead := b.want(0, "plan", "-f", "bundle.yaml", "--fleet", "fleet.yaml")
	if !strings.Contains(ahead.Stdout, "Deployment "+ns+"/web") {
		t.Errorf("%s", ahead)
	}
	b.write("app.yaml", good)
	b.want(0, "apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y")
}

// rollbackChart has a migration before upgrades, and one that goes back with a notice after it.
const rollbackChart = `
-- chart/Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0
-- chart/values.yaml --
v: "1"
-- chart/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {v: {{ .Values.v | quote }}}
---
{{- range $name, $of := dict "migrate" (list "pre-upgrade" "before-hook-creation") "undo" (list "pre-rollback" "before-hook-creation") "undone" (list "post-rollback" "hook-succeeded") }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  annotations: {helm.sh/hook: "{{ index $of 0 }}", helm.sh/hook-delete-policy: "{{ index $of 1 }}"}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "example.com/{{ $name }}:{{ $.Values.v }}"}]
---
{{- end }}
-- bundle.yaml --
bundle: {apiVersion: v1alpha1, name: $B, instances: {web: {helm: {chart: ./chart}, namespace: $NS, values: {v: "1"}}}}
`

// TestRollbackHooks: a rollback runs the rollback's hooks of the release that it goes back to, as that had them, and no upgrade
// hooks; an apply runs none of them.
func TestRollbackHooks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(rollbackChart)
	const on = "staging"
	s.worker(on, s.ns)
	hooks := func() []string {
		return slices.DeleteFunc(s.written(on), func(w string) bool { return !strings.HasPrefix(w, "PATCH jobs/") && w != "PATCH configmaps/web" })
	}
	wantHooks := func(want ...string) {
		t.Helper()
		if got := hooks(); !slices.Equal(got, want) {
			t.Errorf("written %q, want %q", got, want)
		}
	}
	s.mark()
	s.want(0, "apply", "-f", "bundle.yaml", "--kube-context", on, "-y")
	wantHooks("PATCH configmaps/web")
	s.edit("bundle.yaml", `v: "1"`, `v: "2"`)
	s.mark()
	s.want(0, "apply", "-f", "bundle.yaml", "--kube-context", on, "-y")
	wantHooks("PATCH jobs/migrate", "PATCH configmaps/web")

	r := s.want(0, "rollback", s.bundle, "--kube-context", on, "--dry-run")
	s.has(r.Stdout, "» Job $NS/undo", "pre-rollback hook: runs before the rollback", "post-rollback hook", "2 hooks")
	s.lacks(r.Stdout, "migrate")
	s.mark()
	s.want(0, "rollback", s.bundle, "--kube-context", on, "-y")
	wantHooks("PATCH jobs/undo", "PATCH configmaps/web", "PATCH jobs/undone")
	s.wantData(on, "web", "v", "1")
	if jobs := s.jobs(on); !slices.Equal(jobs, []string{"migrate", "undo"}) {
		t.Errorf("jobs %q", jobs)
	}
	if image := s.imageOf(on, "undo"); image != "example.com/undo:1" {
		t.Errorf("the hook is that of %s", image)
	}
	s.mark()
	s.want(0, "apply", "-f", "bundle.yaml", "--kube-context", on, "-y") // forward again
	wantHooks("PATCH jobs/migrate", "PATCH configmaps/web")
}

// imageOf is the image of a Job in the scene's namespace.
func (s *scene) imageOf(cluster, job string) string {
	s.t.Helper()
	data, err := s.client(cluster).Get().AbsPath("/apis/batch/v1/namespaces/" + s.ns + "/jobs/" + job).DoRaw(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for word := range strings.SplitSeq(string(data), `"`) {
		if strings.HasPrefix(word, "example.com/") {
			return word
		}
	}
	return ""
}

// TestRollbackOfPartOfAFleet: which release it goes back to is decided over the whole fleet: a cluster that the release did not come to
// gets what it had then, and that is said. A rollback in steps is one release, status names releases as --to wants them, and
// the number of a revision is told from that of a release.
func TestRollbackOfPartOfAFleet(t *testing.T) {
	t.Parallel()
	b, ns := newBench(t), testfleet.Get().Namespace(t, clusters...)
	b.write("fleet.yaml", strings.NewReplacer("$B", ns, ", canary: 1, soak: 3s", "").Replace(stepsFleet))
	b.write("bundle.yaml", "bundle: {apiVersion: v1alpha1, name: "+ns+", instances: {app: {namespace: "+ns+", manifests: {paths: [app.yaml]}}}}\n")
	at := func(value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {k: " + value + "}\n"
	}
	apply := func(value string, more ...string) {
		b.write("app.yaml", at(value))
		b.want(0, append([]string{"apply", "-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y", "--skip-waves"}, more...)...)
	}
	on := func(want string, more ...string) {
		t.Helper()
		r := b.want(0, append([]string{"history", "show", "--bundle", ns, "--fleet", "fleet.yaml"}, more...)...)
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("%q is not in %s", want, r)
		}
	}
	apply("one")                               // release 1
	apply("two", "--cluster", "production-eu") // 2
	apply("three")                             // 3
	apply("four")                              // 4

	r := b.want(0, "rollback", ns, "--to", "2", "--fleet", "fleet.yaml", "--cluster", "staging", "--skip-waves", "-y")
	if all := r.Stdout + r.Stderr; !strings.Contains(all, "release 2 (") || !strings.Contains(all, "did not come here") || !strings.Contains(all, "it goes back to release 1 (") {
		t.Errorf("%s", r)
	}
	on("staging", "5")
	status := b.want(0, "status", ns, "--fleet", "fleet.yaml")
	if !strings.Contains(status.Stdout, "RELEASE") || strings.Contains(status.Stdout, "REV") {
		t.Errorf("%s", status)
	}
	r = b.run("rollback", ns, "--to", "9", "--fleet", "fleet.yaml", "-y")
	if r.Code != 1 || !strings.Contains(r.Stderr, "no cluster keeps a release 9") {
		t.Errorf("%s", r)
	}

	b.want(0, "rollback", ns, "--to", "3", "--fleet", "fleet.yaml", "-y", "--until-wave", "1")
	b.want(0, "rollback", ns, "--to", "3", "--fleet", "fleet.yaml", "-y")
	on("staging", "6")
	shown := b.want(0, "history", ns, "--fleet", "fleet.yaml")
	if !strings.Contains(shown.Stdout, "3/3") || strings.Contains(shown.Stdout, "\n"+ns+"  7 ") || strings.Count(shown.Stdout, "rollback to 3 (") != 1 {
		t.Errorf("%s", shown)
	}
}
