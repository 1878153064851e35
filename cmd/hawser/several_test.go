package main

import (
	"strings"
	"testing"
)

// severalBundles are a platform with a definition, an application that requires it, with an object of that kind, a Secret by a
// reference and nothing else, and a third that nobody requires.
const severalBundles = threadFleet + `
-- bundle.yaml --
bundles:
  $B-app:
    apiVersion: v1alpha1
    name: $B-app
    requires: [{bundle: $B-platform}]
    instances:
      app: {manifests: {paths: [./app.yaml]}, namespace: $NS}
  $B-platform:
    apiVersion: v1alpha1
    name: $B-platform
    instances:
      base: {manifests: {paths: [./platform.yaml]}, namespace: $NS}
  $B-web:
    apiVersion: v1alpha1
    name: $B-web
    instances:
      web: {manifests: {paths: [./web.yaml]}, namespace: $NS}
-- platform.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.$NS.example}
spec:
  group: $NS.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]
-- app.yaml --
apiVersion: $NS.example/v1
kind: Widget
metadata: {name: w}
spec: {size: 1}
-- web.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {v: "1"}
`

// TestSeveralBundles: every bundle of the files is planned and checked on every cluster before the first write of any; all
// problems are said at once. What a required bundle brings is known only at apply. A bundle that fails stops what requires it.
func TestSeveralBundles(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(severalBundles)
	all := []string{"-f", "bundle.yaml", "-r", "runtime.cue"}
	args := func(verb string, more ...string) []string { return append(append([]string{verb}, all...), more...) }

	s.mark()
	s.edit("web.yaml", "data: {v:", "dta: {v:")
	s.edit("app.yaml", "size: 1", "sise: 1")
	for _, verb := range [][]string{args("plan"), args("apply", "-y"), args("apply", "-y", "-o", "json")} {
		r := s.want(1, verb...)
		s.has(r.Stdout+r.Stderr, "dta", "sise", "web.yaml:4", "app.yaml:4")
		if verb[0] == "apply" && len(verb) == 6 {
			s.has(r.Stderr, "Nothing of any of the 3 bundles was written.")
		}
		if verb[0] == "apply" && len(verb) > 6 && strings.Count(r.Stdout, `"type":"summary"`) != 3 {
			t.Errorf("not one summary for each bundle:\n%s", r.Stdout)
		}
	}
	s.write("web.yaml.kept", s.read("web.yaml"))
	s.edit("bundle.yaml", "./web.yaml", "./missing.yaml")
	r := s.want(1, args("apply", "-y")...)
	s.has(r.Stderr, "missing.yaml", "sise")
	s.edit("bundle.yaml", "./missing.yaml", "./web.yaml")
	s.untouched(clusters...)

	s.edit("web.yaml", "dta: {v:", "data: {v:")
	s.edit("app.yaml", "sise: 1", "size: 1")
	r = s.want(2, args("plan", "--detailed-exitcode", "--server-check")...)
	s.has(r.Stdout, "Bundle $B-app", "Bundle $B-platform", "Bundle $B-web", "server check deferred")
	s.want(0, args("vet")...)
	r = s.want(0, args("build")...)
	s.has(r.Stdout, "kind: Widget", "name: web")
	s.untouched(clusters...)
	r = s.want(0, args("apply", "-y")...)
	s.has(r.Stdout, "Applied $B-platform", "Applied $B-app", "Applied $B-web")
	s.touched(clusters...)
	s.mark()
	s.want(0, args("apply", "-y")...)
	s.untouched(clusters...)
	for _, c := range clusters {
		if n := len(s.requests(c)); n > 3*16 {
			t.Errorf("%s: an unchanged run of three bundles sends %d requests", c, n)
		}
	}

	// the platform fails on its first cluster: the application is not begun anywhere, the third bundle is
	s.edit("platform.yaml", "metadata: {name: widgets", "metadata: {annotations: {x: z}, name: widgets")
	s.write("platform.yaml", s.read("platform.yaml")+"\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: never}\nspec: {containers: [{name: c, image: example.com/never:1}]}\n")
	s.edit("app.yaml", "size: 1", "size: 2")
	s.edit("web.yaml", `"1"`, `"2"`)
	s.mark()
	r = s.want(3, args("apply", "-y", "--timeout", "2s")...)
	s.has(strings.Join(strings.Fields(r.Stderr), " "), "bundle $B-app was not begun: it requires $B-platform, which was not done")
	s.has(r.Stdout, "Applied $B-web")
	for _, c := range clusters {
		s.wantData(c, "web", "v", "2")
		for _, w := range s.written(c) {
			if strings.Contains(w, "widgets/") {
				t.Errorf("%s: %s", c, w)
			}
		}
	}
}

// TestDeleteOfSeveralGoesOn: a delete of several bundles that was killed after some of them is resumed by the same command, from
// whichever bundle it was killed after; only where none is anywhere it is a mistake.
func TestDeleteOfSeveralGoesOn(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(severalBundles)
	all := []string{"-f", "bundle.yaml", "-r", "runtime.cue", "-y"}
	for _, done := range []string{"$B-web", "$B-app"} {
		s.want(0, append([]string{"apply"}, all...)...)
		s.want(0, append([]string{"delete", "--bundle", s.fill(done)}, all...)...)
		r := s.want(0, append([]string{"delete"}, all...)...)
		s.has(r.Stderr, "bundle "+done+" is not installed on any selected cluster")
		s.has(r.Stdout, "Deleted $B-platform")
		s.lacks(r.Stdout, "Deleted "+done)
	}
	r := s.want(1, append([]string{"delete"}, all...)...)
	s.has(r.Stderr, "Nothing of any of the 3 bundles was written.")
}
