package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tests of this file equal Timoni's own suite, row by row, by our semantics and on several real clusters.

const uidFleet = `
-- runtime.cue --
runtime: {
	apiVersion: "v1alpha1"
	name:       "$B"
	clusters: {
		staging: {group: "staging", kubeContext: "staging"}
		production: {group: "production", kubeContext: "production-eu"}
	}
	values: [{query: "k8s:v1:Namespace:kube-system", for: {CLUSTER_UID: "obj.metadata.uid"}}]
}
`

// TestFactT06RuntimeBuild: a value queried from each of two clusters, in order, and the filters.
func TestFactT06RuntimeBuild(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(uidFleet)
	staging := s.get("staging", "api/v1/namespaces/kube-system").Metadata.UID
	production := s.get("production-eu", "api/v1/namespaces/kube-system").Metadata.UID
	all := s.want(0, "runtime", "build", "-f", "runtime.cue").Stdout
	if i, j := strings.Index(all, staging), strings.Index(all, production); i < 0 || j < i {
		t.Errorf("not both, or not in order:\n%s", all)
	}
	one := s.want(0, "runtime", "build", "-f", "runtime.cue", "--cluster=staging").Stdout
	s.has(one, staging)
	s.lacks(one, production)
	one = s.want(0, "runtime", "build", "-f", "runtime.cue", "--cluster-group=production").Stdout
	s.has(one, production)
	s.lacks(one, staging)
}

const secretFleet = `
-- runtime.cue --
runtime: {
	apiVersion: "v1alpha1"
	name:       "$B"
	clusters: {
		staging: {group: "staging", kubeContext: "staging"}
		production: {group: "production", kubeContext: "production-eu"}
	}
	values: [
		{query: "k8s:v1:Secret:$NS:base", for: {DOMAIN: "obj.data.domain"}},
		{query: "k8s:v1:ConfigMap:$NS:override", for: {DOMAIN: "obj.data.domain"}, optional: true},
	]
}
`

const domainBundle = appModule + `
-- bundle.cue --
bundle: {
	_domain: string @timoni(runtime:string:DOMAIN)
	_client: *true | bool @timoni(runtime:bool:CLIENT)
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: app: {
		module: url: "file://./modules/app"
		namespace: "$NS"
		values: {client: _client, settings: domain: _domain}
	}
}
`

// TestFactT07SecretThenConfigMap: an optional ConfigMap overrides a Secret; without it the Secret's decoded value holds.
func TestFactT07SecretThenConfigMap(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(secretFleet + domainBundle)
	s.namespace("staging", "production-eu")
	for _, c := range []string{"staging", "production-eu"} {
		s.admin(c, http.MethodPost, "api/v1/namespaces/$NS/secrets", "apiVersion: v1\nkind: Secret\nmetadata: {name: base}\nstringData: {domain: "+c+".from-secret}\n")
	}
	s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/configmaps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: override}\ndata: {domain: from-config-map}\n")
	apply := []string{"bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue"}
	s.want(0, apply...)
	s.wantData("staging", "app", "domain", "from-config-map")
	s.wantData("production-eu", "app", "domain", "production-eu.from-secret")
	s.admin("staging", http.MethodDelete, "api/v1/namespaces/$NS/configmaps/override", "")
	s.want(0, apply...)
	s.wantData("staging", "app", "domain", "staging.from-secret")
}

// TestOptionalQueryForgivesNoMisspelledKind: an optional query may lack its object; a kind that the cluster does not
// serve is an error, which names what may be meant.
func TestOptionalQueryForgivesNoMisspelledKind(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	optional := strings.Replace(secretFleet, `obj.data.domain"}},`, `obj.data.domain"}, optional: true},`, 1)
	s.files(optional)
	s.namespace("staging", "production-eu")
	s.want(0, "runtime", "build", "-f", "runtime.cue")
	s.files(strings.ReplaceAll(optional, "ConfigMap:", "ConfigMapp:"))
	s.has(s.want(1, "runtime", "build", "-f", "runtime.cue").Stderr, "does not serve the kind ConfigMapp of v1", "v1 ConfigMap")
}

// TestFactT08QueryBeforeEnvironment: a queried value wins over the environment; one that only the environment has is
// used, and what it switches off is pruned.
func TestFactT08QueryBeforeEnvironment(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(secretFleet + domainBundle)
	s.namespace("staging", "production-eu")
	for _, c := range []string{"staging", "production-eu"} {
		s.admin(c, http.MethodPost, "api/v1/namespaces/$NS/secrets", "apiVersion: v1\nkind: Secret\nmetadata: {name: base}\nstringData: {domain: example.internal}\n")
	}
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.there("production-eu", "app-client")
	s.env = append(s.env, "DOMAIN=not.set", "CLIENT=false")
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-from-env", "-y")
	for _, c := range []string{"staging", "production-eu"} {
		s.wantData(c, "app", "domain", "example.internal")
		s.gone(c, "app-client")
	}
}

// TestFactT09NoSuchCluster: a selection that selects nothing is an error that says what there is.
func TestFactT09NoSuchCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.mark()
	for _, verb := range []string{"apply", "build", "vet", "status", "delete"} {
		r := s.want(1, "bundle", verb, "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-cluster=prod")
		s.has(r.Stderr, `"prod"`, "staging-eu", "production-eu", "production-us")
		r = s.want(1, "bundle", verb, "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-group=prod")
		s.has(r.Stderr, `"prod"`, "staging", "production")
	}
	s.untouched(clusters...)
}

// TestFactT11LocalModule: one module for several instances is rendered for each with its own values; a digest pins the
// content of a folder, and another content is refused before anything is written.
func TestFactT11LocalModule(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(appModule + threadFleet + `
-- bundle.cue --
bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: {
		for n in ["one", "two", "three"] {
			"\(n)": {module: {url: "file://./modules/app"}, namespace: "$NS", values: message: n}
		}
	}
}
`)
	r := s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stderr, "3 renders for 9 instances")
	for _, c := range clusters {
		for _, n := range []string{"one", "two", "three"} {
			s.wantData(c, n, "message", n)
		}
	}
	s.want(0, "lock", "-f", "bundle.cue", "-r", "runtime.cue")
	lock, err := os.ReadFile(filepath.Join(s.dir, "hawser.lock"))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(lock), "sha256:")
	digest := string(lock[at : at+71])
	s.edit("bundle.cue", `"file://./modules/app"}`, `"file://./modules/app", digest: "`+digest+`"}`)
	s.want(0, "bundle", "vet", "-f", "bundle.cue", "-r", "runtime.cue")
	s.edit("modules/app/values.cue", `"hello"`, `"hello there"`)
	s.mark()
	r = s.want(1, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stderr, digest, "bundle.cue:")
	s.untouched(clusters...)
}

// TestFactT13OverlappingBundles: objects of another bundle are conflicts, all of them named with their owner, and none
// that is none; --overwrite-ownership moves them.
func TestFactT13OverlappingBundles(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet)
	for name, instances := range map[string][]string{"one": {"a", "b"}, "two": {"a", "b", "c"}} {
		text := "bundle:\n  apiVersion: v1alpha1\n  name: $B-" + name + "\n  instances:\n"
		for _, n := range instances {
			text += "    " + n + ": {manifests: {paths: [./m/" + n + ".yaml]}, namespace: $NS}\n"
			s.write("m/"+n+".yaml", configMaps("1", n))
		}
		s.write(name+".yaml", s.fill(text))
	}
	s.want(0, "bundle", "apply", "-f", "one.yaml", "-r", "runtime.cue")
	s.mark()
	r := s.want(5, "bundle", "apply", "-f", "two.yaml", "-r", "runtime.cue")
	s.has(r.Stderr, "ConfigMap $NS/a", "ConfigMap $NS/b", "Hawser bundle $B-one")
	s.lacks(r.Stderr, "ConfigMap $NS/c")
	s.untouched(clusters...)
	s.want(0, "bundle", "apply", "-f", "two.yaml", "-r", "runtime.cue", "--overwrite-ownership", "-y")
	for _, c := range clusters {
		if got := s.get(c, "api/v1/namespaces/$NS/configmaps/a").Metadata.Labels["hawser.dev/bundle"]; got != s.bundle+"-two" {
			t.Errorf("%s: a belongs to %q", c, got)
		}
	}
	// what was taken over is left alone by the former owner
	s.want(0, "bundle", "delete", "-f", "one.yaml", "-r", "runtime.cue", "-y")
	for _, c := range clusters {
		s.there(c, "a", "b", "c")
	}
}

// TestFactT14Paths: relative modules are found beside the bundle's file, not from standard input; imports and embedded
// files want --workdir.
func TestFactT14Paths(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet + strings.ReplaceAll(appModule, "-- modules/", "-- there/modules/") + `
-- there/bundle.cue --
bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: app: {module: url: "file://./modules/app", namespace: "$NS"}
}
-- mod/cue.mod/module.cue --
module: "hawser.test/site@v0"
language: version: "v0.9.0"
-- mod/site/site.cue --
package site

message: "imported"
-- mod/data.json --
{"region": "eu"}
-- import.cue --
@extern(embed)

package main

import "hawser.test/site/site"

_data: _ @embed(file=data.json)

bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: app: {module: url: "file://` + s.dir + `/there/modules/app", namespace: "$NS", values: {message: site.message, settings: region: _data.region}}
}
`)
	s.want(0, "bundle", "build", "-f", "there/bundle.cue", "-r", "runtime.cue")
	text, err := os.ReadFile(filepath.Join(s.dir, "there/bundle.cue"))
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = string(text)
	r := s.want(1, "bundle", "build", "-f", "-", "-r", "runtime.cue")
	if r.Stdout != "" {
		t.Errorf("stdout: %s", r)
	}
	s.stdin = strings.Replace(string(text), "file://./modules", "file://"+s.dir+"/there/modules", 1)
	s.want(0, "bundle", "build", "-f", "-", "-r", "runtime.cue")
	s.stdin = ""
	r = s.want(0, "bundle", "build", "-f", "import.cue", "--workdir", "mod", "--kube-context", "staging")
	s.has(r.Stdout, "message: imported", "region: eu")
	r = s.want(1, "bundle", "build", "-f", "import.cue", "--kube-context", "staging")
	s.has(r.Stderr, "imports are unavailable", "--workdir")
	r = s.want(1, "bundle", "build", "-f", "import.cue", "--workdir", "nowhere", "--kube-context", "staging")
	s.has(r.Stderr, "nowhere")
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*"+s.bundle+"*.cue")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestFactT15StatusOfABundle: ready; one object missing; everything deleted.
func TestFactT15StatusOfABundle(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	r := s.want(0, "bundle", "status", s.bundle, "-r", "runtime.cue")
	s.has(r.Stdout, "3 ready")
	s.admin("production-eu", http.MethodDelete, "api/v1/namespaces/$NS/configmaps/my-app-client", "")
	r = s.want(4, "bundle", "status", s.bundle, "-r", "runtime.cue")
	s.has(r.Stdout, "ConfigMap $NS/my-app-client", "2 ready")
	s.lacks(r.Stdout, "ConfigMap $NS/my-app ")
	if n := strings.Count(r.Stdout, "my-app-client"); n != 1 {
		t.Errorf("%d lines about one missing object:\n%s", n, r.Stdout)
	}
	s.want(0, "bundle", "delete", s.bundle, "-r", "runtime.cue")
	s.want(1, "bundle", "status", s.bundle, "-r", "runtime.cue")
}

// TestFactT16StatusAndDeleteAcrossClusters: both instances of both clusters are listed, then gone, last cluster first.
func TestFactT16StatusAndDeleteAcrossClusters(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet + `
-- bundle.cue --
bundle: {
	_cluster: string @timoni(runtime:string:TIMONI_CLUSTER_NAME)
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: {
		"\(_cluster)-front": {manifests: paths: ["front.yaml"], namespace: "$NS"}
		"\(_cluster)-back": {manifests: paths: ["back.yaml"], namespace: "$NS"}
	}
}
`)
	s.write("front.yaml", configMaps("1", "front"))
	s.write("back.yaml", configMaps("1", "back"))
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	r := s.want(0, "bundle", "status", "-r", "runtime.cue", s.bundle)
	for _, c := range []string{"staging-eu", "production-eu", "production-us"} {
		s.has(r.Stdout, c+"-front", c+"-back")
	}
	s.mark()
	s.want(0, "bundle", "delete", "-r", "runtime.cue", s.bundle)
	for _, c := range clusters {
		s.gone(c, "front", "back")
	}
	s.strictly("production-us", "production-eu", "staging")
}
