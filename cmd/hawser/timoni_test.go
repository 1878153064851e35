package main

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/testfleet"
)

// The tests of this file are the rows of the thread "Declarative multi-cluster deployments", in its words.

// The contexts of the thread, by the clusters of this package.
var threadContexts = []string{"staging", "stg-eu-central-1", "production-eu", "prod-eu-central-1", "production-us", "prod-us-west-1"}

// TestT01DeclarativeFleet: the thread's fleet, word for word, on four API servers: the target clusters and environments
// are declared, and one command delivers to all of them.
func TestT01DeclarativeFleet(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	fourth, err := testfleet.Start(testfleet.Options{Clusters: []string{"staging-us"}, Groups: map[string]string{"staging-us": "staging"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fourth.Close(); err != nil {
			t.Error(err)
		}
	})
	s.contexts(threadContexts...)
	s.merge(fourth.UserKubeconfig(t, s.user, "system:masters"), "staging-us", "stg-us-west-1")
	s.files(threadBundle + `
-- runtime.cue --
runtime: {
    apiVersion: "v1alpha1"
    name:       "fleet"
    clusters: {
        "staging-eu": {
            group:       "staging"
            kubeContext: "stg-eu-central-1"
        }
        "staging-us": {
            group:       "staging"
            kubeContext: "stg-us-west-1"
        }
        "production-eu": {
            group:       "production"
            kubeContext: "prod-eu-central-1"
        }
        "production-us": {
            group:       "production"
            kubeContext: "prod-us-west-1"
        }
    }
    values: [...]
}
`)
	r := s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue", "--runtime-cluster=*")
	s.has(r.Stdout, "staging-eu", "staging-us", "production-eu", "production-us", "Applied $B on 4 clusters")
	s.wantData("staging", "my-app", "message", "for staging")
	s.wantData("production-eu", "my-app", "message", "for production")
	s.wantData("production-us", "my-app", "message", "for production")
	us := *s
	us.fleet = fourth
	us.wantData("staging-us", "my-app", "message", "for staging")
	us.wantData("staging-us", "my-app", "name", "staging-us")
	if r = s.want(0, "status", "-f", "bundle.cue", "-r", "runtime.cue"); !strings.Contains(r.Stdout, "4 clusters: 4 ready") {
		t.Errorf("status: %s", r)
	}
}

// TestT02ValuesByGroupAndName: the configuration of an app by group and by cluster name, seen in the live objects.
func TestT02ValuesByGroupAndName(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	for _, c := range clusters {
		s.wantData(c, "my-app", "everywhere", "yes")
	}
	s.wantData("staging", "my-app", "message", "for staging")
	s.wantData("production-eu", "my-app", "message", "for production")
	s.wantData("production-us", "my-app", "message", "for production")
	s.wantData("staging", "my-app", "only", "")
	s.wantData("production-eu", "my-app", "only", "")
	s.wantData("production-us", "my-app", "only", "us")
}

// TestT03ThreadBundle: the bundle of the thread with its runtime attributes and nested ifs, nothing changed but where
// the module lies, is valid and gives every cluster its own value.
func TestT03ThreadBundle(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet + `
-- modules/my-app/cue.mod/module.cue --
module: "hawser.test/any"
language: version: "v0.9.0"
-- modules/my-app/values.cue --
package main
-- modules/my-app/timoni.cue --
package main

values: {...}
timoni: {
	apiVersion: "v1alpha1"
	instance: {name: string @tag(name), namespace: string @tag(namespace)}
	apply: all: [{apiVersion: "v1", kind: "ConfigMap", metadata: instance}]
}
-- bundle.cue --
bundle: {
    _cluster: string @timoni(runtime:string:TIMONI_CLUSTER_NAME)
    _env:     string @timoni(runtime:string:TIMONI_CLUSTER_GROUP)

    apiVersion: "v1alpha1"
    name:       "apps"
    instances: {
        "my-app": {
            module: url: "file://./modules/my-app"
            namespace: "apps"
            values: {
                // common values to all clusters in all environments

                if _env == "staging" {
                    // common values to all staging clusters
                }

                if _env == "production" {
                    // common values to all production clusters

                    if _cluster == "production-gov" {
                        // cluster specific values
                    }
                }
            }
        }
    }
}
`)
	r := s.want(0, "bundle", "vet", "-f", "bundle.cue", "--runtime", "runtime.cue")
	s.has(r.Stderr, "instance my-app is valid", "bundle apps is valid on 3 clusters")
}

// TestT04TargetFromEnvironment: the first of the "current solutions", two exports and two lines with only the program's
// name changed.
func TestT04TargetFromEnvironment(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.contexts(threadContexts...)
	s.files(threadBundle)
	s.mark()

	s.env = append(s.env, "TIMONI_CLUSTER_NAME=staging-eu", "TIMONI_CLUSTER_GROUP=staging")
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "--runtime-from-env", "--kube-context", "stg-eu-central-1")
	s.wantData("staging", "my-app", "message", "for staging")
	s.wantData("staging", "my-app", "name", "staging-eu")
	s.untouched("production-eu", "production-us")

	s.env = append(s.env, "TIMONI_CLUSTER_NAME=production-eu", "TIMONI_CLUSTER_GROUP=production")
	s.mark()
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "--runtime-from-env", "--kube-context", "prod-eu-central-1")
	s.wantData("production-eu", "my-app", "message", "for production")
	s.wantData("production-eu", "my-app", "name", "production-eu")
	s.untouched("staging", "production-us")
}

const clusterInfo = `
-- runtime.cue --
runtime: {
    apiVersion: "v1alpha1"
    name:       "cluster-info"
    values: [
        {
            query: "k8s:v1:ConfigMap:$NS:cluster-info"
            for: {
                "TIMONI_CLUSTER_NAME":  "obj.data.name"
                "TIMONI_CLUSTER_GROUP": "obj.data.group"
            }
        },
    ]
}
`

// clusterInfo puts the thread's ConfigMap into a cluster, in the scene's namespace.
func (s *scene) clusterInfo(cluster, name, group string) {
	s.t.Helper()
	s.admin(cluster, http.MethodPost, "api/v1/namespaces/$NS/configmaps", fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-info}\ndata: {name: %s, group: %s}\n", name, group))
}

// TestT05TargetFromConfigMap: the second of the "current solutions": a ConfigMap in each cluster decides.
func TestT05TargetFromConfigMap(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.contexts(threadContexts...)
	s.files(threadBundle + clusterInfo)
	s.namespace("staging", "production-eu")
	s.clusterInfo("staging", "staging-eu", "staging")
	s.clusterInfo("production-eu", "production-eu", "production")

	s.want(0, "bundle", "apply", "-f", "bundle.cue", "--runtime", "runtime.cue", "--kube-context", "stg-eu-central-1")
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "--runtime", "runtime.cue", "--kube-context", "prod-eu-central-1")
	s.wantData("staging", "my-app", "message", "for staging")
	s.wantData("staging", "my-app", "name", "staging-eu")
	s.wantData("production-eu", "my-app", "message", "for production")
	s.wantData("production-eu", "my-app", "name", "production-eu")
	s.gone("production-us", "my-app")
}

// TestT06ContextAndFleet: --kube-context goes with a runtime of values only; beside declared clusters it is an error,
// not ignored.
func TestT06ContextAndFleet(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet + strings.ReplaceAll(clusterInfo, "runtime.cue", "values.cue"))
	s.namespace("staging")
	s.clusterInfo("staging", "one", "staging")
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "--runtime", "values.cue", "--kube-context", "staging")
	s.wantData("staging", "my-app", "name", "one")

	s.mark()
	r := s.want(1, "bundle", "apply", "-f", "bundle.cue", "--runtime", "runtime.cue", "--kube-context", "production-eu")
	s.has(r.Stderr, "--kube-context", "--cluster")
	s.untouched(clusters...)
}

// TestT07OriginsInThePlan: runtime values are not opaque: when another run brings others, the plan says which changed
// and where they come from.
func TestT07OriginsInThePlan(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle)
	s.env = append(s.env, "TIMONI_CLUSTER_NAME=one", "TIMONI_CLUSTER_GROUP=staging")
	apply := []string{"-f", "bundle.cue", "--runtime-from-env", "--kube-context", "staging"}
	s.want(0, append([]string{"bundle", "apply"}, apply...)...)
	s.env = append(s.env, "TIMONI_CLUSTER_GROUP=production")
	r := s.want(0, append([]string{"plan"}, apply...)...)
	s.has(r.Stdout, "TIMONI_CLUSTER_GROUP staging -> production (env)")
	s.lacks(r.Stdout, "TIMONI_CLUSTER_NAME")
	r = s.want(0, append([]string{"plan", "-o", "json"}, apply...)...)
	s.has(r.Stdout, "TIMONI_CLUSTER_GROUP staging -> production (env)")
	oneDocument(t, r.Stdout)

	// the record has learned it: the next run says nothing
	s.want(0, append([]string{"bundle", "apply"}, apply...)...)
	r = s.want(0, append([]string{"plan"}, apply...)...)
	s.lacks(r.Stdout, "TIMONI_CLUSTER_GROUP")
}

// TestT08SwappedContexts: staging's configuration never reaches production: a fleet entry may say which cluster it must
// be, and without that the first apply remembers it.
func TestT08SwappedContexts(t *testing.T) {
	t.Parallel()
	uid := func(s *scene, c string) string { return s.get(c, "api/v1/namespaces/kube-system").Metadata.UID }
	swap := []string{"staging", "production-eu", "production-eu", "staging"}

	t.Run("declared, at the very first apply", func(t *testing.T) {
		s := newScene(t)
		s.files(threadBundle + threadFleet)
		s.edit("runtime.cue", `kubeContext: "staging"`, `kubeContext: "staging", uid: "`+uid(s, "staging")+`"`)
		s.contexts(swap...)
		s.mark()
		r := s.want(5, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
		s.has(r.Stderr, "staging-eu", uid(s, "staging"), uid(s, "production-eu"))
		s.untouched(clusters...)
	})
	t.Run("learned", func(t *testing.T) {
		s := newScene(t)
		s.files(threadBundle + threadFleet)
		s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
		s.contexts(swap...)
		s.mark()
		for _, args := range [][]string{{"bundle", "apply", "-f", "bundle.cue"}, {"plan", "-f", "bundle.cue"}, {"bundle", "delete", "-f", "bundle.cue"}} {
			r := s.want(5, append(args, "-r", "runtime.cue")...)
			s.has(r.Stderr, "staging-eu", "production-eu")
		}
		s.untouched(clusters...)
		// also where the lock file is not at hand: the record in the cluster knows
		if err := os.Remove(s.dir + "/hawser.lock"); err != nil {
			t.Fatal(err)
		}
		r := s.want(5, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
		s.has(r.Stderr, "swapped")
		s.untouched(clusters...)
	})
}

// TestT09NothingAheadOfTime: nothing has to be in a cluster ahead of time: name and group come from the fleet, and no
// ConfigMap is asked for.
func TestT09NothingAheadOfTime(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.mark()
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	for _, c := range clusters {
		for _, e := range s.requests(c) {
			if e.Resource == "configmaps" && e.Verb == "get" {
				t.Errorf("%s was asked for ConfigMap %s/%s", c, e.Namespace, e.Name)
			}
		}
	}
	s.wantData("production-us", "my-app", "name", "production-us")
}

// TestT10ValuesOfAllClusters: one command shows the runtime values of every cluster, in both spellings.
func TestT10ValuesOfAllClusters(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadFleet)
	s.edit("runtime.cue", "values: [...]", `values: [{query: "k8s:v1:Namespace:kube-system", for: {CLUSTER_UID: "obj.metadata.uid"}}]`)
	values := s.want(0, "fleet", "values", "-r", "runtime.cue")
	build := s.want(0, "runtime", "build", "-f", "runtime.cue")
	if values.Stdout != build.Stdout {
		t.Errorf("the spellings differ:\n%s\n%s", values.Stdout, build.Stdout)
	}
	for _, c := range clusters {
		s.has(values.Stdout, s.get(c, "api/v1/namespaces/kube-system").Metadata.UID)
	}
	s.has(values.Stdout, "staging-eu", "production-eu", "production-us", "CLUSTER_UID", "TIMONI_CLUSTER_GROUP")
}

// TestT11RenamedAndRegrouped: a cluster that gets another name or group is the same cluster: nothing is deleted. vet
// warns of conditions on names that no cluster has.
func TestT11RenamedAndRegrouped(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	apply := []string{"bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue", "-o", "json"}
	s.want(0, apply[:6]...)
	s.edit("runtime.cue", `"production-us": {`, `"production-west": {`)
	s.edit("runtime.cue", `group:       "staging"`, `group:       "production"`)
	s.mark()
	r := s.want(0, "plan", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stdout, "0 to delete")
	vet := s.want(0, "vet", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(vet.Stderr, "Warning:", `"production-us"`, "bundle.cue:", `"staging"`)
	s.want(0, apply...)
	s.wantData("staging", "my-app", "message", "for production")
	s.wantData("production-us", "my-app", "name", "production-west")
	for _, c := range clusters {
		for _, e := range s.writes(c) {
			if e.Verb == "delete" && e.Resource != "leases" && e.Namespace != "hawser-system" {
				t.Errorf("%s: deleted %s/%s", c, e.Resource, e.Name)
			}
		}
	}
}

// TestT12OneCommand: what took one command per cluster takes one, and the same again changes nothing anywhere.
func TestT12OneCommand(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	s.mark()
	s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.touched(clusters...)
	s.mark()
	r := s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue")
	s.has(r.Stderr, "No changes")
	s.untouched(clusters...)
}

// TestT13ForScripts: no scripting around the program: exit codes say what happened, and the events are JSON.
func TestT13ForScripts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	args := []string{"-f", "bundle.cue", "-r", "runtime.cue"}
	s.want(2, append([]string{"plan", "--detailed-exitcode"}, args...)...)
	r := s.want(0, append([]string{"apply", "-y", "-o", "json"}, args...)...)
	events := documents(t, r.Stdout)
	last := events[len(events)-1]
	summary, _ := last["summary"].(map[string]any)
	if last["type"] != "summary" || summary["result"] != "succeeded" || len(summary["clusters"].([]any)) != 3 {
		t.Errorf("the last event is not the summary: %v", last)
	}
	s.want(0, append([]string{"plan", "--detailed-exitcode"}, args...)...)
	doc := oneDocument(t, s.want(0, append([]string{"plan", "-o", "json"}, args...)...).Stdout)
	if len(doc["clusters"].([]any)) != 3 {
		t.Errorf("plan: %v", doc)
	}
	status := oneDocument(t, s.want(0, append([]string{"status", "-o", "json"}, args...)...).Stdout)
	if len(status["clusters"].([]any)) != 3 {
		t.Errorf("status: %v", status)
	}
	s.want(1, "plan", "-f", "bundle.cue", "-r", "missing.cue")
	s.want(5, append([]string{"delete"}, args...)...) // nobody said yes
}

// TestT14ClustersAndValues: the runtime of the thread, word for word: clusters with group and kubeContext beside
// "values: [...]".
func TestT14ClustersAndValues(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.contexts(threadContexts...)
	s.files(threadFleet)
	s.edit("runtime.cue", `kubeContext: "staging"`, `kubeContext: "stg-eu-central-1"`)
	s.edit("runtime.cue", `kubeContext: "production-eu"`, `kubeContext: "prod-eu-central-1"`)
	s.edit("runtime.cue", `kubeContext: "production-us"`, `kubeContext: "prod-us-west-1"`)
	r := s.want(0, "fleet", "ls", "-r", "runtime.cue", "-o", "json")
	doc := oneDocument(t, r.Stdout)
	var got []string
	for _, c := range doc["clusters"].([]any) {
		row := c.(map[string]any)
		got = append(got, fmt.Sprint(row["cluster"], " ", row["group"]))
	}
	want := []string{"staging-eu staging", "production-eu production", "production-us production"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.has(r.Stdout, "context stg-eu-central-1 of", "context prod-us-west-1 of")
}

// TestT15LiteralLine: the thread's one command, in CI: no terminal, nobody to ask, exit 0.
func TestT15LiteralLine(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(threadBundle + threadFleet)
	r := s.want(0, "bundle", "apply", "-f", "bundle.cue", "-r", "runtime.cue", `--runtime-cluster=*`)
	s.has(r.Stdout, "Applied $B on 3 clusters")
	for _, c := range clusters {
		s.there(c, "my-app")
	}
}

// TestT16OrderOfTheFleet: clusters change in the order in which the fleet is written, strictly one after another, also
// when it is written in YAML or spread over two files.
func TestT16OrderOfTheFleet(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]string{
		"yaml, not sorted": `
-- a.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters:
    zulu: {group: production, kubeContext: production-us}
    alpha: {group: staging, kubeContext: staging}
    mike: {group: production, kubeContext: production-eu}
`, "two files": `
-- a.cue --
runtime: {
	apiVersion: "v1alpha1"
	name:       "$B"
	clusters: zulu: {group: "production", kubeContext: "production-us"}
}
-- b.cue --
runtime: clusters: {
	alpha: {group: "staging", kubeContext: "staging"}
	mike: {group: "production", kubeContext: "production-eu"}
}
`} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.files(threadBundle + files)
			args := []string{"bundle", "apply", "-f", "bundle.cue"}
			for _, f := range []string{"a.yaml", "a.cue", "b.cue"} {
				if _, err := os.Stat(s.dir + "/" + f); err == nil {
					args = append(args, "-r", f)
				}
			}
			s.mark()
			s.want(0, args...)
			s.strictly("production-us", "staging", "production-eu")
		})
	}
}
