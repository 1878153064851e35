package object

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func entry(manager, operation, fields string, more ...string) metav1.ManagedFieldsEntry {
	f := &metav1.FieldsV1{}
	f.SetRawBytes([]byte(fields))
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	e := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationType(operation), APIVersion: "v1",
		FieldsType: "FieldsV1", FieldsV1: f, Time: &at}
	for _, s := range more {
		e.Subresource = s
	}
	return e
}

func TestOwnEntry(t *testing.T) {
	ours := entry("hawser:me", "Apply", `{"f:data":{"f:x":{}}}`)
	base, version := OwnEntry([]metav1.ManagedFieldsEntry{ours}, "hawser:me")
	if base == "" || version != "v1" {
		t.Fatalf("%q %q", base, version)
	}
	later := ours
	at := metav1.NewTime(ours.Time.Add(time.Second))
	later.Time = &at
	for _, c := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		same    bool
		reason  string
	}{
		{"others beside it", []metav1.ManagedFieldsEntry{entry("x", "Update", `{"f:status":{}}`), ours}, true, "only our entry counts"},
		{"white space", []metav1.ManagedFieldsEntry{entry("hawser:me", "Apply", `{ "f:data": {"f:x": {}} }`)}, true, "the same fields"},
		{"a path lost", []metav1.ManagedFieldsEntry{entry("hawser:me", "Apply", `{"f:data":{}}`)}, false, "somebody took a field"},
		{"another time", []metav1.ManagedFieldsEntry{later}, false, "somebody wrote under our name"},
		{"only an Update entry", []metav1.ManagedFieldsEntry{entry("hawser:me", "Update", `{"f:data":{"f:x":{}}}`)}, false, "not an apply"},
		{"a subresource", []metav1.ManagedFieldsEntry{entry("hawser:me", "Apply", `{"f:data":{"f:x":{}}}`, "status")}, false, "not the object itself"},
		{"none", nil, false, "stripped"},
	} {
		if got, _ := OwnEntry(c.entries, "hawser:me"); (got == base) != c.same {
			t.Errorf("%s: same %v, want %v: %s", c.name, got == base, c.same, c.reason)
		}
	}
}

func TestForeignOwner(t *testing.T) {
	ours := entry("hawser:me", "Apply", `{"f:metadata":{"f:labels":{"f:hawser.dev/owner":{},"f:kustomize.toolkit.fluxcd.io/name":{}}}}`)
	for _, c := range []struct {
		name                string
		labels, annotations map[string]string
		entries             []metav1.ManagedFieldsEntry
		want                Foreign
	}{
		{"ours alone", map[string]string{LabelOwner: "me"}, nil, []metav1.ManagedFieldsEntry{ours, entry("kube-controller-manager", "Update", `{"f:status":{}}`)}, Foreign{}},
		{"ours with a mark that we declare", map[string]string{LabelOwner: "me", "kustomize.toolkit.fluxcd.io/name": "apps"}, nil, []metav1.ManagedFieldsEntry{ours}, Foreign{}},
		{"handed over", map[string]string{LabelOwner: "me"}, nil, []metav1.ManagedFieldsEntry{ours, entry(HandoverManager, "Apply", `{}`)}, Foreign{}},
		{"ours, edited", map[string]string{LabelOwner: "me"}, nil, []metav1.ManagedFieldsEntry{ours, entry("kubectl-edit", "Update", `{}`)},
			Foreign{Owner: "kubectl-edit", Managers: []string{"kubectl-edit"}}},
		{"another bundle by its label", map[string]string{LabelOwner: "other", LabelBundle: "shop"}, nil, nil, Foreign{Owner: "Hawser bundle shop", Bundle: true}},
		{"another bundle by its manager", nil, nil, []metav1.ManagedFieldsEntry{entry("hawser:other", "Apply", `{}`)},
			Foreign{Owner: "Hawser bundle with owner id other", Managers: []string{"hawser:other"}, Bundle: true}},
		{"our label on somebody's copy", map[string]string{LabelOwner: "me"}, nil, []metav1.ManagedFieldsEntry{entry("replicator", "Update", `{}`)},
			Foreign{Owner: "replicator", Managers: []string{"replicator"}}},
		{"Flux HelmRelease rather than Helm", map[string]string{"helm.toolkit.fluxcd.io/name": "api", "helm.toolkit.fluxcd.io/namespace": "shop"},
			map[string]string{"meta.helm.sh/release-name": "api"}, []metav1.ManagedFieldsEntry{entry("helm-controller", "Apply", `{}`)},
			Foreign{Owner: "Flux HelmRelease shop/api", Managers: []string{"helm-controller"}, Reconciled: true}},
		{"Argo CD by its controller", map[string]string{"app.kubernetes.io/instance": "shop"}, nil, []metav1.ManagedFieldsEntry{entry("argocd-controller", "Update", `{}`)},
			Foreign{Owner: "Argo CD application shop", Managers: []string{"argocd-controller"}, Reconciled: true}},
		{"Argo CD by what it left when it let go", nil, map[string]string{"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/api"}, nil,
			Foreign{Owner: "Argo CD application shop", Reconciled: true}},
		{"Argo CD whose marks were taken away", map[string]string{"app.kubernetes.io/instance": "shop"}, nil, nil, Foreign{}},
		{"a hook of Helm, which names no release", nil, map[string]string{"helm.sh/hook": "pre-upgrade"}, []metav1.ManagedFieldsEntry{entry("helm", "Update", `{}`)},
			Foreign{Owner: "Helm", Managers: []string{"helm"}, Hook: true}},
		{"a hook of a Helm of another name", map[string]string{LabelManagedBy: "Helm"}, map[string]string{"helm.sh/hook": "pre-upgrade"},
			[]metav1.ManagedFieldsEntry{entry("helm3", "Update", `{"f:metadata":{"f:annotations":{"f:helm.sh/hook":{}}}}`), entry("stamp", "Update", `{}`)},
			Foreign{Owner: "Helm", Managers: []string{"helm3"}, Hook: true}},
		{"a hook whose chart names its release", nil, map[string]string{"helm.sh/hook": "test", "meta.helm.sh/release-name": "api", "meta.helm.sh/release-namespace": "shop"},
			[]metav1.ManagedFieldsEntry{entry("helm", "Update", `{}`)}, Foreign{Owner: "Helm release shop/api", Managers: []string{"helm"}, Release: true, Hook: true}},
		{"what somebody applied of helm template", map[string]string{LabelManagedBy: "Helm"}, map[string]string{"helm.sh/hook": "pre-upgrade"},
			[]metav1.ManagedFieldsEntry{entry("kubectl-client-side-apply", "Update", `{"f:metadata":{"f:annotations":{"f:helm.sh/hook":{}}}}`)},
			Foreign{Owner: "kubectl-client-side-apply", Managers: []string{"kubectl-client-side-apply"}}},
		{"a hook of ours", map[string]string{LabelOwner: "me", LabelManagedBy: "Helm"}, map[string]string{"helm.sh/hook": "pre-upgrade"},
			[]metav1.ManagedFieldsEntry{entry("hawser:me", "Apply", `{"f:metadata":{"f:annotations":{"f:helm.sh/hook":{}}}}`)}, Foreign{}},
		{"kubectl apply", nil, map[string]string{LastApplied: "{}"}, nil, Foreign{Owner: "kubectl apply"}},
		{"only the system", nil, nil, []metav1.ManagedFieldsEntry{entry("kube-controller-manager", "Update", `{}`)},
			Foreign{Owner: "kube-controller-manager", Managers: []string{"kube-controller-manager"}}},
		{"status writers are nobody", nil, nil, []metav1.ManagedFieldsEntry{entry("operator", "Update", `{}`, "status")}, Foreign{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ForeignOwner(c.labels, c.annotations, c.entries, "hawser:me")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScaleOwner(t *testing.T) {
	if got := ScaleOwner([]metav1.ManagedFieldsEntry{entry("a", "Update", `{"f:spec":{"f:replicas":{}}}`), entry("hpa", "Update", `{"f:spec":{"f:replicas":{}}}`, "scale")}); got != "hpa" {
		t.Errorf("%q", got)
	}
	if got := ScaleOwner([]metav1.ManagedFieldsEntry{entry("a", "Update", `{"f:status":{}}`, "scale")}); got != "" {
		t.Errorf("%q", got)
	}
}

func TestFoldManagers(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		entry("hawser:me", "Apply", `{"f:data":{"f:x":{}}}`), entry("helm", "Apply", `{"f:data":{"f:y":{}}}`),
		entry("kubectl-client-side-apply", "Update", `{"f:data":{"f:z":{}}}`), entry("helm", "Update", `{"f:status":{}}`, "status"),
		entry("stays", "Update", `{"f:data":{"f:s":{}}}`),
	}
	out, changed, err := FoldManagers(entries, []string{"helm", "kubectl-client-side-apply"}, "hawser:me", "v1")
	if err != nil || !changed || len(out) != 3 {
		t.Fatalf("%v %v %v", out, changed, err)
	}
	last := out[2]
	if last.Manager != "hawser:me" || last.Operation != "Apply" || string(last.FieldsV1.GetRawBytes()) != `{"f:data":{"f:x":{},"f:y":{},"f:z":{}}}` {
		t.Errorf("%+v %s", last, last.FieldsV1.GetRawBytes())
	}
	out, _, err = FoldManagers([]metav1.ManagedFieldsEntry{entry("helm", "Update",
		`{"f:metadata":{"f:finalizers":{".":{},"v:\"x\"":{}},"f:ownerReferences":{},"f:labels":{"f:a":{}}},"f:data":{}}`)}, []string{"helm"}, "hawser:me", "v1")
	if want := `{"f:data":{},"f:metadata":{"f:labels":{"f:a":{}}}}`; err != nil || string(out[0].FieldsV1.GetRawBytes()) != want {
		t.Errorf("finalizers and owner references are taken over: %v %s", err, out[0].FieldsV1.GetRawBytes())
	}
	job := entry("before-first-apply", "Update", `{"f:spec":{"f:selector":{},"f:suspend":{},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:controller-uid":{},"f:batch.kubernetes.io/job-name":{}}}}}}`)
	out, _, err = FoldManagers([]metav1.ManagedFieldsEntry{job}, nil, "hawser:me", "batch/v1")
	if got := string(out[0].FieldsV1.GetRawBytes()); err != nil || got != `{"f:spec":{"f:suspend":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}}}}}` {
		t.Errorf("what the API server made up of a Job is taken over: %s, %v", got, err)
	}
	if _, changed, _ := FoldManagers(entries[:1], []string{"helm"}, "hawser:me", "v1"); changed {
		t.Error("nothing to fold is no change")
	}
	broken := []metav1.ManagedFieldsEntry{entry("helm", "Apply", `{"q:`)}
	if _, _, err := FoldManagers(broken, []string{"helm"}, "hawser:me", "v1"); err == nil {
		t.Error("unreadable fields are an error")
	}
}

func TestOneApply(t *testing.T) {
	out := OneApply([]metav1.ManagedFieldsEntry{entry("a", "Apply", `{"f:x":{}}`), entry("b", "Apply", `{}`), entry("a", "Apply", `{"f:y":{}}`)})
	if len(out) != 2 || string(out[0].FieldsV1.GetRawBytes()) != `{"f:x":{},"f:y":{}}` {
		t.Errorf("%+v", out)
	}
}

// What nobody but controllers of the cluster wrote is the cluster's own; an object that tells nothing of its writers is not.
func TestByCluster(t *testing.T) {
	openshift, people := entry("openshift-controller-manager", "Update", `{}`), entry("kubectl-create", "Update", `{}`)
	system := entry("kube-controller-manager", "Update", `{}`)
	for i, tt := range []struct {
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		{nil, false}, {[]metav1.ManagedFieldsEntry{openshift, system}, true}, {[]metav1.ManagedFieldsEntry{people}, false},
		{[]metav1.ManagedFieldsEntry{people, openshift}, false},
	} {
		if got := ByCluster(tt.entries); got != tt.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}
