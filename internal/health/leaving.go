package health

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/object"
)

// Leaving is the state of an object that is being deleted: its finalizers with who set them, and for a Namespace what the
// cluster says of the things in it that do not go.
func Leaving(obj map[string]any) Status {
	u := &unstructured.Unstructured{Object: obj}
	st := Status{State: Terminating, Reason: "is being deleted"}
	if held := object.HeldBy(u.GetFinalizers(), u.GetManagedFields()); held != "" {
		st.Reason += ", " + held
	}
	if u.GetKind() != "Namespace" || u.GetAPIVersion() != "v1" {
		return st
	}
	conditions, _, _ := unstructured.NestedSlice(obj, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if kind := text(m, "type"); text(m, "status") == "True" && slices.Contains(remains, kind) {
			st.Details = append(st.Details, strings.TrimSuffix(kind+": "+text(m, "message"), ": "))
		}
	}
	return st
}

// remains are the conditions of a Namespace that tell why it does not go.
var remains = []string{"NamespaceDeletionDiscoveryFailure", "NamespaceDeletionGroupVersionParsingFailure", "NamespaceDeletionContentFailure",
	"NamespaceContentRemaining", "NamespaceFinalizersRemaining"}
