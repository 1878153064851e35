package main

import (
	"strings"
	"testing"
)

const lateFleet = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters:
    staging: {group: staging, kubeContext: staging, vars: {region: eu}}
    production-eu: {group: production, kubeContext: production-eu, vars: {region: eu-1}}
    production-us: {group: production, kubeContext: production-us, vars: {region: us-1}}
  secretStores:
    default: {env: {prefix: SHOP_}}
  rollout:
    waves:
    - {groups: [staging]}
    - {groups: [production]}
`

// lateBundle: db makes a Secret with its cluster's region in it; app takes it, a text of a file, and a secret from the
// environment; web depends on app and takes nothing.
const lateBundle = appModule + lateFleet + `
-- shop.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    web: {manifests: {paths: [./m/web.yaml]}, namespace: $NS, dependsOn: [app]}
    app:
      module: {url: "file://./modules/app"}
      namespace: $NS
      values:
        client: false
        message: {from: {instance: db, object: v1/Secret/db-token, path: data.token}}
        token: ref://TOKEN
        settings: {motto: {from: {file: ./values/motto.yaml, path: motto.long}}}
    db:
      module: {url: "file://./modules/app"}
      namespace: $NS
      values:
        client: false
        message: db
        token: {$cluster: vars.region}
-- values/motto.yaml --
motto: {long: tied up well}
-- m/web.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {a: b}
`

var onLate = []string{"-f", "shop.yaml", "--fleet", "fleet.yaml"}

func late(args ...string) []string { return append(args, onLate...) }

func newLate(t *testing.T, files string) *scene {
	t.Helper()
	s := newScene(t)
	s.env = append(s.env, "SHOP_TOKEN=canary-token-in-the-environment")
	s.files(files)
	return s
}

// A first apply in one run: app takes what db writes in the same run, on every cluster its own. Nothing changed costs no
// write and no render; a changed value re-renders what takes it.
func TestLateValues(t *testing.T) {
	t.Parallel()
	s := newLate(t, lateBundle)
	r := s.want(0, late("plan", "--full")...)
	s.has(r.Stdout, "values are known after db", "ConfigMap")
	s.lacks(r.Stdout+r.Stderr, "canary-token")
	r = s.want(0, late("apply", "-y", "--diff")...)
	s.lacks(r.Stdout+r.Stderr, "canary-token")
	regions := map[string]string{"staging": "eu", "production-eu": "eu-1", "production-us": "us-1"}
	for c, region := range regions {
		s.wantData(c, "app", "message", region)
		s.wantData(c, "app", "motto", "tied up well")
		s.there(c, "web")
		if got := s.get(c, "api/v1/namespaces/$NS/secrets/app-token"); got == nil || got.Data["token"] == "" {
			t.Errorf("%s: the token of the environment has not come", c)
		}
	}

	s.mark()
	r = s.want(0, late("apply", "-y")...)
	s.untouched(clusters...)
	s.has(r.Stderr, "0 renders")

	s.edit("fleet.yaml", "us-1", "us-2")
	r = s.want(0, late("plan", "-o", "json")...)
	s.has(r.Stdout, `"late":`, `"after":`)
	s.mark()
	s.want(0, late("apply", "-y")...)
	for _, c := range []string{"staging", "production-eu"} {
		if w := s.written(c); len(w) > 0 {
			t.Errorf("%s: written %v", c, w)
		}
	}
	s.wantData("production-us", "app", "message", "us-2")

	s.mark()
	r = s.want(0, late("apply", "-y")...)
	s.untouched(clusters...)
	s.has(r.Stderr, "0 renders")

	// the order of one cluster: db's Secret, app's objects, web
	s.want(0, late("delete", "-y")...)
	s.mark()
	s.want(0, late("apply", "-y", "--cluster", "staging")...)
	order := strings.Join(s.written("staging"), " ")
	if db, app, web := strings.Index(order, "secrets/db-token"), strings.Index(order, "configmaps/app"), strings.Index(order, "configmaps/web"); db < 0 || app < db || web < app {
		t.Errorf("written in the order %s", order)
	}
}
