package object

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Who has a drifted field is who owns that field, not who wrote to the object last; a field that was removed is nobody's.
func TestTaken(t *testing.T) {
	const declared = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: ns, annotations: {a: b}},
		spec: {replicas: 3, template: {spec: {containers: [{name: api, image: x, env: [{name: E, value: "1"}]}], volumes: [{name: v, emptyDir: {}}]}}}}`
	const pod = `"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"api\"}":{".":{},"f:name":{},"f:image":{},"f:env":{"k:{\"name\":\"E\"}":{".":{},"f:name":{},"f:value":{}}}}},` +
		`"f:volumes":{"k:{\"name\":\"v\"}":{".":{},"f:name":{},"f:emptyDir":{}}}}}`
	const notes = `"f:metadata":{"f:annotations":{"f:a":{}}}`
	all := entry("us", "Apply", `{`+notes+`,"f:spec":{"f:replicas":{},`+pod+`}}`)
	without := entry("us", "Apply", `{`+notes+`,"f:spec":{`+pod+`}}`)
	scaled := entry("kubectl", "Update", `{"f:spec":{"f:replicas":{}}}`, "scale")
	noted := entry("kubectl-annotate", "Update", `{"f:metadata":{"f:annotations":{"f:note":{}}}}`)
	set := entry("kubectl-set", "Update", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"api\"}":{"f:image":{},"f:env":{"k:{\"name\":\"X\"}":{".":{},"f:name":{}}}}}}}}}`)
	was := EntryOf([]metav1.ManagedFieldsEntry{all}, "us")
	for _, c := range []struct {
		name    string
		before  *Entry
		entries []metav1.ManagedFieldsEntry
		want    string
	}{
		{"nothing is taken", nil, []metav1.ManagedFieldsEntry{all, noted}, ""},
		{"scaled, then annotated", nil, []metav1.ManagedFieldsEntry{without, scaled, noted}, "spec.replicas kubectl"},
		{"recorded before", was, []metav1.ManagedFieldsEntry{without, scaled, noted}, "spec.replicas kubectl"},
		{"never ours", EntryOf([]metav1.ManagedFieldsEntry{without}, "us"), []metav1.ManagedFieldsEntry{without, scaled}, ""},
		{"removed", nil, []metav1.ManagedFieldsEntry{without, noted}, "spec.replicas "},
		{"an autoscaler's", nil, []metav1.ManagedFieldsEntry{without, entry("kube-controller-manager", "Update", `{"f:spec":{"f:replicas":{}}}`, "scale")}, ""},
		{"an image", nil, []metav1.ManagedFieldsEntry{entry("us", "Apply", strings.Replace(`{`+notes+`,"f:spec":{"f:replicas":{},`+pod+`}}`, `"f:image":{},`, "", 1)), set},
			"spec.template.spec.containers[api].image kubectl-set"},
		{"a whole item", nil, []metav1.ManagedFieldsEntry{entry("us", "Apply", `{`+notes+`,"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"api\"}":{".":{},"f:name":{},"f:image":{},"f:env":{"k:{\"name\":\"E\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}`), noted},
			"spec.template.spec.volumes[v] "},
		{"an annotation", nil, []metav1.ManagedFieldsEntry{entry("us", "Apply", `{"f:spec":{"f:replicas":{},`+pod+`}}`), noted}, "metadata.annotations.a "},
		{"our entry is gone", nil, []metav1.ManagedFieldsEntry{scaled, noted}, ""},
	} {
		var got []string
		for _, f := range (Object{Body: yamlMap(t, declared)}).Taken(c.entries, "us", c.before) {
			got = append(got, fmt.Sprint(f.Path, " ", f.By))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
	if by := TakenBy([]Taken{{By: "a"}, {By: "b"}}); by != "" {
		t.Error(by)
	}
	if by := TakenBy([]Taken{{By: "a"}, {By: "a"}}); by != "a" {
		t.Error(by)
	}
}
