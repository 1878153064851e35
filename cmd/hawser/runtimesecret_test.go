package main

import (
	"strconv"
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

// runtimeLayers is a bundle whose layers of values take those of the environment, one by one and all at once.
const runtimeLayers = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: $B
  clusters: {staging: {group: staging, kubeContext: staging}}
-- b.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    app:
      helm: {chart: ./chart}
      namespace: $NS
      values: {settings: {pat: none}}
      valuesFor:
        staging:
          groups: [staging]
          values:
            settings:
              pat: {$cluster: values.GITHUB_PAT}
              plain: {$cluster: values.PLAIN}
        more:
          values:
            settings: {address: {$cluster: values.ADDRESS}}
    whole:
      helm: {chart: ./chart}
      namespace: $NS
      valuesFor:
        all: {values: {settings: {key: x}, whole: {$cluster: values}}}
-- chart/Chart.yaml --
apiVersion: v2
name: chart
version: 1.0.0
-- chart/templates/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data:
  settings: {{ .Values.settings | toJson | quote }}
  plain: {{ .Values.settings.plain | default "none" | quote }}
  {{- with .Values.whole }}
  pat: {{ .GITHUB_PAT | quote }}
  whole: {{ . | toJson | quote }}
  {{- end }}
`

// TestRuntimeSecretsInLayers: a value of the environment that a layer of valuesFor reads in YAML, one by one or all of them at once, is as secret as one
// in values: it is in nothing that is printed, in no plan file, and in the release's record beside the objects themselves, unpacked, masked; neither
// the new one nor, after a rotation, the old one. What is no secret is shown and recorded.
func TestRuntimeSecretsInLayers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(runtimeLayers)
	quiet := func(where, text string) {
		t.Helper()
		silent(t, where, text)
	}
	files, fleet := "-f b.yaml --fleet fleet.yaml --runtime-from-env", "--fleet fleet.yaml"
	for i, round := range []string{"1", "3"} {
		pat, address := "c4nary-env-"+round, "https://me:c4nary-env-"+round+"x@host.example/x"
		s.env = append(s.env, "GITHUB_PAT="+pat, "ADDRESS="+address, "PLAIN=seen-by-all-"+round)
		for _, line := range []string{
			"build --mask-secrets " + files, "vet --print-value " + files, "vet --explain-value app.settings.pat " + files, "vet --explain-value app.settings.address " + files,
			"vet --explain-value whole.whole " + files, "vet -o json " + files, "plan --full -v " + files, "plan -o json --full " + files, "plan -o markdown --full " + files, "plan --out p.plan " + files,
			"plan show p.plan", "plan show p.plan -o json", "apply -y --diff -o json --wait=false " + files, "plan " + files, "status $B -v " + fleet, "status $B -o json " + fleet,
			"history $B -o json " + fleet, "history show " + strconv.Itoa(i+1) + " --bundle $B " + fleet, "history show " + strconv.Itoa(i+1) + " --bundle $B -o json " + fleet, "drift $B --full " + fleet,
		} {
			r := s.want(0, strings.Fields(s.fill(line))...)
			quiet(line, r.Stdout+r.Stderr)
			if strings.HasPrefix(line, "build") {
				s.has(r.Stdout, "seen-by-all-"+round)
			}
		}
		quiet("the plan file", unpacked([]byte(s.read("p.plan"))))
		if got := s.configMap("staging", "app")["settings"]; !strings.Contains(got, pat) || !strings.Contains(got, address) {
			t.Errorf("the values were not delivered: %s", got)
		}
		s.wantData("staging", "whole", "pat", pat)
		if bodies := s.leftInCluster("staging", quiet); !strings.Contains(bodies, pat) {
			t.Error("the record was not unpacked: the value is in no object")
		}
	}
	for _, line := range []string{"history diff 1 2 --full", "history diff 1 2 -o json"} {
		r := s.want(0, strings.Fields(s.fill(line+" --bundle $B "+fleet))...)
		s.has(r.Stdout, "whole")
		quiet(line, r.Stdout+r.Stderr)
	}
}
