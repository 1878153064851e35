package object

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestTakeoverLeavesWhatComesWithTheStatus: a controller writes annotations together with the status; they are neither
// the former owner's, who has the map that they stand in, nor ours to remove.
func TestTakeoverLeavesWhatComesWithTheStatus(t *testing.T) {
	entry := func(manager, subresource, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource,
			APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	live := map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		"meta.helm.sh/release-name": "api", "deployment.kubernetes.io/revision": "2"}}}
	take := NewTakeover([]metav1.ManagedFieldsEntry{
		entry("helm", "", `{"f:metadata":{"f:annotations":{".":{},"f:meta.helm.sh/release-name":{}}}}`),
		entry("kube-controller-manager", "status", `{"f:metadata":{"f:annotations":{"f:deployment.kubernetes.io/revision":{}}}}`),
	}, []string{"helm"}, "hawser:x")
	want := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"deployment.kubernetes.io/revision": "2"}}}
	if diff := cmp.Diff(want, take.Rest(live, map[string]any{})); diff != "" {
		t.Error(diff)
	}
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"meta.helm.sh/release-name": nil}}}
	if diff := cmp.Diff(patch, take.Patch(live, map[string]any{})); diff != "" {
		t.Error(diff)
	}
}
