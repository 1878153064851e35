package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// TestEject: what was delivered stays as it is, without our labels and entries; others' entries stay, the records go, and the
// bundle can be delivered again.
func TestEject(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	// the API server gives a Job that has no label left those of its template, and counts them as fields of whoever took the last one
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")+r.configMap("alone", "key: one")+r.deployment("web")+
		"---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: import}\nspec: {suspend: true, template: {metadata: {labels: {app: import}}, spec: {restartPolicy: Never, containers: [{name: import, image: import:1}]}}}\n"+
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
	// beside others' entries: without any, the API server keeps none for anybody
	if _, err := r.admin.BatchV1().Jobs(r.name).Patch(t.Context(), "import", types.MergePatchType, []byte(`{"metadata":{"annotations":{"theirs":"two"}}}`), metav1.PatchOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
	before, err := r.admin.AppsV1().Deployments(r.name).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	req = r.request()
	req.Bundle, docs(&req).Files = r.name, nil
	fp, err := r.Plan(t.Context(), req.For(Eject))
	if err != nil || fp.Findings.HasErrors() || fp.Counts().Delete != 0 || fp.Counts().Release < 5 {
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
	if job, err := r.admin.BatchV1().Jobs(r.name).Get(t.Context(), "import", metav1.GetOptions{}); err != nil || job.Labels["app"] != "import" {
		t.Errorf("%v, %v", job.Labels, err)
	} else {
		r.unmarked(job.ObjectMeta)
	}
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
	if _, err := r.Plan(t.Context(), req.For(Eject)); err == nil {
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
	req.Bundle, docs(&req).Files = r.name, nil
	fp, err := r.Plan(t.Context(), req.For(Eject))
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
	if rec == nil || !slices.ContainsFunc(rec.Inventory, func(o plan.InventoryEntry) bool { return o.Ref.Name == "second" }) {
		t.Fatalf("the record has lost it: %+v", rec)
	}
	// a run that was killed: the object has no marks any more, and the record still names it
	first := object.Ref{Kind: "ConfigMap", Namespace: r.name, Name: "first"}
	cm := r.get(first.Name)
	r.unmarked(cm.ObjectMeta)
	if fp, err = r.Plan(t.Context(), req.For(Eject)); err != nil {
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

// TestEjectOfWhatLostMarks: what lost our owner label, all of our managed fields, or is another object by now, loses the marks that it
// still has; what another bundle has by now keeps them. Of what is being deleted the plan does not say that it stays.
func TestEjectOfWhatLostMarks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var manifests string
	for _, name := range []string{"label", "fields", "again", "theirs", "leaving"} {
		manifests += r.configMap(name, "key: one")
	}
	r.write("bundle.yaml", r.bundle(manifests))
	r.applied(r.request())
	maps := r.admin.CoreV1().ConfigMaps(r.name)
	r.patch("somebody", "ConfigMap", "label", `{"metadata":{"labels":{"hawser.dev/owner":null}}}`)
	for _, name := range []string{"label", "fields"} {
		r.patch("somebody", "ConfigMap", name, `{"metadata":{"managedFields":[{}]}}`)
	}
	again := r.get("again")
	if err := maps.Delete(t.Context(), "again", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	again.ObjectMeta = metav1.ObjectMeta{Name: again.Name, Labels: again.Labels}
	if _, err := maps.Create(t.Context(), again, metav1.CreateOptions{FieldManager: "somebody"}); err != nil {
		t.Fatal(err)
	}
	r.patch("hawser:ffffffffffffffffffff", "ConfigMap", "theirs", `{"metadata":{"labels":{"hawser.dev/owner":"ffffffffffffffffffff","hawser.dev/bundle":"b"}}}`)
	r.patch("holder", "ConfigMap", "leaving", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	if err := maps.Delete(t.Context(), "leaving", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	req := r.request()
	req.Bundle, docs(&req).Files = r.name, nil
	fp, err := r.Plan(t.Context(), req.For(Eject))
	if err != nil {
		t.Fatal(err)
	}
	for _, ch := range fp.Clusters[0].Plan.Changes {
		if ch.Ref.Name == "leaving" != ch.Leaving || ch.Leaving && (!strings.Contains(ch.Why, "is being deleted (since 20") || !strings.Contains(ch.Why, "finalizer example.com/hold")) {
			t.Errorf("%s: %t %q", ch.Ref, ch.Leaving, ch.Why)
		}
	}
	r.carried(fp, req)
	for _, name := range []string{"label", "fields", "again", "leaving"} {
		r.unmarked(r.get(name).ObjectMeta)
	}
	if cm := r.get("theirs"); cm.Labels[object.LabelBundle] != "b" {
		t.Errorf("another bundle's lost its marks: %v", cm.Labels)
	}
	r.patch("holder", "ConfigMap", "leaving", `{"metadata":{"finalizers":null}}`)
}

// TestEjectKilled: what an eject freed before it was killed is ours no longer: the next apply takes nothing from who has it meanwhile,
// until --adopt. Until then the history says that it is ejecting.
func TestEjectKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("first", "key: one")+r.configMap("second", "key: one")))
	r.applied(r.request())
	req := r.request()
	req.Bundle, docs(&req).Files = r.name, nil
	rec := r.record()
	rec.Revision, rec.Release, rec.Phase, rec.Ejecting, rec.Rollout = rec.Revision+1, rec.Release+1, release.Deleting, true, release.NewRolloutID()
	r.stored(func(store release.Store) error {
		_, handle, err := store.Current(t.Context(), rec.Owner)
		if err == nil {
			_, err = store.Put(t.Context(), *rec, nil, handle)
		}
		return err
	})
	r.patch("somebody", "ConfigMap", "first", `{"metadata":{"labels":{"hawser.dev/owner":null,"hawser.dev/bundle":null,"hawser.dev/instance":null,"app.kubernetes.io/managed-by":null},"managedFields":[{}]}}`)
	theirs := r.get("first")
	theirs.ObjectMeta = metav1.ObjectMeta{Name: "first", Namespace: r.name}
	theirs.TypeMeta, theirs.Data = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, map[string]string{"key": "theirs"}
	body, err := json.Marshal(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Patch(t.Context(), "first", types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "somebody", Force: new(true)}); err != nil {
		t.Fatal(err)
	}
	h, err := r.History(t.Context(), req)
	if err != nil || h.Bundles[0].Releases[0].State != history.Ejecting {
		t.Errorf("%+v, %v", h, err)
	}
	fp := r.plan(r.request())
	if text := fp.Findings.Errors().Err(); text == nil || !strings.Contains(text.Error(), "--adopt") || !strings.Contains(text.Error(), "first") || strings.Contains(text.Error(), "second") {
		t.Errorf("%v", text)
	}
	if _, err := r.Apply(t.Context(), fp, r.request()); err == nil || r.get("first").Data["key"] != "theirs" {
		t.Errorf("it was written over: %v, %v", err, r.get("first").Data)
	}
	adopt := r.request()
	adopt.Adopt = true
	r.applied(adopt)
	if got := r.get("first").Data["key"]; got != "one" {
		t.Errorf("it was not taken back: %s", got)
	}
}
