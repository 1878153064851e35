package main

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
)

const weakBundle = `
-- fleet.yaml --
fleet:
  apiVersion: v1alpha1
  name: f-$B
  clusters: {staging: {group: a, kubeContext: staging}}
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    app:
      namespace: $NS
      manifests: {paths: [app.yaml]}
-- app.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {message: one}
`

// weakUser lets the user weak-$B deliver to the namespace, and not read kube-system.
func (s *scene) weakUser() {
	s.t.Helper()
	const rbac = "apis/rbac.authorization.k8s.io/v1/"
	head := "apiVersion: rbac.authorization.k8s.io/v1\nkind: "
	role := func(name, rules string) string {
		return head + "ClusterRole\nmetadata: {name: " + name + "}\nrules: " + rules + "\n"
	}
	bound := func(kind, name string) string {
		return head + kind + "\nmetadata: {name: " + name + "}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: " + name +
			"}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: weak-$B}]\n"
	}
	s.want(0, "fleet", "check", "--fleet", "fleet.yaml")
	_ = s.try("staging", http.MethodPost, "api/v1/namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: hawser-system}\n")
	s.admin("staging", http.MethodPost, rbac+"clusterroles", role("$B", `[{apiGroups: [""], resources: [configmaps], verbs: ["*"]}, {apiGroups: [""], resources: [namespaces], resourceNames: [$NS, hawser-system], verbs: [get, patch]}, {apiGroups: [""], resources: [namespaces], verbs: [create]}]`))
	s.admin("staging", http.MethodPost, rbac+"clusterroles", role("$B-records", `[{apiGroups: ["", coordination.k8s.io], resources: [secrets, leases], verbs: ["*"]}]`))
	s.admin("staging", http.MethodPost, rbac+"clusterrolebindings", bound("ClusterRoleBinding", "$B"))
	s.admin("staging", http.MethodPost, rbac+"namespaces/hawser-system/rolebindings", bound("RoleBinding", "$B-records"))
	s.may("staging", s.fill("weak-$B"), "", "create", "", "namespaces", "")
	s.may("staging", s.fill("weak-$B"), "hawser-system", "create", "coordination.k8s.io", "leases", "")
	s.t.Cleanup(func() {
		for _, path := range []string{"clusterroles/$B", "clusterroles/$B-records", "clusterrolebindings/$B", "namespaces/hawser-system/rolebindings/$B-records"} {
			_ = s.try("staging", http.MethodDelete, rbac+path, "")
		}
	})
}

// record is the current record of the bundle.
func (s *scene) record(cluster string) *release.Record {
	s.t.Helper()
	secret := s.get(cluster, "api/v1/namespaces/hawser-system/secrets/hawser-"+object.OwnerID("", "", s.bundle))
	data, err := base64.StdEncoding.DecodeString(secret.Data["record"])
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := release.DecodeRecord(data)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// TestWithoutKubeSystem is the story of somebody who may not read the namespace kube-system: it works, is told with what to
// grant, and the weaker identity is what hawser.lock and the record keep. Nothing advises --adopt, or says that the cluster
// has nothing.
func TestWithoutKubeSystem(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(weakBundle)
	s.weakUser()
	strong := s.env
	weak := append(append([]string(nil), s.env...), "KUBECONFIG="+s.fleet.UserKubeconfig(t, s.fill("weak-$B")))
	on := []string{"-f", "bundle.yaml", "--fleet", "fleet.yaml"}
	run := func(code int, args ...string) result {
		t.Helper()
		r := s.want(code, args...)
		for _, wrong := range []string{"--adopt", "has nothing", "not installed", "--take-over"} {
			if strings.Contains(r.Stdout+r.Stderr, wrong) {
				t.Errorf("%v says %q:\n%s", args, wrong, r)
			}
		}
		return r
	}
	told := func(r result) {
		t.Helper()
		s.has(r.Stdout+r.Stderr, "may not read the namespace kube-system", "grant get on the namespace kube-system")
	}
	lock := func() string {
		data, err := os.ReadFile(filepath.Join(s.dir, "hawser.lock"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	uid := s.get("staging", "api/v1/namespaces/kube-system").Metadata.UID

	s.env = weak
	told(run(0, append([]string{"plan"}, on...)...))
	told(run(0, append([]string{"apply", "-y"}, on...)...))
	s.wantData("staging", "app", "message", "one")
	if r := s.record("staging"); !r.WeakUID || r.ClusterUID == uid || r.ClusterServer == "" || strings.Contains(lock(), uid) || !strings.Contains(lock(), r.ClusterServer) {
		t.Errorf("recorded: %q (weak %t) %q, lock\n%s", r.ClusterUID, r.WeakUID, r.ClusterServer, lock())
	}
	told(run(0, append([]string{"status"}, on...)...))
	told(run(0, append([]string{"plan", "--detailed-exitcode"}, on...)...))
	s.edit("app.yaml", "one", "two")
	told(run(0, append([]string{"plan", "--out", "two.plan"}, on...)...))
	told(run(0, "apply", "two.plan", "-y"))
	s.wantData("staging", "app", "message", "two")

	// somebody who may read it teaches lock and record more, and nobody unlearns it
	s.env = strong
	s.edit("app.yaml", "two", "three")
	if r := run(0, append([]string{"apply", "-y"}, on...)...); strings.Contains(r.Stdout+r.Stderr, "kube-system") {
		t.Error(r)
	}
	s.env = weak
	s.edit("app.yaml", "three", "four")
	told(run(0, append([]string{"apply", "-y"}, on...)...))
	if r := s.record("staging"); r.WeakUID || r.ClusterUID != uid || !strings.Contains(lock(), uid) {
		t.Errorf("unlearned: %q (weak %t), lock\n%s", r.ClusterUID, r.WeakUID, lock())
	}

	// what a plan was bound to with all rights cannot be told without them
	s.env = strong
	s.edit("app.yaml", "four", "five")
	run(0, append([]string{"plan", "--out", "five.plan"}, on...)...)
	s.env = weak
	s.mark()
	r := run(5, "apply", "five.plan", "-y")
	s.has(r.Stderr, "kube-system")
	s.untouched("staging")
	told(run(0, "delete", s.bundle, "--fleet", "fleet.yaml", "-y"))
}
