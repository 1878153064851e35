package engine

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A release that is taken over from Helm keeps what its chart looks up, and is refused where another password that is in use would be made anew;
// given as a value, that one stays, too.
func TestMadeValuesOfHelm(t *testing.T) {
	t.Parallel()
	r := chartRig(t, madeTemplates)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}}
	if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	helm := metav1.ObjectMeta{Name: "login", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{"meta.helm.sh/release-name": "app", "meta.helm.sh/release-namespace": r.name}}
	data := map[string][]byte{"found": []byte("of-helm-itself"), "kept": []byte("of-helm-as-well")}
	if _, err := r.admin.CoreV1().Secrets(r.name).Create(t.Context(), &corev1.Secret{ObjectMeta: helm, Data: data}, metav1.CreateOptions{FieldManager: "helm"}); err != nil {
		t.Fatal(err)
	}
	req := r.request()
	req.Adopt = true
	if fp := r.plan(req); !strings.Contains(strings.Join(codes(fp), " "), "kept-values-in-use") {
		t.Errorf("a password that is in use would be made anew: %v", fp.Findings)
	}
	r.values("text: one, kept: of-helm-as-well")
	r.applied(req)
	if found, kept, _ := r.made(); found != "of-helm-itself" || kept != "of-helm-as-well" {
		t.Errorf("found %s, kept %s", found, kept)
	}
}
