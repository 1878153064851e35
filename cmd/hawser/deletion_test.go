package main

import (
	"net/http"
	"testing"

	"hawser.dev/hawser/internal/object"
)

const namespaceBundle = `
-- bundle.yaml --
bundle:
  apiVersion: v1alpha1
  name: $B
  instances:
    all: {manifests: {paths: [./m]}, namespace: $NS}
-- m/ns.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: $NS}
`

// TestNamespaceOfOthers: a declared Namespace is not deleted with what somebody else, or the bundle's own annotation,
// keeps in it. The plan names it; a saved plan looks again.
func TestNamespaceOfOthers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(namespaceBundle)
	s.write("m/all.yaml", configMaps("1", "a")+"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  annotations: {hawser.dev/prune: disabled}\n")
	on := []string{"-f", "bundle.yaml", "--kube-context", "staging"}
	run := func(code int, args ...string) result { return s.want(code, append(args, on...)...) }
	run(0, "apply", "-y")
	s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/configmaps", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs}\ndata: {v: x}\n", "fieldManager", "somebody")

	s.mark()
	r := run(5, "delete", "-y")
	s.has(r.Stderr, "Namespace $NS", "the namespace still has 2 objects that would be lost with it", "1 ConfigMap let go (annotated to be kept): kept",
		"1 ConfigMap of somebody: theirs", "kubectl annotate namespace $NS")
	s.untouched("staging")
	s.there("staging", "a", "kept", "theirs")

	s.admin("staging", http.MethodDelete, "api/v1/namespaces/$NS/configmaps/theirs", "")
	s.admin("staging", http.MethodDelete, "api/v1/namespaces/$NS/configmaps/kept", "")
	s.edit("m/all.yaml", "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  annotations: {hawser.dev/prune: disabled}\n", "")
	s.edit("m/ns.yaml", "kind: Namespace\nmetadata: {name: $NS}", "kind: ConfigMap\nmetadata: {name: instead, namespace: default}")
	s.write("bundle.yaml", s.fill("bundle:\n  apiVersion: v1alpha1\n  name: $B\n  instances:\n    all: {manifests: {paths: [./m/ns.yaml]}, namespace: default}\n"))
	s.edit("m/ns.yaml", "name: instead", "name: $NS")
	t.Cleanup(func() { _ = s.try("staging", http.MethodDelete, "api/v1/namespaces/default/configmaps/$NS", "") })
	r = run(0, "plan", "--confirm-delete=2", "--out", "p.plan")
	s.has(r.Stdout, "- Namespace $NS")
	s.admin("staging", http.MethodPost, "api/v1/namespaces/$NS/secrets", "apiVersion: v1\nkind: Secret\nmetadata: {name: late}\nstringData: {v: x}\n", "fieldManager", "somebody")
	r = s.want(5, "apply", "-y", "p.plan")
	s.has(r.Stdout+r.Stderr, "1 object that would be lost with it", "1 Secret of somebody: late")
	s.there("staging", "a")

	s.admin("staging", http.MethodDelete, "api/v1/namespaces/$NS/secrets/late", "")
	run(0, "apply", "-y", "--confirm-delete=2", "--wait=false")
	if o := s.get("staging", "api/v1/namespaces/$NS"); o != nil && o.Metadata.DeletionTimestamp == "" {
		t.Error("an emptied namespace that left the bundle is there")
	}
}

// TestRetireCluster: a cluster is taken out of the fleet's file; plans name it, and fleet retire ends what it has.
func TestRetireCluster(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.files(plainBundle + shopFleet)
	s.write("m/all.yaml", configMaps("1", "a"))
	on := []string{"-f", "bundle.yaml", "--fleet", "fleet.yaml"}
	run := func(code int, args ...string) result { return s.want(code, append(args, on...)...) }
	run(0, "apply", "-y")
	s.admin("staging", http.MethodDelete, "/api/v1/namespaces/hawser-system/secrets/hawser-"+object.OwnerID("", "", s.bundle), "")
	s.has(run(5, "delete", "-y").Stderr, "has no record here") // on one of three
	s.there("production-eu", "a")
	run(0, "apply", "-y")
	s.edit("fleet.yaml", "    staging: {group: staging, kubeContext: staging, labels: {region: eu}, vars: {region: eu-1, zones: 1}}\n", "")

	s.mark()
	s.has(run(0, "plan").Stdout, "the cluster left the fleet, and $B runs there still", "hawser fleet retire staging --delete")
	run(1, "fleet", "retire", "staging")
	s.has(run(0, "fleet", "retire", "staging", "--delete", "--dry-run").Stdout, "- ConfigMap $NS/a")
	s.has(run(5, "fleet", "retire", "staging", "--delete").Stderr, "say it with -y, or --confirm-delete=1") // nobody can be asked
	run(5, "fleet", "retire", "staging", "--delete", "--confirm-delete=2")
	s.untouched("staging")
	s.there("staging", "a")
	s.has(run(0, "fleet", "retire", "staging", "--delete", "--confirm-delete=1").Stdout, "Cluster staging is retired from the fleet $B; deleted there: $B")
	s.gone("staging", "a")
	s.there("production-eu", "a")
	s.lacks(run(0, "plan").Stdout, "left the fleet")
	s.has(run(1, "fleet", "retire", "staging", "--keep").Stderr, "no cluster staging is known")

	s.edit("fleet.yaml", "    production-us: {group: production, kubeContext: production-us, labels: {region: us}, vars: {region: us-1, zones: 2}}\n", "")
	s.mark()
	s.has(run(0, "fleet", "retire", "production-us", "--keep", "-y").Stdout, "left there: $B")
	if r := s.requests("production-us"); len(r) > 0 {
		t.Errorf("a cluster that is only forgotten was asked:\n%s", show(r))
	}
	s.there("production-us", "a")
	s.lacks(run(0, "plan").Stdout, "left the fleet")
}
