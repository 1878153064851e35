package object

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestHeldBy: a finalizer is named with the manager that set it.
func TestHeldBy(t *testing.T) {
	entry := func(manager, fields string) metav1.ManagedFieldsEntry {
		e := metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{}}
		e.FieldsV1.SetRawBytes([]byte(fields))
		return e
	}
	entries := []metav1.ManagedFieldsEntry{
		entry("kubectl-create", `{"f:data":{"f:a":{}}}`),
		entry("operator", `{"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/hold\"":{}}}}`),
		entry("person", `{"f:metadata":{"f:finalizers":{"v:\"example.com/two\"":{}}}}`),
		entry("other", `{"f:metadata":{"f:finalizers":{"v:\"example.com/two\"":{}}}}`),
		entry("broken", `{`), {Manager: "empty"},
	}
	for _, c := range []struct {
		finalizers []string
		want       string
	}{
		{nil, ""}, {[]string{"example.com/hold"}, "held by finalizer example.com/hold (set by operator)"},
		{[]string{"nobody.com/x"}, "held by finalizer nobody.com/x"},
		{[]string{"kubernetes.io/pvc-protection", "example.com/two"},
			"held by finalizers kubernetes.io/pvc-protection (until no Pod uses the claim), example.com/two (set by person and other)"},
	} {
		if got := HeldBy(c.finalizers, entries); got != c.want {
			t.Errorf("%v: %q, want %q", c.finalizers, got, c.want)
		}
	}
}
