package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCRDAndItsObjects: an instance of definitions and one of their objects, in one apply on a cluster that has never
// seen the kind.
func TestCRDAndItsObjects(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	group := fmt.Sprintf("g%x.example.com", time.Now().UnixNano()&0xffffffffff)
	s.files(strings.ReplaceAll(shopFleet+`
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    objects: {manifests: {paths: [./objects.yaml]}, namespace: $NS, dependsOn: [crds]}
    crds: {manifests: {paths: [./crds.yaml]}}
-- objects.yaml --
apiVersion: $GROUP/v1
kind: Gizmo
metadata: {name: g}
spec: {size: 1}
-- crds.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.$GROUP}
spec:
  group: $GROUP
  names: {kind: Gizmo, plural: gizmos, singular: gizmo, listKind: GizmoList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`, "$GROUP", group))
	on := []string{"-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y"}
	s.want(0, append([]string{"apply"}, on...)...)
	for _, c := range clusters {
		if s.get(c, "apis/"+group+"/v1/namespaces/$NS/gizmos/g") == nil {
			t.Errorf("%s has no gizmo", c)
		}
	}
	s.mark()
	s.want(0, append([]string{"apply"}, on...)...)
	s.untouched(clusters...)
	// a CRD takes everybody's objects with it: leaving the bundle is not enough
	text, err := os.ReadFile(filepath.Join(s.dir, "bundle.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s.edit("bundle.yaml", "    crds: {manifests: {paths: [./crds.yaml]}}\n", "")
	s.edit("bundle.yaml", ", dependsOn: [crds]", "")
	r := s.want(5, append([]string{"apply"}, on...)...)
	s.has(r.Stderr, "CustomResourceDefinition gizmos."+group, "--confirm-delete=3")
	s.untouched(clusters...)
	s.write("bundle.yaml", string(text))
	s.want(0, append([]string{"delete"}, on...)...)
	for _, c := range clusters {
		if s.get(c, "apis/apiextensions.k8s.io/v1/customresourcedefinitions/gizmos."+group) != nil {
			t.Errorf("%s still has the CRD", c)
		}
	}
}

// TestValuesPerCluster: values by group and label, vars and facts of the cluster by reference, and --explain-value, which
// says which layer won.
func TestValuesPerCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(appModule + shopFleet + `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    app:
      module: {url: "file://./modules/app"}
      namespace: $NS
      values:
        message: for all
        settings:
          region: {$cluster: vars.region}
          cluster: {$cluster: name}
          group: {$cluster: group}
          label: {$cluster: labels.region}
      valuesFor:
        prod: {groups: [production], values: {message: for production}}
        us: {clusterSelector: {matchLabels: {region: us}}, values: {message: for america, settings: {currency: USD}}}
        one: {clusters: ["production-e*"], values: {settings: {only: here}}}
`)
	on := []string{"-f", "bundle.yaml", "--fleet", "fleet.yaml"}
	s.want(0, append([]string{"apply", "-y"}, on...)...)
	for c, want := range map[string]map[string]string{
		"staging":       {"message": "for all", "region": "eu-1", "cluster": "staging", "group": "staging", "label": "eu"},
		"production-eu": {"message": "for production", "region": "eu-2", "cluster": "production-eu", "group": "production", "label": "eu", "only": "here"},
		"production-us": {"message": "for america", "region": "us-1", "cluster": "production-us", "group": "production", "label": "us", "currency": "USD"},
	} {
		got := s.configMap(c, "app")
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", c, got, want)
		}
		for k, v := range want {
			s.wantData(c, "app", k, v)
		}
	}
	r := s.want(0, append([]string{"vet", "--explain-value", "app.message", "--cluster", "production-us"}, on...)...)
	s.has(r.Stdout, "production-us  app.message", "> valuesFor.us", "for america", "bundle.yaml:")
	r = s.want(0, append([]string{"plan", "-o", "json"}, on...)...)
	oneDocument(t, r.Stdout)
}

// TestDependsOn: an instance waits for the one it depends on, whatever their order in the file; on deletion the other
// way round.
func TestDependsOn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(shopFleet + `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    third: {manifests: {paths: [./third.yaml]}, namespace: $NS, dependsOn: [second]}
    second: {manifests: {paths: [./second.yaml]}, namespace: $NS, dependsOn: [first]}
    first: {manifests: {paths: [./first.yaml]}, namespace: $NS}
`)
	for _, n := range []string{"first", "second", "third"} {
		s.write(n+".yaml", configMaps("1", n+"-a", n+"-b"))
	}
	on := []string{"-f", "bundle.yaml", "--fleet", "fleet.yaml", "-y"}
	order := func(c string, want ...string) {
		t.Helper()
		var got []string
		for _, w := range s.written(c) {
			_, name, _ := strings.Cut(w, "configmaps/")
			if name, _, _ = strings.Cut(name, "-"); name != "" && (len(got) == 0 || got[len(got)-1] != name) {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: the order was %q, want %q", c, got, want)
		}
	}
	s.mark()
	s.want(0, append([]string{"apply"}, on...)...)
	for _, c := range clusters {
		order(c, "first", "second", "third")
	}
	s.mark()
	s.want(0, append([]string{"delete"}, on...)...)
	for _, c := range clusters {
		order(c, "third", "second", "first")
	}
	s.edit("bundle.yaml", "first: {manifests: {paths: [./first.yaml]}", "first: {dependsOn: [third], manifests: {paths: [./first.yaml]}")
	r := s.want(1, append([]string{"apply"}, on...)...)
	s.has(r.Stderr, "third -> ", "bundle.yaml:")
}

// TestExitCodes: 0 done, 1 error, 2 changes found, 3 partly done or unknown, 4 not ready in time, 5 refused.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle + shopFleet)
	s.write("m/all.yaml", configMaps("1", "a"))
	on := []string{"-f", "bundle.yaml", "--fleet", "fleet.yaml"}
	s.want(2, append([]string{"plan", "--detailed-exitcode"}, on...)...)
	s.want(1, append([]string{"diff"}, on...)...) // kubectl's
	s.want(5, append([]string{"apply"}, on...)...)
	s.want(0, append([]string{"apply", "-y"}, on...)...)
	s.want(0, append([]string{"diff"}, on...)...)
	s.want(1, "apply", "-y", "-f", "missing.yaml")
	s.want(1, "aply")
	s.want(1, append([]string{"apply", "--cluster", "nowhere"}, on...)...)

	// one cluster of three is not there: plan shows it, apply refuses, --skip-unreachable goes on
	s.edit("fleet.yaml", "kubeContext: production-us", "kubeContext: nobody")
	s.unreachable("nobody")
	s.write("m/all.yaml", configMaps("2", "a"))
	r := s.want(3, append([]string{"plan"}, on...)...)
	s.has(r.Stdout, "production-us", "connection refused", "Not planned; not counted as")
	s.mark()
	s.want(5, append([]string{"apply", "-y"}, on...)...)
	s.untouched(clusters...)
	r = s.want(3, append([]string{"apply", "-y", "--skip-unreachable"}, on...)...)
	s.has(rowOf(r.Stdout, "production-us"), "not reached")
	s.wantData("production-eu", "a", "v", "2")
	s.want(3, "status", s.bundle, "--fleet", "fleet.yaml")

	// nobody runs Deployments here
	s.files(strings.Replace(deployment, "api/b.yaml", "m/b.yaml", 1))
	r = s.want(4, append([]string{"apply", "-y", "--cluster", "staging", "--timeout", "2s"}, on...)...)
	s.has(r.Stderr, "Deployment $NS/api")
	s.want(4, "status", s.bundle, "--fleet", "fleet.yaml", "--cluster", "staging")
}

// TestJSON: every document is parseable and says its version; of an apply the last event is the summary, also when refused.
func TestJSON(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle + shopFleet)
	s.write("m/all.yaml", configMaps("1", "a"))
	on := []string{"-f", "bundle.yaml", "--fleet", "fleet.yaml", "-o", "json"}
	summary := func(r result, status string) {
		t.Helper()
		events := documents(t, r.Stdout)
		if last := events[len(events)-1]; last["type"] != "summary" || last["status"] != status {
			t.Errorf("the last event is %v, want a summary %q", last, status)
		}
	}
	summary(s.want(5, append([]string{"apply"}, on...)...), "refused")
	oneDocument(t, s.want(0, append([]string{"plan"}, on...)...).Stdout)
	oneDocument(t, s.want(0, append([]string{"apply", "--dry-run"}, on...)...).Stdout)
	summary(s.want(0, append([]string{"apply", "-y"}, on...)...), "succeeded")
	summary(s.want(0, append([]string{"apply", "-y"}, on...)...), "unchanged")
	oneDocument(t, s.want(0, append([]string{"status"}, on...)...).Stdout)
	oneDocument(t, s.want(0, append([]string{"vet"}, on...)...).Stdout)
	for _, verb := range []string{"ls", "check", "values"} {
		oneDocument(t, s.want(0, "fleet", verb, "--fleet", "fleet.yaml", "-o", "json").Stdout)
	}
	var facts struct{ V int } // a file that is read again, with a version of its own
	if err := json.Unmarshal([]byte(s.want(0, "fleet", "snapshot", "--fleet", "fleet.yaml", "-o", "json").Stdout), &facts); err != nil || facts.V != 1 {
		t.Errorf("facts of version %d: %v", facts.V, err)
	}
	oneDocument(t, s.want(0, "version", "-o", "json").Stdout)
	summary(s.want(0, append([]string{"delete", "-y"}, on...)...), "succeeded")
}

// TestSecretsCanary: neither the value of a Secret nor a runtime value queried from one is ever said: not in plans,
// diffs, JSON, plan files, events, errors or status; build shows it, as it must, unless it is asked to mask it.
func TestSecretsCanary(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const declared, queried, changed, env = "canary-declared-4f1", "canary-queried-9c2", "canary-changed-7ab", "canary-env-3d8"
	s.env = append(s.env, "API_TOKEN="+env)
	s.files(threadBundle + secretFleet)
	s.edit("bundle.cue", "bundle: {", "bundle: {\n    _domain: string @timoni(runtime:string:DOMAIN)\n    _token: string @timoni(runtime:string:API_TOKEN)")
	s.edit("bundle.cue", "settings: name: _cluster", `settings: domain: "https://\(_domain)/"
                settings: token: _token
                token: "`+declared+`"`)
	s.namespace("staging", "production-eu")
	for _, c := range []string{"staging", "production-eu"} {
		s.admin(c, http.MethodPost, "api/v1/namespaces/$NS/secrets", "apiVersion: v1\nkind: Secret\nmetadata: {name: base}\nstringData: {domain: "+queried+"}\n")
	}
	var said strings.Builder
	run := func(code int, args ...string) {
		t.Helper()
		r := s.want(code, args...)
		fmt.Fprintf(&said, "$ %s\n%s\n%s\n", strings.Join(args, " "), r.Stdout, r.Stderr)
	}
	on := []string{"-f", "bundle.cue", "-r", "runtime.cue", "--runtime-from-env"}
	all := func(code, diff int) {
		t.Helper()
		for _, form := range []string{"text", "json", "yaml", "markdown"} {
			run(code, append([]string{"plan", "-v", "-o", form}, on...)...)
		}
		run(code, append([]string{"plan", "--full", "--server-check"}, on...)...)
		run(diff, append([]string{"diff"}, on...)...)
		run(code, append([]string{"apply", "--dry-run", "--diff"}, on...)...)
		run(code, append([]string{"plan", "--out", "x.plan"}, on...)...)
		data, err := os.ReadFile(filepath.Join(s.dir, "x.plan"))
		if err != nil {
			t.Fatal(err)
		}
		said.Write(data)
		run(0, "plan", "show", "x.plan", "-o", "json")
		run(0, append([]string{"build", "--mask-secrets"}, on...)...)
	}
	all(0, 1)
	run(0, append([]string{"apply", "-y", "-o", "json"}, on...)...)
	run(0, append([]string{"vet"}, on...)...)
	run(0, append([]string{"status", "-v", "-o", "json"}, on...)...)
	for _, verb := range []string{"values", "snapshot", "ls", "check"} {
		run(0, "fleet", verb, "-r", "runtime.cue", "-o", "json")
		run(0, "fleet", verb, "-r", "runtime.cue")
	}
	// both change, and somebody changed the Secret by hand
	s.edit("bundle.cue", declared, changed)
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/secrets/my-app-token", `{"stringData":{"token":"canary-by-hand-1d0"}}`, "fieldManager", "kubectl-edit")
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/secrets/base", `{"stringData":{"domain":"canary-requeried-5e6"}}`)
	all(0, 1)
	run(0, append([]string{"apply", "-y", "-v"}, on...)...)
	// errors with the values in them
	s.edit("bundle.cue", `token: "`+changed+`"`, `token: "`+changed+`" & _domain`)
	run(1, append([]string{"plan"}, on...)...)
	s.edit("bundle.cue", ` & _domain`, ``)
	s.edit("bundle.cue", `settings: domain: "https://\(_domain)/"`, `settings: "\(_domain) x": _domain`)
	run(1, append([]string{"apply", "-y"}, on...)...)
	run(0, append([]string{"delete", "-y"}, on...)...)

	s.has(said.String(), "hidden", "data.token")
	for _, v := range []string{declared, queried, changed, env, "canary-by-hand-1d0", "canary-requeried-5e6"} {
		for _, form := range []string{v, base64.StdEncoding.EncodeToString([]byte(v))} {
			if i := strings.Index(said.String(), form); i >= 0 {
				text := said.String()
				cmd := text[strings.LastIndex(text[:i], "\n$ ")+1:]
				t.Errorf("%s is said by %s\n…%s…", v, firstLine(cmd), text[max(0, i-200):min(len(text), i+60)])
			}
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
