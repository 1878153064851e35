package health

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestLeaving: what holds a deletion is named: the finalizer with who set it, and what a Namespace says is left in it.
func TestLeaving(t *testing.T) {
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(`
apiVersion: v1
kind: Namespace
metadata:
  name: shop
  deletionTimestamp: "2026-01-01T00:00:00Z"
  finalizers: [example.com/hold]
  managedFields:
  - {manager: shop-operator, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:finalizers": {".": {}, 'v:"example.com/hold"': {}}}}}
status:
  phase: Terminating
  conditions:
  - {type: NamespaceDeletionDiscoveryFailure, status: "False", message: nothing}
  - {type: NamespaceDeletionContentFailure, status: "True", message: "Failed to delete all resource types, 1 remaining: no webhook"}
  - {type: NamespaceContentRemaining, status: "True", message: "Some resources are remaining: things.example.com has 2 resource instances"}
  - {type: NamespaceFinalizersRemaining, status: "True", message: "Some content in the namespace has finalizers remaining: example.com/x in 2 resource instances"}
  - {type: Other, status: "True", message: other}
`), &obj); err != nil {
		t.Fatal(err)
	}
	st := Of(obj, Rules{})
	want := []string{
		"NamespaceDeletionContentFailure: Failed to delete all resource types, 1 remaining: no webhook",
		"NamespaceContentRemaining: Some resources are remaining: things.example.com has 2 resource instances",
		"NamespaceFinalizersRemaining: Some content in the namespace has finalizers remaining: example.com/x in 2 resource instances",
	}
	if st.State != Terminating || st.Reason != "is being deleted, held by finalizer example.com/hold (set by shop-operator)" || !slices.Equal(st.Details, want) {
		t.Errorf("%+v", st)
	}
}
