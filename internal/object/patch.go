package object

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PatchOp is one operation of a JSON patch (RFC 6902).
type PatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// WithEntries is the patch that gives an object other managed fields, and drops kubectl's copy of it.
func WithEntries(m metav1.ObjectMeta, entries []metav1.ManagedFieldsEntry) []PatchOp {
	ops := []PatchOp{{Op: "replace", Path: "/metadata/managedFields", Value: entries}}
	if _, ok := m.Annotations[LastApplied]; ok {
		ops = append(ops, PatchOp{Op: "remove", Path: "/metadata/annotations/" + strings.ReplaceAll(LastApplied, "/", "~1")})
	}
	return ops
}

// Unmarked is the patch of an object that removes what a bundle put on it beside what was declared: its labels, and its entries
// in managed fields, so that nobody has those fields until somebody applies them again. The labels are the bundle's by the owner
// that they name, and where that was taken away by the bundle's name. nil: there is nothing of the bundle's, whose field manager
// is manager.
func Unmarked(m metav1.ObjectMeta, bundle, manager string) []PatchOp {
	var ops []PatchOp
	if owner := m.Labels[LabelOwner]; Manager(owner) == manager || owner == "" && (m.Labels[LabelBundle] == "" || m.Labels[LabelBundle] == bundle) {
		for _, key := range []string{LabelOwner, LabelBundle, LabelInstance, LabelManagedBy} {
			if value, ok := m.Labels[key]; ok && (key != LabelManagedBy || value == "hawser") {
				ops = append(ops, PatchOp{Op: "remove", Path: "/metadata/labels/" + strings.ReplaceAll(key, "/", "~1")})
			}
		}
	}
	ours := func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager || e.Manager == HandoverManager }
	if !slices.ContainsFunc(m.ManagedFields, ours) {
		return ops
	}
	entries := slices.DeleteFunc(slices.Clone(m.ManagedFields), ours)
	if len(entries) == 0 {
		// an empty list would be ignored; one empty entry clears them (kubernetes.io/docs/reference/using-api/server-side-apply)
		entries = []metav1.ManagedFieldsEntry{{}}
	}
	return append(ops, PatchOp{Op: "replace", Path: "/metadata/managedFields", Value: entries})
}
