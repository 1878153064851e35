package main

import (
	"strings"
	"testing"
)

// TestRuntimeSecretsInYAML: a value of the environment that YAML reads is as secret as one that an attribute of CUE reads, by
// its name or by its form, in whatever is printed or kept.
func TestRuntimeSecretsInYAML(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(`
-- b.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    app:
      helm: {chart: ./chart}
      namespace: $NS
      values:
        settings:
          pat: {$cluster: values.GITHUB_PAT}
          address: {$cluster: values.ADDRESS}
          plain: {$cluster: values.PLAIN}
-- chart/Chart.yaml --
apiVersion: v2
name: chart
version: 1.0.0
-- chart/templates/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {{ .Values.settings | toJson }}
`)
	s.env = append(s.env, "GITHUB_PAT=c4nary-env-1", "ADDRESS=https://me:c4nary-env-2@host.example/x", "PLAIN=seen-by-all")
	args := []string{"-f", "b.yaml", "--kube-context", "staging", "--runtime-from-env"}
	silentRun := func(code int, more ...string) result {
		t.Helper()
		r := s.want(code, append(more, args...)...)
		silent(t, strings.Join(more, " "), r.Stdout+r.Stderr)
		return r
	}
	if r := silentRun(0, "build", "--mask-secrets"); !strings.Contains(r.Stdout, "seen-by-all") {
		t.Errorf("what is no secret is hidden: %s", r)
	}
	silentRun(0, "vet", "--print-value")
	silentRun(0, "vet", "--explain-value", "app.settings.pat")
	silentRun(0, "vet", "--explain-value", "app.settings.address")
	silentRun(0, "plan", "--full")
	silentRun(0, "apply", "-y")
	s.env = append(s.env, "GITHUB_PAT=c4nary-env-3")
	silentRun(0, "plan")
	silentRun(0, "plan", "-o", "json")
}
