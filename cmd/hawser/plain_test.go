package main

import (
	"os"
	"path/filepath"
	"testing"
)

const plainFolder = `
-- app/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data: {v: "1"}
-- app/secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {v: "1"}
-- app/role.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS}
`

// TestPlainManifestsInANamespace: -n says where plain manifests go that do not say it; in a bundle it is refused.
func TestPlainManifestsInANamespace(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainFolder + threadFleet + `
-- bundle.yaml --
bundle: {apiVersion: v1alpha1, name: $B, instances: {a: {manifests: {paths: [./app]}, namespace: $NS}}}
`)
	on := []string{"-f", "app", "--name", s.bundle, "--kube-context", "staging"}
	r := s.want(1, append([]string{"plan"}, on...)...)
	s.has(r.Stdout+r.Stderr, "the object has no namespace", "Fix: say where plain manifests go with -n NAMESPACE")
	s.has(s.want(1, "status", s.bundle, "--kube-context", "staging").Stdout, "Error: bundle "+s.bundle+" is not installed on any selected cluster")
	s.want(0, append([]string{"apply", "-y", "-n", s.ns}, on...)...)
	s.wantData("staging", "config", "v", "1")
	s.want(0, append([]string{"plan", "--detailed-exitcode", "-n", s.ns}, on...)...)
	s.has(s.want(1, append([]string{"apply", "-y", "-n", "Not_A_Name"}, on...)...).Stderr, "cannot be the name of a namespace")
	s.has(s.want(1, "plan", "-n", s.ns, "-f", "bundle.yaml", "--kube-context", "staging").Stderr, "instances.NAME.namespace")
	s.want(0, append([]string{"delete", "-y", "-n", s.ns}, on...)...)
	s.gone("staging", "config")
}

// TestBuildSaysNamespaces: what build prints can be applied as it is, and files with Secrets are for their owner alone.
func TestBuildSaysNamespaces(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainFolder)
	r := s.want(0, "build", "-f", "app", "-n", s.ns, "--name", s.bundle)
	s.has(r.Stdout, "kind: ConfigMap\nmetadata:\n  name: config\n  namespace: "+s.ns+"\n", "kind: ClusterRole\nmetadata:\n  name: "+s.ns+"\n---")
	s.want(0, "build", "-f", "app", "-n", s.ns, "--name", s.bundle, "--output-dir", "out")
	for name, want := range map[string]os.FileMode{"v1_secret_key.yaml": 0o600, "v1_configmap_config.yaml": 0o644} {
		info, err := os.Stat(filepath.Join(s.dir, "out", "manifests", name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v (%v), want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

// TestTheSameObjectTwice: vet and build refuse what plan refuses, at the bundle's line.
func TestTheSameObjectTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainFolder + `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    a: {manifests: {paths: [./app]}, namespace: $NS}
    b: {manifests: {paths: [./app/config.yaml]}, namespace: $NS}
`)
	for _, verb := range []string{"vet", "build", "plan"} {
		r := s.want(1, verb, "-f", "bundle.yaml", "--kube-context", "staging")
		s.has(r.Stdout+r.Stderr, "two instances render the same object", "bundle.yaml:6", "instances a and b", "app/config.yaml:1")
		if r.Stdout != "" && verb == "build" {
			t.Errorf("printed all the same: %s", r.Stdout)
		}
	}
}
