package object

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DeleteOptions are those of one object with preconditions, where they are known: workloads go after their pods (foreground), so that gone means stopped; everything else at once.
func DeleteOptions(ref Ref, uid, resourceVersion string) metav1.DeleteOptions {
	policy := metav1.DeletePropagationBackground
	if ref.IsWorkload() && ref.Kind != "Pod" {
		policy = metav1.DeletePropagationForeground
	}
	o := metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, PropagationPolicy: &policy,
		Preconditions: &metav1.Preconditions{}}
	if uid != "" {
		id := types.UID(uid)
		o.Preconditions.UID = &id
	}
	if resourceVersion != "" {
		o.Preconditions.ResourceVersion = &resourceVersion
	}
	return o
}
