package object

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReplicasOf(t *testing.T) {
	const replicas = `{"f:spec":{"f:replicas":{}}}`
	ours := entry("us", "Apply", replicas)
	for _, c := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		ours    bool
		other   string
	}{
		{"ours", []metav1.ManagedFieldsEntry{ours}, true, ""},
		{"shared", []metav1.ManagedFieldsEntry{ours, entry("hpa", "Update", replicas, "scale")}, true, "hpa"},
		{"taken", []metav1.ManagedFieldsEntry{entry("us", "Apply", `{"f:spec":{"f:template":{}}}`), entry("kubectl-patch", "Update", replicas)}, false, "kubectl-patch"},
		{"handed over", []metav1.ManagedFieldsEntry{entry(HandoverManager, "Apply", replicas)}, false, HandoverManager},
		{"handed over and taken", []metav1.ManagedFieldsEntry{entry(HandoverManager, "Apply", replicas), entry("x", "Update", replicas)}, false, "x"},
		{"the whole spec", []metav1.ManagedFieldsEntry{entry("us", "Apply", `{"f:spec":{}}`)}, true, ""},
		{"another field of that name", []metav1.ManagedFieldsEntry{entry("us", "Apply", `{"f:data":{"f:replicas":{}}}`)}, false, ""},
		{"the status", []metav1.ManagedFieldsEntry{entry("x", "Update", `{"f:spec":{"f:replicas":{}}}`, "status")}, false, ""},
		{"broken", []metav1.ManagedFieldsEntry{entry("us", "Apply", `{"f:replicas"`)}, false, ""},
	} {
		if ours, other := ReplicasOf(c.entries, "us"); ours != c.ours || other != c.other {
			t.Errorf("%s: %v %q", c.name, ours, other)
		}
	}
}

func TestScaleTarget(t *testing.T) {
	for _, c := range []struct {
		body string
		want Ref
	}{
		{"{metadata: {namespace: ns}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: a}}}", Ref{"apps", "StatefulSet", "ns", "a"}},
		{"{metadata: {namespace: ns}, spec: {scaleTargetRef: {name: a}}}", Ref{"apps", "Deployment", "ns", "a"}},
		{"{metadata: {namespace: ns}, spec: {scaleTargetRef: {apiVersion: a/b/c, kind: X, name: a}}}", Ref{}},
		{"{metadata: {namespace: ns}, spec: {scaleTargetRef: text}}", Ref{}},
		{"{}", Ref{}},
	} {
		if got := ScaleTarget(yamlMap(t, c.body)); got != c.want {
			t.Errorf("%s: %+v", c.body, got)
		}
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct {
		name    string
		entries []metav1.ManagedFieldsEntry
		want    bool
	}{
		{"ours alone", []metav1.ManagedFieldsEntry{entry("us", "Apply", `{"f:data":{}}`)}, false},
		{"a status", []metav1.ManagedFieldsEntry{entry("x", "Update", `{"f:status":{}}`, "status")}, false},
		{"an empty entry", []metav1.ManagedFieldsEntry{entry("x", "Apply", `{}`)}, false},
		{"somebody's field", []metav1.ManagedFieldsEntry{entry("x", "Update", `{"f:data":{"f:a":{}}}`)}, true},
		{"scaled", []metav1.ManagedFieldsEntry{entry("x", "Update", `{"f:spec":{"f:replicas":{}}}`, "scale")}, true},
	} {
		if got := Shared(c.entries, "us"); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Who owns a mark, or is known by its name, is the former owner; everybody else is a third party.
func TestForeignOwnerNamesItsOwnManagers(t *testing.T) {
	injector := entry("cainjector", "Update", `{"f:data":{"f:ca.crt":{}}}`)
	old := metav1.NewTime(injector.Time.Add(-1))
	first := entry("operator", "Update", `{"f:data":{"f:a":{}}}`)
	first.Time = &old
	for _, c := range []struct {
		name                string
		labels, annotations map[string]string
		entries             []metav1.ManagedFieldsEntry
		owner, managers     string
	}{
		{"Helm", nil, map[string]string{"meta.helm.sh/release-name": "a"}, []metav1.ManagedFieldsEntry{injector, entry("helm", "Update", `{}`)}, "Helm release a", "helm"},
		{"Helm by another program", nil, map[string]string{"meta.helm.sh/release-name": "a"},
			[]metav1.ManagedFieldsEntry{injector, entry("deployer", "Update", `{"f:metadata":{"f:annotations":{"f:meta.helm.sh/release-name":{}}}}`)}, "Helm release a", "deployer"},
		{"kubectl, all of it", nil, map[string]string{LastApplied: "{}"}, []metav1.ManagedFieldsEntry{injector, entry("kubectl-edit", "Update", `{}`), entry("kubectl-client-side-apply", "Update", `{}`)},
			"kubectl-client-side-apply", "kubectl-client-side-apply kubectl-edit"},
		{"who applies", nil, nil, []metav1.ManagedFieldsEntry{injector, entry("deployer", "Apply", `{}`)}, "deployer", "deployer"},
		{"who wrote first", nil, nil, []metav1.ManagedFieldsEntry{injector, first}, "operator", "operator"},
		{"another bundle", map[string]string{LabelOwner: "other", LabelBundle: "b"}, nil, []metav1.ManagedFieldsEntry{injector, entry("hawser:other", "Apply", `{}`)}, "Hawser bundle b", "hawser:other"},
	} {
		f := ForeignOwner(c.labels, c.annotations, c.entries, "hawser:me")
		got := ""
		for i, m := range f.Managers {
			if i > 0 {
				got += " "
			}
			got += m
		}
		if f.Owner != c.owner || got != c.managers {
			t.Errorf("%s: %q %q", c.name, f.Owner, got)
		}
	}
}
