package kube_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
)

// TestDeadCorrection: what a correction that died had written for a head that never came goes when the next run begins, as what a
// release wrote does, and what is kept of the release has the release's phase.
func TestDeadCorrection(t *testing.T) {
	c := &shelf{secrets: map[string]corev1.Secret{}}
	s := kube.New(c, "c")
	r := storetest.Record(t, 1)
	h := release.RecordVersion("")
	next := r
	next.Revision, next.Phase = 2, release.Applying
	put := func(r release.Record, objects []object.Object) {
		t.Helper()
		var err error
		if h, err = s.Put(t.Context(), r, objects, h); err != nil {
			t.Fatal(err)
		}
	}
	put(r, storetest.Objects(2, "x"))
	put(r.Corrected(release.Record{Rollout: "C"}, release.Record{Phase: release.Applying}, nil), nil)
	orphan := "hawser-" + r.Owner + "-r1-set-dead-0"
	c.secrets[orphan] = corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: orphan, Labels: map[string]string{object.LabelOwner: r.Owner}}}
	put(next, nil)
	sets := 0
	for name := range c.secrets {
		if sets += strings.Count(name, "-set-"); name == orphan {
			t.Error("it is still there")
		}
	}
	kept, err := storetest.Kept(t.Context(), s.(release.History), r.Owner)
	if err != nil || sets != 1 || len(kept) != 1 || kept[0].Phase != release.Succeeded {
		t.Errorf("%v, %d Sets, kept %+v", err, sets, kept)
	}
}
