package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// storesFiles are a fleet of two clusters whose store is their own Secrets, and one instance on both.
const storesFiles = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters:
    staging: {group: staging, kubeContext: staging}
    production-eu: {group: production, kubeContext: production-eu}
  secretStores:
    default: {env: {prefix: APP_}}
    cluster: {kube: {namespace: $NS}}
-- shop.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    app:
      module: {url: "file://./modules/app"}
      namespace: $NS
      values:
        message: ref://cluster:own/token
        settings: {env: "ref://SHARED/deep.er"}
`

func storesScene(t *testing.T, tokens map[string]string) *scene {
	t.Helper()
	s := newScene(t)
	s.files(appModule)
	s.files(storesFiles)
	s.env = append(s.env, "APP_SHARED=deep: {er: from-the-environment}")
	for cluster, token := range tokens {
		s.namespace(cluster)
		s.admin(cluster, http.MethodPost, "api/v1/namespaces/$NS/secrets", fmt.Sprintf(`{"metadata": {"name": "own"}, "stringData": {"token": %q}}`, token))
	}
	return s
}

// Every cluster gets the value that its own Secret has; the second run changes nothing, a rotation what it must.
func TestStoresPerCluster(t *testing.T) {
	t.Parallel()
	s := storesScene(t, map[string]string{"staging": "token-of-staging", "production-eu": "token-of-production"})
	s.want(0, onFleet("apply", "-y")...)
	s.wantData("staging", "app", "message", "token-of-staging")
	s.wantData("production-eu", "app", "message", "token-of-production")
	s.wantData("production-eu", "app", "env", "from-the-environment")

	s.mark()
	r := s.want(0, onFleet("apply", "-y")...)
	s.has(r.Stderr, "No changes", "0 renders")
	s.untouched("staging", "production-eu")

	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/secrets/own", `{"stringData": {"token": "token-after"}}`)
	s.mark()
	s.want(0, onFleet("apply", "-y")...)
	s.wantData("staging", "app", "message", "token-after")
	s.untouched("production-eu")
}

// A reference without a value is an error on its line, before anything is written anywhere.
func TestStoresFailClosed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		spoil  func(s *scene) []string
		says   []string
	}{
		{"no Secret on one of the clusters", func(s *scene) []string {
			s.admin("production-eu", http.MethodDelete, "api/v1/namespaces/$NS/secrets/own", "")
			return onFleet()
		}, []string{"production-eu", "ref://cluster:own/token", "not found", "shop.yaml:9"}},
		{"no such key", func(s *scene) []string {
			s.edit("shop.yaml", "own/token", "own/tokne")
			return onFleet()
		}, []string{"it has the keys token", "shop.yaml:9"}},
		{"a variable that is not set", func(s *scene) []string {
			s.edit("shop.yaml", "ref://SHARED/deep.er", "ref://SHRAED")
			return onFleet()
		}, []string{"APP_SHRAED is not set", "shop.yaml:10"}},
		{"a store that is not declared", func(s *scene) []string {
			s.edit("shop.yaml", "ref://cluster:", "ref://clusters:")
			return onFleet()
		}, []string{`did you mean "cluster"?`, "shop.yaml:9"}},
		{"no fleet", func(*scene) []string { return onOne("staging") }, []string{"secretStores", "shop.yaml:9"}},
		{"a reference that is none", func(s *scene) []string {
			s.edit("shop.yaml", "ref://cluster:own/token", "ref://cluster:own//token")
			return onFleet()
		}, []string{"cannot be a part of a reference", "shop.yaml:9"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			s := storesScene(t, map[string]string{"staging": "token-of-staging", "production-eu": "token-of-production"})
			args := c.spoil(s)
			s.mark()
			for _, verb := range []string{"vet", "plan", "apply"} {
				all := append([]string{verb}, args...)
				if verb == "apply" {
					all = append(all, "-y")
				}
				r := s.want(1, all...)
				for _, part := range c.says {
					if !strings.Contains(r.Stderr, part) {
						t.Errorf("%s does not say %q:\n%s", verb, part, r.Stderr)
					}
				}
				hides(t, verb, r.Stdout+r.Stderr, "token-of-staging", "token-of-production", "from-the-environment")
			}
			s.untouched("staging", "production-eu")
		})
	}
}

// Without secrets, as in the CI of a stranger's pull request, a bundle is checked and built with the references in their place, which is said; the
// error without the flag names it, and nothing is planned so.
func TestVetWithoutSecrets(t *testing.T) {
	t.Parallel()
	s := storesScene(t, nil)
	s.env = append(s.env, "APP_SHARED=") // as a secret that is not given to the run
	r := s.want(1, onFleet("vet")...)
	s.has(r.Stderr, "APP_SHARED is empty", "hawser vet --stand-ins")
	both := "2 references are not read, and stand for themselves: ref://SHARED/deep.er, ref://cluster:own/token"
	r = s.want(0, onFleet("vet", "--stand-ins")...)
	s.has(r.Stderr, both, "APP_SHARED is empty", `secrets "own" not found`, "is valid")
	r = s.want(0, onFleet("build", "--stand-ins", "--cluster", "staging")...)
	s.has(r.Stderr, both)
	s.has(r.Stdout, "ref://cluster:own/token")
	s.has(s.want(1, onFleet("plan", "--stand-ins")...).Stderr, "unknown flag")
}

// Where a package does not take what stands in, its own value does; else that the instance is not checked is a warning of vet, and an error of build.
func TestVetWithoutSecretsThatMustFit(t *testing.T) {
	t.Parallel()
	s := storesScene(t, nil)
	s.edit("modules/app/timoni.cue", "message: string\n", "message: =~\"^(h|x)\"\n")
	r := s.want(0, onFleet("vet", "--stand-ins")...)
	s.has(r.Stderr, "the package's own value stands in for ref://cluster:own/token", "instance app is valid")
	s.has(s.want(0, onFleet("build", "--stand-ins", "--cluster", "staging")...).Stdout, "message: hello")
	s.edit("modules/app/values.cue", `"hello"`, "string")
	r = s.want(0, onFleet("vet", "--stand-ins")...)
	s.has(r.Stderr, "Warning: instance app does not render with what stands in for ", "ref://cluster:own/token", "what it renders is not checked", "instance app is not checked as a whole", "shop.yaml:9")
	r = s.want(1, onFleet("build", "--stand-ins", "--cluster", "staging")...)
	s.has(r.Stderr, "Error: instance app does not render with what stands in for ", "ref://cluster:own/token", "a stand-in does not fit")
	s.edit("shop.yaml", "message: ref", "bogus: 1\n        message: ref")
	s.has(s.want(1, onFleet("vet", "--stand-ins")...).Stderr, "values.bogus")
}

// What looks like a value that Hawser gives, and is none, is an error or a warning with what to write.
func TestMisspeltValues(t *testing.T) {
	t.Parallel()
	s := storesScene(t, map[string]string{"staging": "token-of-staging", "production-eu": "token-of-production"})
	for written, want := range map[string]string{
		"{generate: 24}":             "write {generate: {length: 24}}",
		"{ref: ADMIN_TOKEN}":         "write ref://NAME",
		"{$env: ADMIN_TOKEN}":        "write ref://NAME",
		`"ref://cluster:own/token "`: "has a blank or a line end behind it",
	} {
		s.edit("shop.yaml", "ref://cluster:own/token", written)
		s.has(s.want(1, onFleet("vet")...).Stderr, want, "shop.yaml:9")
		s.edit("shop.yaml", written, "ref://cluster:own/token")
	}
	s.edit("shop.yaml", "ref://cluster:own/token", "ref:ADMIN_TOKEN")
	s.has(s.want(0, onFleet("vet")...).Stderr, "this is no reference", "shop.yaml:9")
}
