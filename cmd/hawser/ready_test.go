package main

import (
	"net/http"
	"testing"
	"time"
)

const readyBundle = `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  health:
    - {kind: ConfigMap, name: slow-*, ready: 'self.data.state == "up"', message: '"state " + self.data.state'}
  instances:
    db:
      namespace: $NS
      manifests: {paths: [./db/*.yaml]}
    api:
      namespace: $NS
      dependsOn: [db]
      manifests: {paths: [./api/*.yaml]}
-- db/slow.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: slow-db}
data: {state: starting}
-- api/api.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: api}
data: {a: "1"}
`

var onStaging = []string{"-f", "bundle.yaml", "--kube-context", "staging", "-y"}

// A bundle's rule makes an object be waited for that nothing waits for by its kind: the reason is told, what depends on
// it is not written before, status says the same, and an instance that does not want to wait does not.
func TestBundleHealthRule(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(readyBundle)
	p := s.start(append([]string{"apply", "--timeout", "15m"}, onStaging...)...)
	eventually(t, "db is written", func() bool { return s.configMap("staging", "slow-db") != nil })
	time.Sleep(time.Second)
	p.running("although the rule does not hold")
	s.gone("staging", "api")
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/slow-db", `{"data": {"state": "up"}}`, "fieldManager", "its-controller")
	r := p.end()
	s.exits(r, 0)
	s.there("staging", "api")

	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/slow-db", `{"data": {"state": "down"}}`, "fieldManager", "its-controller")
	s.has(s.want(4, "status", s.bundle, "--kube-context", "staging").Stdout, "progressing", "state down")

	// an instance's timeout, shorter than the run's, and an object's own
	s.edit("bundle.yaml", "    db:\n", "    db:\n      timeout: 5s\n")
	s.edit("db/slow.yaml", "starting", "stuck")
	start := time.Now()
	r = s.want(4, append([]string{"apply", "--timeout", "30m"}, onStaging...)...)
	s.has(r.Stderr+r.Stdout, "state stuck")
	if took := time.Since(start); took > 10*time.Minute {
		t.Errorf("gave up after %s", took)
	}
	s.edit("bundle.yaml", "timeout: 5s", "wait: false")
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.has(s.want(0, "status", s.bundle, "--kube-context", "staging").Stdout, "ready")

	s.edit("bundle.yaml", `self.data.state == "up"`, `self.data.state == `)
	s.has(s.want(1, append([]string{"apply"}, onStaging...)...).Stderr, "bundle's health rule for ConfigMap cannot be used", "bundle.yaml:5")
}

// A suspended instance is left as it is: not written, not pruned, not corrected, not waited for, and still known.
func TestSuspend(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(readyBundle)
	s.edit("bundle.yaml", "  health:\n    - {kind: ConfigMap, name: slow-*, ready: 'self.data.state == \"up\"', message: '\"state \" + self.data.state'}\n", "")

	s.edit("bundle.yaml", "    db:\n", "    db:\n      suspend: true\n")
	r := s.want(1, append([]string{"apply"}, onStaging...)...)
	s.has(r.Stderr, "api depends on db, which is suspended and was never ready here")
	s.edit("bundle.yaml", "      dependsOn: [db]\n", "")
	s.has(s.run("plan", "-f", "bundle.yaml", "--kube-context", "staging").Stdout, "Suspended, left as they are", "db")
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.gone("staging", "slow-db")
	s.there("staging", "api")

	s.edit("bundle.yaml", "      suspend: true\n", "")
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.there("staging", "slow-db")

	// changed, drifted and dropped: nothing happens to it while the other instance goes on
	s.edit("bundle.yaml", "    db:\n", "    db:\n      suspend: true\n")
	s.edit("bundle.yaml", "    api:\n", "    api:\n      dependsOn: [db]\n")
	s.edit("db/slow.yaml", "slow-db", "other-db")
	s.edit("api/api.yaml", `"1"`, `"2"`)
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/slow-db", `{"data": {"state": "drifted"}}`, "fieldManager", "somebody")
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.wantData("staging", "api", "a", "2")
	s.wantData("staging", "slow-db", "state", "drifted")
	s.gone("staging", "other-db")
	s.has(s.run("status", s.bundle, "--kube-context", "staging").Stdout, "suspended")
	s.mark()
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.untouched("staging")

	// back in force: what was dropped goes, what is declared comes; all it had is replaced, so the number is asked for
	s.edit("bundle.yaml", "      suspend: true\n", "")
	s.want(0, append([]string{"apply", "--confirm-delete", "1"}, onStaging...)...)
	s.gone("staging", "slow-db")
	s.there("staging", "other-db")
	s.edit("bundle.yaml", "    db:\n", "    db:\n      suspend: true\n")
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.want(0, "delete", s.bundle, "--kube-context", "staging", "-y")
	s.gone("staging", "other-db", "api")
}

// Fields left to others by a rule of the bundle: their drift is none, costs no write, and an update leaves them alone.
func TestIgnoredFields(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(readyBundle)
	s.edit("bundle.yaml", "  health:\n    - {kind: ConfigMap, name: slow-*, ready: 'self.data.state == \"up\"', message: '\"state \" + self.data.state'}\n",
		"  ignore:\n    - {kind: ConfigMap, name: slow-*, paths: [data.state]}\n    - {kind: ConfigMap, managers: [its-*]}\n")
	s.edit("db/slow.yaml", "starting}", "starting, mode: one}")
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.wantData("staging", "slow-db", "state", "starting")
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/slow-db", `{"data": {"state": "theirs"}}`, "fieldManager", "somebody")
	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/api", `{"data": {"a": "theirs"}}`, "fieldManager", "its-controller")
	s.want(0, "status", s.bundle, "--kube-context", "staging")
	s.mark()
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.untouched("staging")

	s.admin("staging", http.MethodPatch, "api/v1/namespaces/$NS/configmaps/slow-db", `{"data": {"mode": "theirs"}}`, "fieldManager", "somebody")
	s.has(s.run("status", s.bundle, "--kube-context", "staging").Stdout, "drifted")
	s.edit("api/api.yaml", `{a: "1"}`, `{a: "2", b: "new"}`)
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.wantData("staging", "slow-db", "mode", "one")
	s.wantData("staging", "slow-db", "state", "theirs")
	s.wantData("staging", "api", "a", "theirs")
	s.wantData("staging", "api", "b", "new")

	s.edit("bundle.yaml", "    - {kind: ConfigMap, name: slow-*, paths: [data.state]}\n", "")
	s.want(0, append([]string{"apply"}, onStaging...)...)
	s.wantData("staging", "slow-db", "state", "starting")
	s.edit("bundle.yaml", "managers: [its-*]", `paths: [metadata.name]`)
	s.has(s.want(1, append([]string{"apply"}, onStaging...)...).Stderr, "the field metadata.name cannot be left to others", "bundle.yaml:5")
}
