package engine

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/plan"
)

// helmed makes a ConfigMap as Helm does: with its marks of a release, or as an object of a hook, which has none of these.
func (r *rig) helmed(name string, annotations map[string]string) *corev1.ConfigMap {
	r.t.Helper()
	cm, err := r.admin.CoreV1().ConfigMaps(r.name).Create(r.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name,
		Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"}, Annotations: annotations}}, metav1.CreateOptions{FieldManager: "helm"})
	if err != nil {
		r.t.Fatal(err)
	}
	return cm
}

// TestAdoptHooks: a release that Helm installed is taken over with what its hooks left: their objects are replaced when ours
// run. Without --adopt, and where the object is no hook's, the plan is refused.
func TestAdoptHooks(t *testing.T) {
	t.Parallel()
	r := chartRig(t, hooked())
	if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	r.helmed("web", map[string]string{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": r.name})
	left := r.helmed("both", map[string]string{"helm.sh/hook": "pre-install,pre-upgrade"})
	req := r.houses("1", map[string]string{"a": "web"}, "a")[0]
	if fp := r.plan(req); !fp.Findings.HasErrors() || !strings.Contains(fp.Findings.Err().Error(), "--adopt") {
		t.Errorf("without --adopt: %v", fp.Findings)
	}
	req.Adopt = true
	fp := r.plan(req)
	i := slices.IndexFunc(fp.Clusters[0].Plan.Changes, func(ch plan.Change) bool { return ch.Ref.Name == "both" })
	if i < 0 {
		t.Fatalf("%v", fp.Findings)
	}
	if ch := fp.Clusters[0].Plan.Changes[i]; ch.Action != plan.Recreate || ch.UID != string(left.UID) || !strings.Contains(ch.Why, "that Helm left") {
		t.Errorf("the plan says %+v", ch)
	}
	r.carried(fp, req)
	now := r.get("both")
	if now.UID == left.UID || now.Labels["hawser.dev/bundle"] != r.name+"-a" {
		t.Errorf("Helm's is there: %+v", now.ObjectMeta)
	}
	r.heldBy("web", string(r.get("web").UID), r.name+"-a")
	req.Adopt = false
	if fp := r.plan(req); len(ran(fp)) > 0 || fp.Counts().Writes() != 0 {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
	req = r.houses("2", map[string]string{"a": "web"}, "a")[0]
	if fp = r.plan(req); !slices.Equal(ran(fp), []string{"both pre-upgrade"}) || fp.Findings.HasErrors() {
		t.Errorf("the next upgrade: %v, %v", ran(fp), fp.Findings)
	}
}
