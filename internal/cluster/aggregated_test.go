package cluster_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

const aggregatedRoles = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NS-all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: NS}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NS, labels: {to: NS}}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
`

// An aggregated ClusterRole goes before what it is filled from; what its controller made of it again all the same is taken
// for the declared one by the next install.
func TestAggregatedRoleIsInstalledAgain(t *testing.T) {
	t.Parallel()
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	roles := objs(t, ns, aggregatedRoles)
	fill := objs(t, ns, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: NS-all}\nrules: [{apiGroups: [\"\"], resources: [configmaps], verbs: [list]}]")[0]
	gvr := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	b.apply(t, s, roles...)
	foreignApply(t, "clusterrole-aggregation-controller", "clusterroles", true, fill)
	b.unchanged(t, s, roles...)
	b.events = nil
	mustOK(t, b.delete(t, s))
	var gone []string
	for _, e := range b.events {
		if e.Action == plan.Delete && e.Type == "written" {
			gone = append(gone, e.Ref.Name)
		}
	}
	if strings.Join(gone, " ") != ns+"-all "+ns {
		t.Errorf("deleted %v", gone)
	}
	remnant := foreignApply(t, "clusterrole-aggregation-controller", "clusterroles", true, fill)
	if remnant.GetLabels()[object.LabelOwner] != "" {
		t.Fatalf("it was not deleted: %v", remnant.GetLabels())
	}
	p, bodies := b.plan(t, s, roles)
	if err := p.Findings.Err(); err != nil {
		t.Fatal(err)
	}
	mustOK(t, b.execute(t.Context(), s, p, bodies))
	var live *unstructured.Unstructured
	eventually(t, func() bool { // the real controller fills it, with other verbs than the remnant's
		live = get(t, gvr, "", ns+"-all")
		return strings.Contains(fmt.Sprint(live.Object["rules"]), "get")
	})
	if live.Object["aggregationRule"] == nil || live.GetLabels()[object.LabelOwner] != b.owner() {
		t.Errorf("%v", live.Object)
	}
	b.unchanged(t, s, roles...)
	mustOK(t, b.delete(t, s))
	// What the real controller makes again a moment after it went bears no mark of ours.
	if left, err := others(t).Resource(gvr).Get(t.Context(), ns+"-all", metav1.GetOptions{}); err == nil && left.GetLabels()[object.LabelOwner] != "" {
		t.Errorf("it is there: %v", left.Object)
	}
}
