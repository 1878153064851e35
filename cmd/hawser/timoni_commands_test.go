package main

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"testing"
)

// TestT18NameAndGroupAreSet: name and group of a declared cluster are runtime values, whatever the environment says.
func TestT18NameAndGroupAreSet(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.env = append(s.env, "TIMONI_CLUSTER_NAME=wrong", "TIMONI_CLUSTER_GROUP=wrong")
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-from-env")
	s.wantData("staging", "my-app", "name", "staging-eu")
	s.wantData("staging", "my-app", "message", "for staging")
	s.wantData("production-us", "my-app", "name", "production-us")
}

// TestT19KubeconfigUntouched: every cluster is reached by its own context, and the user's kubeconfig keeps every byte,
// its current context included.
func TestT19KubeconfigUntouched(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	before, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(s.config)
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.want(0, "bundle", "delete", "-f", "bundle.cue", "-r", "runtime.cue")
	after, err := os.ReadFile(s.config)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the kubeconfig changed (%v)", err)
	}
	if now, _ := os.Stat(s.config); !now.ModTime().Equal(info.ModTime()) {
		t.Error("the kubeconfig was written")
	}
}

// TestT20OneGroup: --runtime-group narrows: the other group is neither changed nor pruned.
func TestT20OneGroup(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.edit("bundle.cue", `"my-app": {`, `"other": {module: url: "file://./modules/app", namespace: "$NS"}
        "my-app": {`)
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.edit("bundle.cue", `"other": {module: url: "file://./modules/app", namespace: "$NS"}`, "")
	s.edit("bundle.cue", `"yes"`, `"changed"`)
	s.mark()
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-cluster=*", "--runtime-group=production", "-y")
	s.untouched("staging")
	s.wantData("staging", "my-app", "everywhere", "yes")
	s.there("staging", "other", "other-client")
	for _, c := range clusters[1:] {
		s.wantData(c, "my-app", "everywhere", "changed")
		s.gone(c, "other", "other-client")
	}
}

// TestT21PreviewWritesNothing: --dry-run --diff shows the changes and alters nothing: no object, namespace, record or
// lock; what is asked of the API servers is marked as a dry run.
func TestT21PreviewWritesNothing(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	preview := []string{"bundle", "apply", "--dry-run", "--diff", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-cluster=*"}
	s.mark()
	r := s.want(0, preview...)
	s.has(r.Stdout, "+ ConfigMap $NS/my-app")
	s.untouched(clusters...)

	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.edit("bundle.cue", `"yes"`, `"changed"`)
	s.mark()
	r = s.want(0, preview...)
	s.has(r.Stdout, "~ ConfigMap $NS/my-app", "data.everywhere", `"yes" -> "changed"`)
	r = s.want(0, "bundle", "apply", "--diff", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stdout, `"yes" -> "changed"`)
	s.untouched(clusters...)
	s.wantData("staging", "my-app", "everywhere", "yes")
}

// TestT22VetPrintsValues: vet prints the computed value of the bundle, under the cluster's name where clusters are
// declared, bare without.
func TestT22VetPrintsValues(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	value := func(name, message, only string) string {
		return s.fill(`bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: {
		"my-app": {
			module: {
				url:     "file://./modules/app"
				version: *"latest" | string
			}
			namespace: "$NS"
			values: {
				settings: {
					everywhere: "yes"
					name:       "` + name + `"
` + only + `				}
				message: "` + message + `"
			}
		}
	}
}
`)
	}
	r := s.want(0, "bundle", "vet", "--print-value", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-cluster=*")
	want := `"staging-eu": ` + value("staging-eu", "for staging", "") +
		`"production-eu": ` + value("production-eu", "for production", "") +
		`"production-us": ` + value("production-us", "for production", "\t\t\t\t\tonly:       \"us\"\n")
	if r.Stdout != want {
		t.Errorf("got:\n%s\nwant:\n%s", r.Stdout, want)
	}
	r = s.want(0, "bundle", "vet", "--print-value", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-cluster=staging-eu")
	if want := `"staging-eu": ` + value("staging-eu", "for staging", ""); r.Stdout != want {
		t.Errorf("got:\n%s\nwant:\n%s", r.Stdout, want)
	}
	s.env = append(s.env, "TIMONI_CLUSTER_NAME=one", "TIMONI_CLUSTER_GROUP=staging")
	r = s.want(0, "bundle", "vet", "--print-value", "-f", "bundle.cue", "--runtime-from-env")
	if want := value("one", "for staging", ""); r.Stdout != want {
		t.Errorf("got:\n%s\nwant:\n%s", r.Stdout, want)
	}
}

// TestT23StatusAndDelete: status and delete take --runtime and work across clusters.
func TestT23StatusAndDelete(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	for _, args := range [][]string{{s.bundle}, {"-f", "bundle.cue"}} {
		r := s.want(0, append([]string{"bundle", "status", "--runtime", "runtime.cue"}, args...)...)
		s.has(r.Stdout, "staging-eu", "production-eu", "production-us", "my-app", "3 ready")
	}
	s.want(0, "bundle", "delete", s.bundle, "--runtime", "runtime.cue", "--runtime-group", "staging")
	s.gone("staging", "my-app", "my-app-client")
	s.there("production-eu", "my-app")
	s.want(0, "bundle", "delete", "-f", "bundle.cue", "--runtime", "runtime.cue", "--skip-unreachable")
	for _, c := range clusters {
		s.gone(c, "my-app", "my-app-client")
	}
	s.want(1, "bundle", "status", s.bundle, "--runtime", "runtime.cue")
}

// TestT24OnlyClustersAreRead: status and delete read nothing of the runtime but its clusters: what its values are
// queried from may be gone.
func TestT24OnlyClustersAreRead(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.edit("runtime.cue", "values: [...]", `values: [{query: "k8s:v1:ConfigMap:$NS:region", for: {REGION: "obj.data.region"}}]`)
	s.edit("bundle.cue", "settings: name: _cluster", "settings: name: _cluster\n                settings: region: _region")
	s.edit("bundle.cue", "bundle: {", "bundle: {\n    _region: string @timoni(runtime:string:REGION)")
	s.namespace(clusters...)
	for _, c := range clusters {
		s.admin(c, http.MethodPost, "api/v1/namespaces/$NS/configmaps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: region}\ndata: {region: r-"+c+"}\n")
	}
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	for _, c := range clusters {
		s.wantData(c, "my-app", "region", "r-"+c)
		s.admin(c, http.MethodDelete, "api/v1/namespaces/$NS/configmaps/region", "")
	}
	s.mark()
	r := s.want(1, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stderr, "k8s:v1:ConfigMap:$NS:region")
	s.untouched(clusters...)
	s.want(0, "bundle", "status", "-f", "bundle.cue", "-r", "runtime.cue")
	s.want(0, "bundle", "delete", "-f", "bundle.cue", "-r", "runtime.cue")
	for _, c := range clusters {
		s.gone(c, "my-app")
		for _, e := range s.requests(c) {
			if e.Resource == "configmaps" && e.Name == "region" && e.Method != http.MethodGet {
				t.Errorf("%s: %v", c, e)
			}
		}
	}
}

// TestT25HeadsOfBuild: several clusters are built at once, each instance headed as the thread writes it.
func TestT25HeadsOfBuild(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.edit("bundle.cue", "settings: name: _cluster", "client: false")
	object := func(message, only string) string {
		return s.fill("---\napiVersion: v1\ndata:\n  everywhere: \"yes\"\n  message: " + message + "\n" + only + "kind: ConfigMap\nmetadata:\n  name: my-app\n  namespace: $NS\n")
	}
	r := s.want(0, "bundle", "build", "-f", "bundle.cue", "-r", "runtime.cue")
	want := "---\n# Instance: my-app\n# Cluster: staging-eu\n" + object("for staging", "") +
		"---\n# Instance: my-app\n# Cluster: production-eu\n" + object("for production", "") +
		"---\n# Instance: my-app\n# Cluster: production-us\n" + object("for production", "  only: us\n")
	if r.Stdout != want {
		t.Errorf("got:\n%s\nwant:\n%s", r.Stdout, want)
	}
	r = s.want(0, "bundle", "build", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-cluster", "staging-eu")
	if want := "---\n# Instance: my-app\n" + object("for staging", ""); r.Stdout != want {
		t.Errorf("got:\n%s\nwant:\n%s", r.Stdout, want)
	}
}

// TestT26CommonFlags: apply, build, vet, status and delete all take --runtime, --runtime-from-env, --runtime-cluster and
// --runtime-group, with effect.
func TestT26CommonFlags(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.edit("bundle.cue", "settings: name: _cluster", "settings: name: _cluster\n                settings: env: _var")
	s.edit("bundle.cue", "bundle: {", "bundle: {\n    _var: *\"default\" | string @timoni(runtime:string:VAR)")
	s.env = append(s.env, "VAR=from-env")
	common := []string{"-f", "bundle.cue", "--runtime", "runtime.cue", "--runtime-from-env"}
	for _, sel := range []struct{ flag, in, out string }{
		{"--runtime-cluster=production-us", "production-us", "production-eu"},
		{"--runtime-group=staging", "staging-eu", "production-us"},
	} {
		run := func(verb string, more ...string) string {
			r := s.want(0, slices.Concat([]string{"bundle", verb}, common, []string{sel.flag}, more)...)
			return r.Stdout + r.Stderr
		}
		text := run("vet", "--print-value")
		s.has(text, `"`+sel.in+`": bundle`, `env:        "from-env"`)
		s.lacks(text, `"`+sel.out+`": bundle`)
		text = run("build")
		s.has(text, "name: "+sel.in, "env: from-env")
		s.lacks(text, "name: "+sel.out+"\n")
		text = run("apply")
		s.has(text, sel.in)
		s.lacks(text, sel.out)
		text = run("status")
		s.has(text, sel.in)
		s.lacks(text, sel.out)
	}
	s.wantData("staging", "my-app", "env", "from-env")
	s.gone("production-eu", "my-app")
	s.want(0, slices.Concat([]string{"bundle", "delete"}, common, []string{"--runtime-cluster=production-us", "--runtime-group=production"})...)
	s.gone("production-us", "my-app")
	s.there("staging", "my-app")
	r := s.want(1, slices.Concat([]string{"bundle", "delete"}, common, []string{"--runtime-cluster=production-us", "--runtime-group=staging"})...)
	s.has(r.Stderr, "production-us", "staging")
}

// TestT27NoClusters: without --runtime, and with a runtime without clusters, there is one cluster: the current context.
func TestT27NoClusters(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + clusterInfo)
	s.currentContext("production-eu")
	s.namespace("production-eu")
	s.clusterInfo("production-eu", "one", "production")
	s.mark()
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.wantData("production-eu", "my-app", "message", "for production")
	s.want(0, "bundle", "delete", "-f", "bundle.cue", "-r", "runtime.cue")
	s.gone("production-eu", "my-app")
	s.want(0, "bundle", "apply", "-f", "bundle.cue")
	s.wantData("production-eu", "my-app", "message", "hello") // neither group
	s.untouched("staging", "production-us")
}

// TestT28Default: without declared clusters name and group are "default", in the values and in what is printed; the
// environment comes before that.
func TestT28Default(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle)
	r := s.want(0, "bundle", "apply", "-f", "bundle.cue", "--kube-context", "staging")
	s.has(r.Stdout, "default ")
	s.wantData("staging", "my-app", "name", "default")
	s.has(s.want(0, "bundle", "vet", "-f", "bundle.cue", "--print-value", "--kube-context", "staging").Stdout, `name:       "default"`)
	values := s.want(0, "fleet", "values", "--kube-context", "staging").Stdout
	s.has(values, "TIMONI_CLUSTER_NAME   default", "TIMONI_CLUSTER_GROUP  default")
	// a field with a default of its own keeps it
	s.edit("bundle.cue", "_env:     string", `_env:     *"staging" | string`)
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "--kube-context", "staging")
	s.wantData("staging", "my-app", "message", "for staging")
}

// TestT29ContextShown: the target is the current context or --kube-context, and before a yes the server is shown.
func TestT29ContextShown(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle)
	s.currentContext("staging")
	for _, c := range []struct {
		cluster string
		args    []string
	}{{"staging", nil}, {"production-eu", []string{"--kube-context", "production-eu"}}} {
		s.mark()
		code, said := s.interactively("n\n", append([]string{"apply", "-f", "bundle.cue"}, c.args...)...)
		s.has(said, "First to be written: ", s.fleet.Cluster(c.cluster).URL, "Namespace $NS", "[y/N]")
		if code != 5 {
			t.Errorf("exit %d:\n%s", code, said)
		}
		s.untouched(clusters...)
		if code, said = s.interactively("y\n", append([]string{"apply", "-f", "bundle.cue"}, c.args...)...); code != 0 {
			t.Errorf("exit %d:\n%s", code, said)
		}
		s.there(c.cluster, "my-app")
	}
	s.untouched("production-us")
}

// TestT30NeverTheWrongContext: a context that is misspelled, or missing in the fleet, is an error before anything is
// written anywhere; it never means the current context.
func TestT30NeverTheWrongContext(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.currentContext("production-us")
	s.mark()
	s.edit("runtime.cue", `kubeContext: "production-eu"`, `kubeContext: "production-ue"`)
	r := s.want(1, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stderr, "production-ue", `did you mean "production-eu"?`)
	s.edit("runtime.cue", `kubeContext: "production-ue"`, ``)
	r = s.want(1, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stderr, "production-eu", "runtime.cue:")
	s.edit("runtime.cue", `kubeContext: "staging"`, `kubecontext: "staging"`)
	r = s.want(1, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stderr, "kubecontext", "kubeContext")
	r = s.want(1, "bundle", "apply", "-f", "bundle.cue", "--kube-context", "stagin")
	s.has(r.Stderr, "stagin", `did you mean "staging"?`)
	s.untouched(clusters...)
}

// TestT31FluxOwnedObject: an object that Flux reconciles is a conflict that names its owner, and is not even adopted.
func TestT31FluxOwnedObject(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.namespace("production-eu")
	s.admin("production-eu", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/my-app", `apiVersion: v1
kind: ConfigMap
metadata:
  name: my-app
  labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}
data: {message: flux}
`, "fieldManager", "kustomize-controller", "force", "true")
	s.mark()
	for _, more := range [][]string{nil, {"--adopt", "-y"}} {
		r := s.want(5, append([]string{"bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue"}, more...)...)
		s.has(r.Stderr, "ConfigMap $NS/my-app", "Flux Kustomization flux-system/apps")
	}
	s.untouched(clusters...)
	s.wantData("production-eu", "my-app", "message", "flux")
}
