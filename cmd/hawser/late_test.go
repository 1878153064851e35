package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"hawser.dev/hawser/internal/testseed"
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

// Killed at any request of a first apply or of an upgrade in which values are known late, and run again: it converges.
func TestKilledAtEveryRequestWithLateValues(t *testing.T) {
	t.Parallel()
	step, first := testseed.Deaths(t, 40)
	l := emptyLane(t, "staging", "crashlate")
	l.objects = func(int) int { return 4 } // db, db-token, app, web
	l.look = func(v int, where string) {
		data, err := l.client.Get().AbsPath("/api/v1/namespaces/crashlate/configmaps/app").DoRaw(t.Context())
		if err != nil || !strings.Contains(string(data), fmt.Sprintf("secret-of-version-%d", v)) {
			t.Fatalf("%s: app has not got the value: %v\n%s", where, err, data)
		}
	}
	for v := 1; v <= 2; v++ {
		text := strings.NewReplacer("$B", l.name, "$NS", l.name, "token: {$cluster: vars.region}", fmt.Sprintf("token: secret-of-version-%d", v),
			"        token: ref://TOKEN\n", "", "shop.yaml", fmt.Sprintf("v%d.yaml", v)).Replace(lateBundle)
		for _, f := range txtar.Parse([]byte(text)).Files {
			l.write(f.Name, string(f.Data))
		}
	}
	if n := l.try(step, first); n < 4 {
		t.Errorf("only %d points were tried", n)
	}
}

// What cannot come is an error that names object, instance and path, and says which keys there are.
func TestLateValueThatIsMissing(t *testing.T) {
	t.Parallel()
	s := newLate(t, lateBundle)
	s.edit("shop.yaml", "path: data.token}", "path: metadata.labels.tokn}")
	r := s.want(1, late("apply", "-y", "--cluster", "staging")...)
	s.has(r.Stdout+r.Stderr, "Secret $NS/db-token of instance db has no metadata.labels.tokn", "hawser.dev/instance")
	s.gone("staging", "app", "web")
	s.there("staging", "db")
	// now the object is there as declared: the plan itself says it
	s.mark()
	r = s.want(1, late("plan", "--cluster", "staging")...)
	s.has(r.Stdout+r.Stderr, "has no metadata.labels.tokn", "shop.yaml:")
	s.untouched("staging")

	s.edit("shop.yaml", "v1/Secret/db-token, path: metadata.labels.tokn}", "v1/Secret/nobody, path: data.token}")
	start := time.Now()
	r = s.want(4, late("apply", "-y", "--cluster", "staging", "--timeout", "2s")...)
	s.has(r.Stdout+r.Stderr, "Secret $NS/nobody", "is not there")
	if time.Since(start) < 2*time.Second {
		t.Error("an object that somebody else may make was not waited for")
	}
}

// An object that somebody else makes is waited for, however late it comes.
func TestLateValueThatSomebodyElseMakes(t *testing.T) {
	t.Parallel()
	s := newLate(t, lateBundle)
	s.edit("shop.yaml", "v1/Secret/db-token, path: data.token}", "v1/ConfigMap/made, path: data.token, preview: soon}")
	r := s.want(0, late("plan", "--cluster", "staging", "-o", "json")...)
	s.has(r.Stdout, `"late":`)
	made := make(chan struct{})
	go func() {
		defer close(made)
		for range 600 {
			if s.configMap("staging", "db") != nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if err := s.try("staging", http.MethodPost, "api/v1/namespaces/$NS/configmaps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {token: by-an-operator}\n"); err != nil {
			t.Error(err)
		}
	}()
	s.want(0, late("apply", "-y", "--cluster", "staging")...)
	<-made
	s.wantData("staging", "app", "message", "by-an-operator")
	s.mark()
	s.want(0, late("apply", "-y", "--cluster", "staging")...)
	s.untouched("staging")
}

// A plan file holds what late instances do at most; carried out it does the same as one that was not saved. Without
// clusters stand-ins are rendered, and that is said.
func TestLateValuesSavedAndOffline(t *testing.T) {
	t.Parallel()
	s := newLate(t, lateBundle)
	s.want(0, late("plan", "--out", "shop.plan")...)
	s.want(0, "apply", "shop.plan", "-y")
	s.wantData("production-us", "app", "message", "us-1")
	s.edit("fleet.yaml", "us-1", "us-2")
	s.want(0, late("plan", "--out", "shop.plan")...)
	s.edit("fleet.yaml", "us-2", "us-3")
	s.mark()
	s.want(5, "apply", "shop.plan", "-y")
	s.untouched(clusters...)
	s.edit("fleet.yaml", "us-3", "us-2")
	s.want(0, "apply", "shop.plan", "-y")
	s.wantData("production-us", "app", "message", "us-2")

	facts := s.want(0, "fleet", "snapshot", "--fleet", "fleet.yaml").Stdout
	s.write("facts.json", facts)
	r := s.want(1, late("build", "--facts", "facts.json")...)
	s.has(r.Stderr, "shop.yaml:", "values.message", "known only after db", "--stand-ins")
	if r.Stdout != "" {
		t.Errorf("printed all the same: %s", r.Stdout)
	}
	s.want(1, late("build", "--facts", "facts.json", "--output-dir", "rendered")...)
	if _, err := os.Stat(filepath.Join(s.dir, "rendered")); err == nil {
		t.Error("files were written all the same")
	}
	r = s.want(0, late("build", "--facts", "facts.json", "--stand-ins")...)
	s.has(r.Stdout, "message: known after db")
	s.has(r.Stderr, "known only after db")
	s.want(0, late("vet", "--facts", "facts.json")...)
}

// A value that changes between plan and apply makes the plan stale; so does what its new value would do beyond the plan.
func TestLateValueMovesAfterThePlan(t *testing.T) {
	t.Parallel()
	s := newLate(t, lateBundle)
	s.want(0, late("apply", "-y", "--cluster", "staging")...)
	s.edit("values/motto.yaml", "tied up well", "tied up better")
	s.want(0, late("plan", "--cluster", "staging", "--out", "shop.plan")...)
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/secrets/db-token", `{"data":{"token":"bW92ZWQ="}}`)
	s.mark()
	r := s.want(5, "apply", "shop.plan", "-y")
	s.has(r.Stderr, "stale")
	s.untouched("staging")
}

// Without the right to read the object the plan says so, and which right it is.
func TestLateValueWithoutRights(t *testing.T) {
	t.Parallel()
	s := newLate(t, lateBundle)
	s.want(0, late("apply", "-y", "--cluster", "staging")...)
	const rbac = "apis/rbac.authorization.k8s.io/v1/"
	head := "apiVersion: rbac.authorization.k8s.io/v1\nkind: "
	role := func(name, rules string) string {
		return head + "ClusterRole\nmetadata: {name: " + name + "}\nrules: " + rules + "\n"
	}
	bound := func(kind, name string) string {
		return head + kind + "\nmetadata: {name: " + name + "}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + name +
			"}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: few-$B}]\n"
	}
	s.admin("staging", http.MethodPost, rbac+"clusterroles", role("$B", `[{apiGroups: [""], resources: [configmaps, namespaces], verbs: ["*"]}, {apiGroups: [""], resources: [secrets], verbs: [list]}]`))
	s.admin("staging", http.MethodPost, rbac+"clusterroles", role("$B-records", `[{apiGroups: [""], resources: [secrets], verbs: ["*"]}]`))
	s.admin("staging", http.MethodPost, rbac+"clusterrolebindings", bound("ClusterRoleBinding", "$B"))
	s.admin("staging", http.MethodPost, rbac+"namespaces/hawser-system/rolebindings", bound("RoleBinding", "$B-records"))
	s.may("staging", s.fill("few-$B"), "", "get", "", "configmaps", "")
	s.may("staging", s.fill("few-$B"), "hawser-system", "get", "", "secrets", "")
	t.Cleanup(func() {
		for _, path := range []string{"clusterroles/$B", "clusterroles/$B-records", "clusterrolebindings/$B", "namespaces/hawser-system/rolebindings/$B-records"} {
			_ = s.try("staging", http.MethodDelete, rbac+path, "")
		}
	})
	s.env = append(s.env, "KUBECONFIG="+s.fleet.UserKubeconfig(t, s.fill("few-$B")))
	r := s.want(1, late("plan", "--cluster", "staging")...)
	s.has(r.Stdout+r.Stderr, "Secret $NS/db-token of instance db cannot be read", "forbidden", "--print-rbac", "shop.yaml:")
	r = s.want(0, late("fleet", "check", "--print-rbac", "--cluster", "staging")...)
	s.has(r.Stdout, "resourceNames:\n  - db-token\n")
}
