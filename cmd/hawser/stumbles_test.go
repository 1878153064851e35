package main

import (
	"net/http"
	"strings"
	"testing"
)

// newStumble is the late bundle with a module whose messages have a form that what db gives has not.
func newStumble(t *testing.T, preview string) *scene {
	t.Helper()
	s := newLate(t, lateBundle)
	s.edit("modules/app/timoni.cue", "message: string\n", "message: =~\"^(x|db)\"\n")
	s.edit("modules/app/values.cue", `"hello"`, `"db"`)
	s.edit("shop.yaml", "path: data.token}", "path: data.token"+preview+"}")
	return s
}

// A value that comes late and breaks the schema is told of as in a plan: what, where, and of which instance.
func TestLateValueThatBreaksTheSchema(t *testing.T) {
	t.Parallel()
	s := newStumble(t, ", preview: x")
	r := s.want(1, late("apply", "-y", "--cluster", "staging")...)
	s.has(r.Stdout, "failed: app: shop.yaml:11:9: values.message: invalid value")
	s.has(r.Stderr, "staging: shop.yaml:11:9: values.message: invalid value", `=~"^(x|db)"`, "modules/app/timoni.cue:5:11")
}

// What stands in and does not fit is told once for all clusters, with its reason once.
func TestStandInThatDoesNotFitIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newStumble(t, "")
	r := s.want(1, late("plan")...)
	if n := strings.Count(r.Stdout+r.Stderr, "values are known only after db"); n != 1 {
		t.Errorf("told %d times:\n%s%s", n, r.Stdout, r.Stderr)
	}
}

// A path that a declared object does not have is said before anything is written; one that others fill in may come.
func TestLateValueThatIsNotDeclared(t *testing.T) {
	t.Parallel()
	s := newLate(t, lateBundle)
	s.edit("shop.yaml", "path: data.token}", "path: data.tokn}")
	for _, args := range [][]string{late("vet"), late("build"), late("plan"), late("apply", "-y")} {
		r := s.want(1, args...)
		s.has(r.Stdout+r.Stderr, "Secret $NS/db-token of instance db has no data.tokn", "did you mean \"token\"?", "shop.yaml:11")
	}
	s.untouched(clusters...)
}

// A rule that is dropped: the plan shows the value that somebody set and what it becomes, in every form of a plan.
func TestDroppedIgnoreRuleShowsWhatItTakesBack(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(`
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  ignore: [{kind: ConfigMap, paths: [data.k]}]
  instances:
    ig: {manifests: {paths: [./ig.yaml]}, namespace: $NS}
-- ig.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: ig}
data: {k: v}
`)
	on := func(args ...string) []string { return append(args, "-f", "bundle.yaml", "--kube-context", "staging") }
	s.want(0, on("apply", "-y")...)
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/ig", `{"data": {"k": "hand"}}`)
	s.want(0, on("plan", "--detailed-exitcode")...)
	s.edit("bundle.yaml", "  ignore: [{kind: ConfigMap, paths: [data.k]}]\n", "")
	for _, args := range [][]string{{"plan"}, {"plan", "--full"}, {"diff"}} {
		s.has(s.run(on(args...)...).Stdout, "data.k", `"hand"`, `"v"`)
	}
	s.has(s.want(0, on("plan")...).Stdout, "left to others no longer")
	s.has(s.want(0, on("plan", "-o", "json")...).Stdout, `"path": "data.k"`)
	s.want(0, on("apply", "-y")...)
	s.wantData("staging", "ig", "k", "v")
}
