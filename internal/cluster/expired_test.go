package cluster_test

import (
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

const expiring = `
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: NS}
spec:
  ttlSecondsAfterFinished: 0
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: "registry.example/works:1"}]}}
`

// TestJobThatIsDoneAndGone: a Job whose time to live removes it when it has completed is done, while it is waited for and
// from then on, until it is declared otherwise; waited for or not. One that somebody deletes while it runs is missing, and
// made again.
func TestJobThatIsDoneAndGone(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	jobs := schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	gone := func(t *testing.T, ns string) {
		t.Helper()
		eventually(t, func() bool {
			_, err := others(t).Resource(jobs).Namespace(ns).Get(t.Context(), "migrate", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
	for name, wait := range map[string]bool{"waited for": true, "not waited for": false} {
		t.Run(name, func(t *testing.T) {
			ns := f.Namespace(t, one)
			b := newBundle(t)
			b.adjust = func(r *cluster.ExecuteRequest) { r.Wait = wait }
			b.apply(t, s, objs(t, ns, expiring)...)
			gone(t, ns)
			b.unchanged(t, s, objs(t, ns, expiring)...)
			states, fs := s.Health(t.Context(), b.owner(), b.owned, nil)
			if st := states[b.owned[0].Ref]; st.State != health.Ready || st.Reason != health.DoneAndGone || len(fs) > 0 {
				t.Errorf("%+v %v", st, fs)
			}
			b.adjust = nil // it is not waited for in vain
			more := objs(t, ns, expiring+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: NS}\n")
			if r := b.apply(t, s, more...); r.Done != (plan.Counts{Create: 1}) {
				t.Errorf("%+v", r.Done)
			}
			p, _ := b.plan(t, s, objs(t, ns, strings.Replace(expiring, "works:1", "works:2", 1)))
			if ch := p.Changes[len(p.Changes)-1]; ch.Action != plan.Create || ch.Ref.Kind != "Job" {
				t.Errorf("declared otherwise: %+v", p.Changes)
			}
		})
	}
	t.Run("deleted while it runs", func(t *testing.T) {
		ns := f.Namespace(t, one)
		b := newBundle(t)
		b.adjust = func(r *cluster.ExecuteRequest) { r.StalledAfter = time.Second }
		suspended := strings.Replace(expiring, "backoffLimit: 0", "backoffLimit: 0\n  parallelism: 0", 1)
		b.when(t, waitsFor("Job"), func() { // what is gone before anybody saw it unfinished may have been done
			now, background := int64(0), metav1.DeletePropagationBackground
			if err := others(t).Resource(jobs).Namespace(ns).Delete(t.Context(), "migrate", metav1.DeleteOptions{GracePeriodSeconds: &now, PropagationPolicy: &background}); err != nil {
				t.Error(err)
			}
		})
		p, bodies := b.plan(t, s, objs(t, ns, suspended))
		r := b.execute(t.Context(), s, p, bodies)
		if len(r.Problems) != 1 || r.Problems[0].Status.State != health.Missing {
			t.Fatalf("%+v", r)
		}
		p, _ = b.plan(t, s, objs(t, ns, suspended))
		if only(t, p).Action != plan.Create || only(t, p).Code != plan.CodeGone {
			t.Errorf("%+v", p.Changes)
		}
	})
	t.Run("as a hook", func(t *testing.T) {
		ns := f.Namespace(t, one)
		b := newBundle(t)
		hooked := objs(t, ns, expiring)
		hooked[0].Hook = &object.Hook{Events: []object.HookPhase{object.PostInstall}}
		b.apply(t, s, append(objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lasting, namespace: NS}\n"), hooked...)...)
		gone(t, ns)
		if !b.owned[1].Hook.Done {
			t.Errorf("%+v", b.owned)
		}
	})
}
