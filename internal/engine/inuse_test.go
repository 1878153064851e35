package engine

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
)

// What somebody puts into a Namespace, or makes of a definition's kind, after the plan was made is found before anything is
// deleted: by the look under the lock, and, when it comes even later, right before the deletion of what holds it. Namespace and
// definition stay, and what came is named with who made it.
func TestContentsThatCameAfterThePlan(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"before the lock": false, "under the lock": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			group, team := strings.ReplaceAll(r.name, "_", "-")+".example", r.name+"-team"
			r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: "+team+"}\n"+`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.`+group+`}
spec:
  group: `+group+`
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`))
			r.applied(r.request())
			r.write("app.yaml", r.configMap("a", "k: two"))
			req, n := r.request(), 2
			req.ConfirmDelete = &n
			fp := r.plan(req)
			if err := fp.Findings.Err(); err != nil || fp.Counts().Delete != 2 {
				t.Fatalf("%v %+v", err, fp.Counts())
			}
			client := dynamic.NewForConfigOrDie(shared.fleet.RESTConfig(here))
			things := client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: "things"}).Namespace(r.name)
			somebody := func() {
				thing := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/v1", "kind": "Thing", "metadata": map[string]any{"name": "theirs"}}}
				if _, err := things.Create(t.Context(), thing, metav1.CreateOptions{FieldManager: "somebody"}); err != nil {
					t.Error(err)
				}
				if _, err := r.admin.CoreV1().ConfigMaps(team).Create(t.Context(), configMapOf("theirs"), metav1.CreateOptions{FieldManager: "somebody"}); err != nil {
					t.Error(err)
				}
			}
			if late {
				r.on = func(ev fleetplan.Event) {
					if ev.Type == fleetplan.EventWritten && ev.Action == plan.Update {
						somebody()
					}
				}
			} else {
				somebody()
			}
			out, err := r.Apply(t.Context(), fp, req)
			if err == nil || len(out.Clusters) != 1 || out.Clusters[0].Done.Delete > 0 {
				t.Fatalf("%v %+v", err, out)
			}
			said := err.Error() + out.Clusters[0].Reason
			for _, p := range out.Clusters[0].Problems {
				said += p.Status.Reason + strings.Join(p.Status.Details, "\n")
			}
			for _, want := range map[bool][]string{false: {"things." + group, "Namespace " + team, "1 Thing", "1 ConfigMap"}, true: {"the plan is stale", "would be lost with it: 1 ", "theirs"}}[late] {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not said: %s", want, said)
				}
			}
			definition, err := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}).Get(t.Context(), "things."+group, metav1.GetOptions{})
			if err != nil || definition.GetDeletionTimestamp() != nil {
				t.Errorf("the definition: %v", err)
			}
			ns, err := r.admin.CoreV1().Namespaces().Get(t.Context(), team, metav1.GetOptions{})
			if err != nil || ns.Status.Phase == corev1.NamespaceTerminating {
				t.Errorf("the namespace: %v %+v", err, ns)
			}
			if thing, err := things.Get(t.Context(), "theirs", metav1.GetOptions{}); err != nil || thing.GetDeletionTimestamp() != nil {
				t.Errorf("the object of somebody: %v", err)
			}
			if a, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "a", metav1.GetOptions{}); err != nil || (a.Data["k"] == "two") != late {
				t.Errorf("the other change: %v %v", a, err)
			}
		})
	}
}

// TestFirstObjectInWhatGoes: a release that drops a Namespace and a definition and makes the first objects in the one and of the other is
// refused before its first write.
func TestFirstObjectInWhatGoes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	group, team := strings.ReplaceAll(r.name, "_", "-")+".example", r.name+"-team"
	r.write("bundle.yaml", r.bundle(r.configMap("a", "k: one")+"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: "+team+"}\n"+`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.`+group+`}
spec:
  group: `+group+`
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`))
	r.applied(r.request())
	r.write("app.yaml", r.configMap("a", "k: two")+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: first, namespace: "+team+"}\n"+
		"---\napiVersion: "+group+"/v1\nkind: Thing\nmetadata: {name: first}\n")
	req, n := r.request(), 2
	req.ConfirmDelete = &n
	out, err := r.apply(req)
	if err == nil || len(out.Clusters) > 0 || r.get("a").Data["k"] != "one" {
		t.Fatalf("%v %+v", err, out)
	}
	for _, want := range []string{"Namespace " + team, "ConfigMap " + team + "/first", "things." + group, "Thing " + r.name + "/first"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not said: %v", want, err)
		}
	}
}
