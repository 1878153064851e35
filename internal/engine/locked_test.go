package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
)

// A lock that another run takes when a run has begun refuses the cluster that it is on, and is told once, with its holder. A run
// with nothing to do does not ask.
func TestLockedByAnotherRun(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("bundle.yaml", r.bundle(r.configMap("app", "key: one")))
	name, leases := "hawser-"+object.OwnerID("", "", r.name), r.admin.CoordinationV1().Leases(object.SystemNamespace)
	_, err := r.admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: object.SystemNamespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	hold := func() {
		holder, seconds, at := "alice pid 7", int32(3600), metav1.NowMicro()
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &at, RenewTime: &at}}
		if _, err := leases.Create(context.Background(), lease, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
	unlock := func() {
		if err := leases.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
	r.on = func(ev fleetplan.Event) {
		if ev.Type == fleetplan.EventRollout {
			hold()
		}
	}
	out, err := r.apply(r.request())
	if !errors.Is(err, fleetplan.ErrRefused) || len(out.Clusters) != 1 || !out.Clusters[0].Refused || r.has("app") {
		t.Fatalf("%v, %+v", err, out)
	}
	if why := out.Clusters[0].Reason; !strings.HasPrefix(why, "locked by alice pid ") || strings.Contains(why, here) {
		t.Errorf("%q", why)
	}
	r.on = nil
	unlock()
	r.applied(r.request())
	fp := r.plan(r.request())
	hold()
	if out, err := r.Apply(t.Context(), fp, r.request()); err != nil || out.Result != fleetplan.UpToDate {
		t.Errorf("nothing to do: %v, %+v", err, out)
	}
	unlock()
}
