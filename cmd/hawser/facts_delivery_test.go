package main

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestFactT17Finalizer: a delete says what resists and why, keeps its record, and is finished by a second one;
// --wait=false does not wait.
func TestFactT17Finalizer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet + `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    all: {manifests: {paths: [./m.yaml]}, namespace: $NS}
-- m.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: held, finalizers: [example.com/hold]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: free}
`)
	on := []string{"-f", "bundle.yaml", "-r", "runtime.cue", "--runtime-cluster", "staging-eu"}
	free := func() {
		s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/held", `{"metadata":{"finalizers":null}}`)
	}
	s.want(0, append([]string{"bundle", "apply"}, on...)...)
	r := s.want(4, append([]string{"bundle", "delete", "--timeout=20s"}, on...)...)
	s.has(r.Stderr, "ConfigMap $NS/held", "example.com/hold")
	s.gone("staging", "free")
	r = s.want(4, append([]string{"bundle", "status"}, on...)...) // the record is kept
	s.has(r.Stdout, "1 terminating", "ConfigMap $NS/held: is being deleted, held by finalizer example.com/hold")
	free()
	s.want(0, append([]string{"bundle", "delete"}, on...)...)
	s.want(1, append([]string{"bundle", "status"}, on...)...)

	s.want(0, append([]string{"bundle", "apply"}, on...)...)
	r = s.want(0, append([]string{"bundle", "delete", "--wait=false"}, on...)...)
	if r.Elapsed > 4*time.Minute {
		t.Errorf("--wait=false took %s", r.Elapsed)
	}
	if o := s.get("staging", "api/v1/namespaces/$NS/configmaps/held"); o == nil {
		t.Error("held is gone, though its finalizer is not")
	}
	free()
}

// TestFactT18WhatDeleteLeaves: objects annotated to stay, and objects that only carry our labels, stay; with nothing
// left a delete still removes the record; extra arguments are refused.
func TestFactT18WhatDeleteLeaves(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet + `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    all: {manifests: {paths: [./m.yaml]}, namespace: $NS}
-- m.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: stays, annotations: {action.timoni.sh/prune: disabled}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: goes}
`)
	on := []string{"-f", "bundle.yaml", "-r", "runtime.cue"}
	s.want(0, append([]string{"bundle", "apply"}, on...)...)
	ours := s.get("staging", "api/v1/namespaces/$NS/configmaps/goes").Metadata.Labels
	s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/configmaps", fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: foreign\n  labels: {hawser.dev/owner: %q, hawser.dev/bundle: %q, hawser.dev/instance: all}\n",
		ours["hawser.dev/owner"], ours["hawser.dev/bundle"]))
	s.want(0, append([]string{"bundle", "apply"}, on...)...)
	s.there("staging", "foreign")
	s.want(0, append([]string{"bundle", "delete"}, on...)...)
	s.there("staging", "stays", "foreign")
	s.gone("staging", "goes")
	s.want(1, append([]string{"bundle", "status"}, on...)...)

	s.edit("m.yaml", "annotations: {action.timoni.sh/prune: disabled}", "labels: {a: b}")
	s.want(0, append([]string{"bundle", "apply", "--adopt", "-y"}, on...)...)
	for _, c := range clusters {
		s.admin(c, http.MethodDelete, "api/v1/namespaces/$NS/configmaps/stays", "")
		s.admin(c, http.MethodDelete, "api/v1/namespaces/$NS/configmaps/goes", "")
	}
	s.want(0, append([]string{"bundle", "delete"}, on...)...)
	s.want(1, append([]string{"bundle", "status"}, on...)...)
	r := s.want(1, "bundle", "delete", "-r", "runtime.cue", s.bundle, "extra")
	s.has(r.Stderr, "at most one bundle")
}

// TestFactT19Build: several clusters at once, the group filter, the same output every time, and nothing on stdout when
// one instance of one cluster does not render.
func TestFactT19Build(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.edit("bundle.cue", `"my-app": {`, `"\(_env)-app": {`)
	build := []string{"bundle", "build", "-f", "bundle.cue", "-r", "runtime.cue"}
	r := s.want(0, append(build, "--runtime-group=production")...)
	s.has(r.Stdout, "# Instance: production-app")
	s.lacks(r.Stdout, "# Instance: staging-app")
	all := s.want(0, build...)
	for range 3 {
		if again := s.want(0, append(build, "--concurrency", "1")...); again.Stdout != all.Stdout {
			t.Fatalf("not the same twice:\n%s\n%s", all.Stdout, again.Stdout)
		}
	}
	s.edit("bundle.cue", `only: "us"`, `only: 5`)
	r = s.want(1, build...)
	if r.Stdout != "" {
		t.Errorf("there is output beside the error: %s", r)
	}
	s.has(r.Stderr, "bundle.cue:", "production-us", "settings.only")
}

// TestFactT20OutputDir: every object is a file, named by group, version, kind and name, below the cluster and the
// instance.
func TestFactT20OutputDir(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet + `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    one: {manifests: {paths: [./one.yaml]}, namespace: $NS}
    many: {manifests: {paths: [./many.yaml]}}
-- one.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "$B:admin"}
-- many.yaml --
apiVersion: v1
kind: Service
metadata: {name: api, namespace: prod}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: test}
spec: {ports: [{port: 80}]}
`)
	r := s.want(0, "bundle", "build", "-f", "bundle.yaml", "-r", "runtime.cue", "--output-dir", "out", "--runtime-group", "production")
	if r.Stdout != "" {
		t.Errorf("stdout: %s", r)
	}
	var got []string
	root := filepath.Join(s.dir, "out")
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if rel, _ := filepath.Rel(root, path); rel != ".hawser-build" {
				got = append(got, rel)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range []string{"production-eu", "production-us"} {
		for _, f := range []string{"many/prod_v1_service_api.yaml", "many/test_v1_service_api.yaml",
			"one/rbac.authorization.k8s.io_v1_clusterrole_$B_admin.yaml", "one/v1_configmap_x.yaml", "one/v1_namespace_$NS.yaml"} {
			want = append(want, c+"/"+s.fill(f))
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestFactT21RecordOfAFailure: a run that fails at a write prunes nothing and knows what it wrote; the next one finishes
// and prunes. After failed readiness nothing is pruned either (Timoni does).
func TestFactT21RecordOfAFailure(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet + failBundle)
	s.write("config/a.yaml", configMaps("1", "a", "old"))
	s.write("api/b.yaml", configMaps("1", "b"))
	on := []string{"-f", "bundle.yaml", "-r", "runtime.cue", "--runtime-group", "staging", "-y"}
	var refuse atomic.Bool
	s.webhook("staging", func(name string) string {
		if name == "b" && refuse.Load() {
			return "not today"
		}
		return ""
	})
	s.want(0, append([]string{"bundle", "apply"}, on...)...)
	s.write("config/a.yaml", configMaps("2", "a", "new"))
	s.write("api/b.yaml", configMaps("2", "b"))
	refuse.Store(true)
	s.want(1, append([]string{"bundle", "apply"}, on...)...)
	s.wantData("staging", "a", "v", "2")
	s.there("staging", "new", "old")
	s.wantData("staging", "b", "v", "1")
	r := s.want(4, append([]string{"bundle", "status"}, on[:4]...)...)
	s.has(r.Stdout, "staging-eu")

	refuse.Store(false)
	r = s.want(0, append([]string{"bundle", "apply"}, on...)...)
	s.has(r.Stderr, "- ConfigMap $NS/old", "~ ConfigMap $NS/b", "2 unchanged")
	s.gone("staging", "old")
	s.wantData("staging", "b", "v", "2")

	// readiness: a Deployment that nobody runs
	s.files(deployment)
	s.write("config/a.yaml", configMaps("3", "a"))
	s.want(4, append([]string{"bundle", "apply", "--timeout", "2s", "--confirm-delete=2"}, on...)...)
	s.there("staging", "new", "b")
	s.wantData("staging", "a", "v", "3")
	s.want(0, append([]string{"bundle", "apply", "--wait=false", "--confirm-delete=2"}, on...)...)
}

// widgets is a module that brings a CRD, an object of it and a health check of its own.
const widgets = `
-- modules/widgets/cue.mod/module.cue --
module: "hawser.test/widgets"
language: version: "v0.9.0"
-- modules/widgets/values.cue --
package main

values: size: 1
-- modules/widgets/timoni.cue --
package main

values: {size: int}
_group: "$B.example.com"
timoni: {
	apiVersion: "v1alpha1"
	instance: {name: string @tag(name), namespace: string @tag(namespace)}
	healthChecks: widget: {
		group: _group
		kind:  "Widget"
		#object: {status?: {phase?: string, ...}, ...}
		current: #object.status.phase == "Running"
		failed:  #object.status.phase == "Broken"
	}
	apply: all: [{
		apiVersion: "apiextensions.k8s.io/v1"
		kind:       "CustomResourceDefinition"
		metadata: name: "widgets.\(_group)"
		spec: {
			group: _group
			names: {kind: "Widget", plural: "widgets", singular: "widget", listKind: "WidgetList"}
			scope: "Namespaced"
			versions: [{name: "v1", served: true, storage: true, schema: openAPIV3Schema: {
				type: "object", "x-kubernetes-preserve-unknown-fields": true}}]
		}
	}, {
		apiVersion: "\(_group)/v1"
		kind:       "Widget"
		metadata: instance
		spec: size: values.size
	}]
}
-- bundle.cue --
bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: w: {module: url: "file://./modules/widgets", namespace: "$NS"}
}
`

func widgetScene(t *testing.T) (*scene, string) {
	s := newScene(t)
	s.bundle = fmt.Sprintf("w%x", time.Now().UnixNano()&0xffffffffff)
	s.files(widgets + threadFleet)
	return s, s.fill("apis/$B.example.com/v1/namespaces/$NS/widgets/w")
}

// TestFactT22CRDAndObject: a CRD and an object of it in one module and one apply, on every cluster; both are deleted
// again, the CRD with its number confirmed.
func TestFactT22CRDAndObject(t *testing.T) {
	t.Parallel()
	s, widget := widgetScene(t)
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue", "--wait=false")
	for _, c := range clusters {
		if s.get(c, widget) == nil {
			t.Errorf("%s has no widget", c)
		}
	}
	s.want(0, "bundle", "delete", "-f", "bundle.cue", "-r", "runtime.cue", "-y")
	for _, c := range clusters {
		if s.get(c, "apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.$B.example.com") != nil {
			t.Errorf("%s still has the CRD", c)
		}
	}
}

// TestFactT23HealthChecksOfAModule: apply waits for what the module calls current, and gives up long before the timeout,
// naming the kind, when it calls it failed.
func TestFactT23HealthChecksOfAModule(t *testing.T) {
	t.Parallel()
	s, widget := widgetScene(t)
	on := []string{"bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-group", "staging"}
	phase := func(text string) {
		s.admin("staging", http.MethodPatch, widget, `{"status":{"phase":"`+text+`"}}`)
	}
	go func() {
		for s.t.Context().Err() == nil {
			if s.try("staging", http.MethodPatch, widget, `{"status":{"phase":"Running"}}`) == nil {
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
	s.want(0, on...)
	s.has(s.want(0, "bundle", "status", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-group", "staging").Stdout, "1 ready")

	phase("Broken")
	s.edit("modules/widgets/values.cue", "size: 1", "size: 2")
	r := s.want(4, append(on, "--timeout", "15m")...)
	if r.Elapsed > 10*time.Minute {
		t.Errorf("a failure was waited for %s", r.Elapsed)
	}
	s.has(r.Stderr, "Widget $NS/w")
	s.has(s.want(4, "bundle", "status", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-group", "staging").Stdout, "failed", "Widget")
}

// TestFactT24TakeOver: a Service first applied by Helm, client-side or server-side, is taken over with --adopt: its
// ports are replaced, Helm's annotations and manager are gone.
func TestFactT24TakeOver(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet + `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    all: {manifests: {paths: [./m.yaml]}, namespace: $NS}
-- m.yaml --
apiVersion: v1
kind: Service
metadata: {name: client}
spec: {selector: {app: a}, ports: [{name: new, port: 81}]}
---
apiVersion: v1
kind: Service
metadata: {name: server}
spec: {selector: {app: a}, ports: [{name: new, port: 81}]}
`)
	s.namespace("staging")
	const body = `apiVersion: v1
kind: Service
metadata:
  name: %s
  labels: {app.kubernetes.io/managed-by: Helm}
  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: $NS}
spec: {selector: {app: a}, ports: [{name: old, port: 80}]}
`
	s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/services", fmt.Sprintf(body, "client"), "fieldManager", "helm")
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/services/server", fmt.Sprintf(body, "server"), "fieldManager", "helm", "force", "true")
	on := []string{"bundle", "apply", "-f", "bundle.yaml", "-r", "runtime.cue", "--runtime-group", "staging"}
	s.mark()
	r := s.want(5, on...)
	s.has(r.Stderr, "Service $NS/client", "Service $NS/server", "Helm release $NS/web", "--adopt")
	s.untouched(clusters...)
	r = s.want(5, append(on, "--adopt")...) // nobody said yes to taking it
	s.untouched(clusters...)
	r = s.want(0, append(on, "--adopt", "-y")...)
	s.has(r.Stderr, "< Service $NS/client")
	for _, name := range []string{"client", "server"} {
		o := s.get("staging", "api/v1/namespaces/$NS/services/"+name)
		if len(o.Spec.Ports) != 1 || o.Spec.Ports[0].Name != "new" {
			t.Errorf("%s has the ports %v", name, o.Spec.Ports)
		}
		if len(o.Metadata.Annotations) != 0 || o.Metadata.Labels["app.kubernetes.io/managed-by"] == "Helm" {
			t.Errorf("%s kept Helm's marks: %v %v", name, o.Metadata.Annotations, o.Metadata.Labels)
		}
		for _, m := range o.Metadata.ManagedFields {
			if m.Manager == "helm" {
				t.Errorf("%s is still managed by helm", name)
			}
		}
	}
	s.mark()
	s.want(0, on...)
	s.untouched(clusters...)
}

// TestFactT25MaskedSecrets: diffs and masked builds show that a Secret changes, never its values, plain or encoded.
func TestFactT25MaskedSecrets(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.edit("bundle.cue", "settings: name: _cluster", `token: "first-canary"`)
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.edit("bundle.cue", "first-canary", "other-canary")
	var text string
	for _, args := range [][]string{{"bundle", "apply", "--dry-run", "--diff"}, {"bundle", "apply", "--diff"}, {"bundle", "build", "--mask-secrets"},
		{"plan", "-o", "json"}, {"plan", "-o", "markdown"}, {"plan", "-o", "yaml"}, {"plan", "--full"}} {
		r := s.want(0, append(args, "-f", "bundle.cue", "-r", "runtime.cue")...)
		text += r.Stdout + r.Stderr
	}
	text += s.want(1, "diff", "-f", "bundle.cue", "-r", "runtime.cue").Stdout
	s.has(text, "data.token", "hidden", "token: '***'")
	for _, secret := range []string{"first-canary", "other-canary"} {
		s.lacks(text, secret, base64.StdEncoding.EncodeToString([]byte(secret)))
	}
}

// TestFactT26Positions: errors name the user's files relative to where the program runs, and instances may have quoted
// names; clusters' values are kept apart.
func TestFactT26Positions(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.edit("bundle.cue", `"my-app": {`, `"my-app.v2": {`)
	s.want(0, "bundle", "vet", "-f", "bundle.cue", "-r", "runtime.cue")
	s.edit("bundle.cue", `message: "for production"`, `mesage: "for production"`)
	r := s.want(1, "bundle", "vet", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stderr, "bundle.cue:", "mesage", "production-eu", "production-us")
	s.lacks(r.Stderr, "/tmp/", "cluster staging-eu")
}
