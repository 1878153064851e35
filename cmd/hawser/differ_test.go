package main

import (
	"testing"
)

// TestDeliberateDifferencesAreSaid: where a deliberate difference from Timoni matters, `hawser bundle` says it, once, and
// the same command without `bundle` does not.
func TestDeliberateDifferencesAreSaid(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(appModule + threadFleet + `
-- bundle.cue --
bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: app: {
		module: {url: "file://./modules/app", digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}
		namespace: "$NS"
	}
}
-- region.cue --
_region: =~"^eu-" @timoni(runtime:string:HAWSER_TEST_REGION)
bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: app: {module: url: "file://./modules/app", namespace: "$NS", values: message: _region}
}
-- listed/cue.mod/module.cue --
module: "timoni.sh/listed"
language: version: "v0.9.0"
-- listed/timoni.cue --
package main

values: items: [...string]
timoni: {
	apiVersion: "v1alpha1"
	instance: {}
	apply: app: [{apiVersion: "v1", kind: "ConfigMap", metadata: {name: "app", namespace: "$NS"}, data: {for i, x in values.items {"i\(i)": x}}}]
}
-- listed/values.cue --
package main

values: items: ["a"]
-- longer.cue --
bundle: {
	apiVersion: "v1alpha1"
	name:       "$B"
	instances: app: {module: url: "file://./listed", namespace: "$NS", values: items: ["a", "b"]}
}
-- misspelled.cue --
runtime: {
	apiVersion: "v1alpha1"
	name:       "$B"
	clusters: staging: {group: "staging", kubecontext: "staging"}
}
`)
	s.env = append(s.env, "HAWSER_TEST_REGION=us-1")
	for _, c := range []struct {
		code int
		said string
		args []string
	}{
		{1, "Unlike Timoni: the digest of a local module is that of its directory's content\n", []string{"vet", "-f", "bundle.cue", "-r", "runtime.cue"}},
		{1, "Unlike Timoni: a constraint beside @timoni(...) stays in force\n", []string{"vet", "-f", "region.cue", "-r", "runtime.cue", "--runtime-from-env"}},
		{0, "Unlike Timoni: a list may be longer than the module's own\n", []string{"vet", "-f", "longer.cue", "-r", "runtime.cue"}},
		{1, "Unlike Timoni: a runtime file is checked: what is missing or misspelled in it is an error\n", []string{"vet", "-f", "longer.cue", "-r", "misspelled.cue"}},
	} {

		s.has(s.want(c.code, append([]string{"bundle"}, c.args...)...).Stderr, c.said)
		s.lacks(s.want(c.code, c.args...).Stderr, "Unlike Timoni")
	}
}
