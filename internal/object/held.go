package object

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// waits says what the finalizers of Kubernetes itself wait for.
var waits = map[string]string{
	"foregroundDeletion":                          "until what it owns is gone",
	"orphan":                                      "until what it owns is let go",
	"kubernetes.io/pvc-protection":                "until no Pod uses the claim",
	"kubernetes.io/pv-protection":                 "until no claim is bound to the volume",
	"service.kubernetes.io/load-balancer-cleanup": "until its load balancer is removed",
	"customresourcecleanup.apiextensions.k8s.io":  "until its custom resources are gone",
}

// HeldBy says what holds an object that is being deleted: "held by finalizer example.com/hold (set by example-controller)",
// with the manager of the entry in managedFields that owns the finalizer; "" when there is none.
func HeldBy(finalizers []string, entries []metav1.ManagedFieldsEntry) string {
	if len(finalizers) == 0 {
		return ""
	}
	said := make([]string, len(finalizers))
	for i, name := range finalizers {
		said[i] = name
		if what := waits[name]; what != "" {
			said[i] += " (" + what + ")"
		} else if by := setBy(name, entries); len(by) > 0 {
			said[i] += " (set by " + strings.Join(by, " and ") + ")"
		}
	}
	noun := "finalizer "
	if len(said) > 1 {
		noun = "finalizers "
	}
	return "held by " + noun + strings.Join(said, ", ")
}

// setBy are the managers that own a finalizer.
func setBy(finalizer string, entries []metav1.ManagedFieldsEntry) []string {
	metadata, list, item := "metadata", "finalizers", value.NewValueInterface(finalizer)
	path := fieldpath.Path{{FieldName: &metadata}, {FieldName: &list}, {Value: &item}}
	var out []string
	for _, e := range entries {
		if set, err := fieldSet(e); err == nil && set.Has(path) && !slices.Contains(out, e.Manager) {
			out = append(out, e.Manager)
		}
	}
	return out
}
