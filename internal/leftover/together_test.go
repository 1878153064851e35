package leftover

import (
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/object"
)

func liveWith(t *testing.T, text string, entries ...metav1.ManagedFieldsEntry) map[string]any {
	t.Helper()
	u := unstructured.Unstructured{Object: body(t, text)}
	u.SetManagedFields(entries)
	return u.Object
}

const ourFields = `{"f:spec":{"f:old":{},"f:c":{"k:{\"name\":\"api\"}":{".":{},"f:name":{},"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}}}`
const theirFields = `{"f:spec":{"f:c":{"k:{\"name\":\"api\"}":{"f:env":{"k:{\"name\":\"A\"}":{"f:valueFrom":{}}}}}}}`

// TestTogether: what others and defaults have stays beside what is declared, what we had and declare no longer goes; as a new
// object it has nothing of the old one's identity.
func TestTogether(t *testing.T) {
	live := liveWith(t, "{metadata: {name: web, namespace: n, uid: u, labels: {a: b}}, spec: {old: 1, default: d, before: k, c: [{name: api, env: [{name: A, value: a, valueFrom: x}]}, {name: side}]}, status: {x: y}}",
		entry("us", "Apply", ourFields), entry("kubectl-patch", "Update", theirFields), entry(object.BeforeFirst, "Update", `{"f:spec":{"f:before":{}}}`))
	got := AsNew(Together(live, body(t, "{metadata: {name: web}, spec: {new: 2, c: [{name: api, env: [{name: A, value: z}]}]}}"), "us"))
	want := body(t, "{metadata: {generateName: hawser-check-, namespace: n, labels: {a: b}}, spec: {new: 2, default: d, before: k, c: [{name: api, env: [{name: A, value: z, valueFrom: x}]}, {name: side}]}}")
	if !reflect.DeepEqual(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
	if live["status"] == nil || (&unstructured.Unstructured{Object: live}).GetName() != "web" {
		t.Error("the live one was changed")
	}
}

// TestSetters: who has a field that a refusal names is found whatever the number of the item is, and else who has what it is in.
func TestSetters(t *testing.T) {
	live := liveWith(t, "{}", entry("us", "Apply", ourFields), entry("kubectl-patch", "Update", theirFields), entry("status", "Update", theirFields, "status"),
		entry("labeller", "Update", `{"f:metadata":{"f:labels":{"f:x":{}}}}`))
	for path, want := range map[string][]string{
		"spec.c[0].env[7].valueFrom": {"kubectl-patch"}, "spec.c[0].env[0].value": {"kubectl-patch"}, "metadata.labels[x]": {"labeller"},
		"spec.strategy.rollingUpdate": nil, "spec": nil, "": nil,
	} {
		if got := Setters(live, "us", []string{path}); !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// A field goes with its only owner's applies, and stays where somebody else has it too or it was not applied.
func TestGoes(t *testing.T) {
	entry := func(manager string, op metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: op, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const uri = `{"f:data":{"f:uri":{}}}`
	mine := entry("me", metav1.ManagedFieldsOperationApply, uri)
	for _, c := range []struct {
		reason, path string
		entries      []metav1.ManagedFieldsEntry
		want         bool
	}{
		{"ours alone", "data.uri", []metav1.ManagedFieldsEntry{mine}, true},
		{"another key", "data.url", []metav1.ManagedFieldsEntry{mine}, false},
		{"somebody else applies it too", "data.uri", []metav1.ManagedFieldsEntry{mine, entry("you", metav1.ManagedFieldsOperationApply, uri)}, false},
		{"somebody has updated it", "data.uri", []metav1.ManagedFieldsEntry{mine, entry("you", metav1.ManagedFieldsOperationUpdate, uri)}, false},
		{"we have updated it", "data.uri", []metav1.ManagedFieldsEntry{entry("me", metav1.ManagedFieldsOperationUpdate, uri)}, false},
		{"nobody's", "data.uri", nil, false},
		{"an item of a list", "data[0]", []metav1.ManagedFieldsEntry{mine}, false},
	} {
		path, err := v1alpha1.ParsePath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got := Goes(c.entries, "me", path); got != c.want {
			t.Errorf("%s: %t", c.reason, got)
		}
	}
}
