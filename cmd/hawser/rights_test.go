package main

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/rights"
)

const rightsBundle = `
-- shop.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    db:
      namespace: $NS
      manifests: {paths: [db.yaml]}
    app:
      namespace: $NS
      helm: {chart: ./chart}
      values:
        note: one
        password: {generate: {length: 24}}
        config: {from: {instance: db, object: v1/ConfigMap/db, path: .data.v}}
-- db.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: db}
data: {v: "1"}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.$B.example.com}
spec:
  group: $B.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: $B.example.com/v1
kind: Widget
metadata: {name: one}
-- chart/Chart.yaml --
apiVersion: v2
name: app
version: 1.0.0
-- chart/values.yaml --
note: ""
password: ""
config: ""
-- chart/templates/all.yaml --
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: {{ .Values.password | quote }}}
---
apiVersion: v1
kind: Service
metadata: {name: app}
spec:
  selector: {app: {{ .Values.note | quote }}}
  ports: [{port: 80}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: app-$B}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}, {nonResourceURLs: [/metrics], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all-$B}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {all: $B}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: app}
rules: [{apiGroups: [""], resources: [pods/log, persistentvolumeclaims], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: app}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: app}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: view}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: all-$B}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: all-$B}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: before
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: hook-succeeded}
data: {config: {{ .Values.config | quote }}}
`

// bind gives a user the roles that were printed, and what is missing of them no more.
func (s *scene) bind(cluster, user, roles string) {
	s.t.Helper()
	const rbac = "apis/rbac.authorization.k8s.io/v1/"
	for _, text := range strings.Split(roles, "---\n")[1:] {
		var role struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
			Rules    []struct{ APIGroups, Resources, ResourceNames, Verbs []string }
		}
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			s.t.Fatal(err)
		}
		at := rbac
		if role.Metadata.Namespace != "" {
			at += "namespaces/" + role.Metadata.Namespace + "/"
		}
		kind := strings.ToLower(role.Kind)
		s.admin(cluster, http.MethodPost, at+kind+"s", text)
		s.admin(cluster, http.MethodPost, at+kind+"bindings", "apiVersion: rbac.authorization.k8s.io/v1\nkind: "+role.Kind+"Binding\nmetadata: {name: "+role.Metadata.Name+
			"}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: "+role.Kind+", name: "+role.Metadata.Name+"}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "+user+"}]\n")
		for _, rule := range role.Rules {
			name := ""
			if len(rule.Resources) == 0 {
				continue
			}
			if len(rule.ResourceNames) > 0 {
				name = rule.ResourceNames[0]
			}
			s.may(cluster, user, role.Metadata.Namespace, rule.Verbs[0], rule.APIGroups[0], rule.Resources[0], name)
		}
		s.t.Cleanup(func() {
			for _, path := range []string{at + kind + "s/", at + kind + "bindings/"} {
				_ = s.try(cluster, http.MethodDelete, path+role.Metadata.Name, "")
			}
		})
	}
}

// The roles that are printed are enough for everything that is done with a bundle, and in the records' namespace they are
// what is asked there and no more. Without one of them the check says so, and an apply is refused before it writes.
func TestRightsByTheBook(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(rightsBundle)
	for _, ns := range []string{object.SystemNamespace, s.ns} { // the roles are in them
		_ = s.try("staging", http.MethodPost, "api/v1/namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+ns+"}\n")
	}
	roles := s.want(0, onOne("staging", "fleet", "check", "--print-rbac")...).Stdout
	s.user = s.fill("few-$B")
	s.env = append(s.env, "KUBECONFIG="+s.fleet.UserKubeconfig(t, s.user))

	without := strings.Replace(roles, "  - update\n", "", 1)
	s.bind("staging", s.user, without)
	s.mark()
	said := "you may not update Secret in namespace hawser-system"
	r := s.want(5, onOne("staging", "fleet", "check")...)
	s.has(r.Stdout+r.Stderr, said)
	r = s.want(5, onOne("staging", "apply", "-y")...)
	s.has(r.Stdout+r.Stderr, said)
	s.untouched("staging")
	s.admin("staging", http.MethodPut, "apis/rbac.authorization.k8s.io/v1/namespaces/hawser-system/roles/hawser-$B", roleIn(t, roles, object.SystemNamespace))
	s.may("staging", s.user, object.SystemNamespace, "update", "", "secrets", "hawser-"+object.OwnerID("", "", s.bundle))

	s.mark()
	one := func(args ...string) []string { return append(args, "--kube-context", "staging") }
	s.want(0, onOne("staging", "fleet", "check")...)
	s.want(0, onOne("staging", "plan")...)
	s.want(0, onOne("staging", "apply", "-y")...)
	s.edit("shop.yaml", "note: one", "note: two")
	s.want(0, onOne("staging", "apply", "-y")...)
	s.want(0, one("status", s.bundle)...)
	s.want(0, one("list")...)
	s.admin("staging", http.MethodDelete, "api/v1/namespaces/$NS/configmaps/db", "")
	s.want(0, onOne("staging", "apply", "-y")...)
	s.want(0, one("delete", s.bundle, "-y")...)

	asked, want := map[string]bool{}, map[string]bool{}
	for _, e := range s.requests("staging") {
		if e.Status == http.StatusForbidden && (e.Verb != "list" || e.Namespace != "") { // lists of the cluster are tried first
			t.Errorf("forbidden: %s %s", e.Verb, e.Path)
		}
		if e.Namespace == object.SystemNamespace && e.Resource != "" && !strings.HasPrefix(e.Resource, "selfsubject") && e.Resource != "namespaces" {
			asked[e.Verb+" "+e.Resource] = true
		}
	}
	for _, r := range rights.Own("") {
		want[r.Verb+" "+r.Resource] = true
	}
	for _, k := range []string{"get leases", "update leases"} { // of a lock that somebody else holds, and of one that is held for long
		asked[k] = true
	}
	if a, b := slices.Sorted(maps.Keys(asked)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
		t.Errorf("asked in %s:\n%q, the roles have:\n%q", object.SystemNamespace, a, b)
	}
}

// roleIn is the role of a namespace among those that were printed.
func roleIn(t *testing.T, roles, namespace string) string {
	t.Helper()
	for _, text := range strings.Split(roles, "---\n") {
		if strings.Contains(text, "namespace: "+namespace+"\n") {
			return text
		}
	}
	t.Fatalf("no role in %s:\n%s", namespace, roles)
	return ""
}

// Of several bundles the rights of all are asked before the first write, but where one before grants them.
func TestRightsOfLaterBundles(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(`
-- bundle.yaml --
bundles:
  $B-a: {apiVersion: v1alpha1, name: $B-a, instances: {a: {namespace: $NS, manifests: {paths: [a.yaml]}}}}
  $B-b: {apiVersion: v1alpha1, name: $B-b, instances: {b: {namespace: $NS, manifests: {paths: [b.yaml]}}}}
-- a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
-- b.yaml --
apiVersion: v1
kind: Service
metadata: {name: b}
spec: {ports: [{port: 80}]}
`)
	for _, ns := range []string{object.SystemNamespace, s.ns} {
		_ = s.try("staging", http.MethodPost, "api/v1/namespaces", "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+ns+"}\n")
	}
	s.user = s.fill("some-$B")
	role := func(namespace, resources, verbs string) string {
		return s.fill("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: some-$B, namespace: " + namespace +
			"}\nrules: [{apiGroups: ['', coordination.k8s.io], resources: [" + resources + "], verbs: [" + verbs + "]}]\n")
	}
	s.bind("staging", s.user, s.fill("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: some-$B}\n"+
		"rules: [{apiGroups: [''], resources: [namespaces], verbs: [get]}]\n"))
	s.bind("staging", s.user, role(object.SystemNamespace, "secrets, leases", "'*'")+role("$NS", "configmaps", "'*'"))
	s.bind("staging", s.user, strings.Replace(role("$NS", "services", "get, list, watch"), "name: some-", "name: seen-", 1))
	s.env = append(s.env, "KUBECONFIG="+s.fleet.UserKubeconfig(t, s.user))
	apply := []string{"apply", "-f", "bundle.yaml", "--kube-context", "staging", "-y"}
	s.mark()
	s.has(s.want(5, apply...).Stderr, "you may not", "Service in namespace $NS")
	s.untouched("staging")
}
