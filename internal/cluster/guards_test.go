package cluster_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/testfleet"
)

// denyAll refuses ConfigMaps of a namespace that have no key "allowed".
const denyAll = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NS}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}]}
  validations: [{expression: "has(object.data) && 'allowed' in object.data"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NS}
spec:
  policyName: NS
  validationActions: [Deny]
  matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: old, namespace: NS}
data: {allowed: "1"}
`

// A policy that is dropped is gone before what it would refuse is written, in the plan's dry runs too.
func TestDroppedPolicyGoesFirst(t *testing.T) {
	t.Parallel()
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, denyAll)...)
	maps := others(t).Resource(configMaps).Namespace(ns)
	probe := objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: probe, namespace: NS}")[0].Unstructured()
	eventually(t, func() bool { // the API server learns of it a moment later
		_, err := maps.Create(t.Context(), probe.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "denied request")
	})
	b.opts.ServerCheck, b.opts.Diff = true, true
	next := objs(t, ns, strings.Replace("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: NS}\n---\n"+denyAll[strings.LastIndex(denyAll, "---\n")+4:], "allowed", "other", 1))
	p, bodies := b.plan(t, s, next)
	if err := p.Findings.Err(); err != nil {
		t.Fatalf("plan: %v", err)
	}
	r := b.execute(t.Context(), s, p, bodies)
	mustOK(t, r)
	if r.Done.Create != 1 || r.Done.Update != 1 || r.Done.Delete != 2 || len(r.Inventory) != 2 {
		t.Errorf("done %+v, %d objects", r.Done, len(r.Inventory))
	}
	b.opts.ServerCheck, b.opts.Diff = false, false
	b.unchanged(t, s, next...)
	mustOK(t, b.delete(t, s))
}
