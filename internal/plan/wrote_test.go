package plan

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
)

// What the inventory says of an object that was written: what the answer has of it, what is declared, and what it says itself.
func TestWrote(t *testing.T) {
	ref := object.Ref{Group: "batch", Kind: "Job", Namespace: "ns", Name: "migrate"}
	body := object.Object{Body: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "migrate",
		"annotations": map[string]any{"hawser.dev/prune": "disabled"}}, "spec": map[string]any{"replicas": int64(1), "ttlSecondsAfterFinished": int64(9)}}}
	m := metav1.ObjectMeta{UID: "u", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "hawser:me", Operation: metav1.ManagedFieldsOperationApply,
		APIVersion: "batch/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}}
	ch := Change{Action: Create, Ref: ref, Instance: "i", Stage: 2}
	o := Wrote(ch, body, m, "hawser:me", true)
	if o.Ref != ref || o.Version != "v1" || o.UID != "u" || o.ResourceVersion != "7" || o.Own == "" || o.Digest != body.Digest() || !o.Keep || !o.Expires || !o.Awaited || !o.Replicas || o.Stage != 2 || o.Entry != nil || o.Hook != nil {
		t.Errorf("%+v", o)
	}
	ch.NoWait, ch.Ignore, ch.Hook = true, &object.Ignore{Paths: []string{"spec.x"}}, &HookRun{Event: object.PreDelete}
	if o := Wrote(ch, body, m, "hawser:me", true); o.Awaited || o.Entry == nil || o.Hook == nil || o.Hook.Event != object.PreDelete || o.Hook.Done {
		t.Errorf("%+v", o)
	}
}
