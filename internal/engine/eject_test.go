package engine

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// TestEject: what was delivered stays as it is, without our labels and entries; others' entries stay, the records go, and the
// bundle can be delivered again.
func TestEject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("alone", "key: one")+r.deployment("web")+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {hawser.dev/prune: disabled}}\ndata: {key: one}\n"))
	req := r.request()
	req.Wait = false
	r.applied(req)
	maps := r.admin.CoreV1().ConfigMaps(r.name)
	if _, err := maps.Patch(t.Context(), "app", types.MergePatchType, []byte(`{"data":{"theirs":"two"}}`), metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
	helm := `{"metadata":{"annotations":{"meta.helm.sh/release-name":"web","meta.helm.sh/release-namespace":"` + r.name + `"}},"data":{"key":"one"}}`
	if _, err := maps.Patch(t.Context(), "alone", types.MergePatchType, []byte(helm), metav1.PatchOptions{FieldManager: "helm"}); err != nil {
		t.Fatal(err)
	}
	before, err := r.admin.AppsV1().Deployments(r.name).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	req = r.request()
	req.Bundle, req.Files = r.name, nil
	fp, err := r.PlanEject(t.Context(), req)
	if err != nil || fp.Findings.HasErrors() || fp.Counts().Delete != 0 || fp.Counts().Release < 4 {
		t.Fatalf("%+v, %v", fp, err)
	}
	for _, ch := range fp.Clusters[0].Plan.Changes {
		if ch.Action != plan.Release || ch.Code != plan.CodeEjected {
			t.Errorf("%s: %s %s", ch.Ref, ch.Action, ch.Code)
		}
	}
	out, err := r.Apply(t.Context(), fp, req)
	if err != nil || out.Result != fleetplan.Succeeded {
		t.Fatalf("%+v, %v", out, err)
	}
	after, err := r.admin.AppsV1().Deployments(r.name).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || after.UID != before.UID || after.Generation != before.Generation {
		t.Errorf("the workload was touched: %v, generation %d", err, after.Generation)
	}
	r.unmarked(after.ObjectMeta)
	for name, data := range map[string]string{"app": "two", "alone": "", "kept": ""} {
		cm, err := maps.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || cm.Data["key"] != "one" || cm.Data["theirs"] != data {
			t.Errorf("%s: %v, %v", name, cm.Data, err)
			continue
		}
		r.unmarked(cm.ObjectMeta)
		if theirs := slices.ContainsFunc(cm.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == "somebody" }); theirs != (data != "") {
			t.Errorf("%s: somebody else's entry is there: %t", name, theirs)
		}
	}
	if rec := r.record(); rec != nil {
		t.Errorf("there is a record: %+v", rec)
	}
	if _, err := r.PlanEject(t.Context(), req); err == nil {
		t.Error("a second eject finds something")
	}
	again := r.request()
	again.Wait, again.Adopt = false, true
	r.applied(again)
	if fp := r.plan(r.request()); fp.Counts().Writes() != 0 {
		t.Errorf("taken back: %+v", fp.Counts())
	}
}

// unmarked finds what is left of us on an object.
func (r *rig) unmarked(m metav1.ObjectMeta) {
	r.t.Helper()
	for key, value := range m.Labels {
		if strings.HasPrefix(key, "hawser.dev/") || key == object.LabelManagedBy {
			r.t.Errorf("%s has the label %s=%s", m.Name, key, value)
		}
	}
	for _, e := range m.ManagedFields {
		if strings.HasPrefix(e.Manager, "hawser") {
			r.t.Errorf("%s has fields of %s: %s", m.Name, e.Manager, e.FieldsV1)
		}
	}
}

// TestEjectStopped: what somebody changed since the plan is left alone, and the record keeps it; run again, it is ended.
func TestEjectStopped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("first", "key: one")+r.configMap("second", "key: one")))
	r.applied(r.request())
	req := r.request()
	req.Bundle, req.Files = r.name, nil
	fp, err := r.PlanEject(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	maps := r.admin.CoreV1().ConfigMaps(r.name)
	if _, err := maps.Patch(t.Context(), "second", types.MergePatchType, []byte(`{"data":{"key":"two"}}`), metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, req); err == nil {
		t.Error("what was changed since is ejected")
	}
	rec := r.record()
	if rep, _ := r.Status(t.Context(), req); len(rep.Clusters) != 1 || !rep.Clusters[0].Ejecting {
		t.Errorf("status says nothing of it: %+v", rep.Clusters)
	}
	if rec == nil || !slices.ContainsFunc(rec.Inventory, func(o plan.Owned) bool { return o.Ref.Name == "second" }) {
		t.Fatalf("the record has lost it: %+v", rec)
	}
	// a run that was killed: the object has no marks any more, and the record still names it
	first := object.Ref{Kind: "ConfigMap", Namespace: r.name, Name: "first"}
	cm := r.get(first.Name)
	r.unmarked(cm.ObjectMeta)
	if fp, err = r.PlanEject(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(t.Context(), fp, req); err != nil {
		t.Fatal(err)
	}
	cm = r.get("second")
	if r.unmarked(cm.ObjectMeta); cm.Data["key"] != "two" {
		t.Errorf("%v", cm.Data)
	}
	if rec := r.record(); rec != nil {
		t.Errorf("there is a record: %+v", rec)
	}
}

// get is a ConfigMap of the rig's namespace.
func (r *rig) get(name string) *corev1.ConfigMap {
	r.t.Helper()
	cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(r.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return cm
}
