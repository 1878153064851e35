package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Namespace that holds a value which is known in a later step only is written in that one, before what stands in it, and changed when the value is
// another one: the first step, in which Namespaces are written, is over then.
func TestNamespaceWithALateValue(t *testing.T) {
	t.Parallel()
	r := takers(t, "    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}\n")
	late := r.name + "-late"
	t.Cleanup(func() { _ = r.admin.CoreV1().Namespaces().Delete(context.Background(), late, metav1.DeleteOptions{}) })
	r.write("chart/templates/late.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+late+", annotations: {uri: {{ .Values.uri | quote }}}}\n---\n"+
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inside, namespace: "+late+"}\n")
	for _, value := range []string{"postgres://db", "postgres://two"} {
		r.write("db.yaml", strings.Replace(r.read("db.yaml"), "postgres://db", value, 1))
		r.applied(r.request())
		ns, err := r.admin.CoreV1().Namespaces().Get(t.Context(), late, metav1.GetOptions{})
		if err != nil || ns.Annotations["uri"] != value {
			t.Fatalf("%q: %v %v", value, err, ns.Annotations)
		}
		if _, err := r.admin.CoreV1().ConfigMaps(late).Get(t.Context(), "inside", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if fp := r.plan(r.request()); !fp.settled() || fp.found().HasErrors() {
			t.Errorf("%q, left to do: %+v, %v", value, fp.Clusters[0].Plan.Changes, fp.found())
		}
	}
}

// A webhook configuration that another one takes the place of is deleted, also where the plan that is computed anew before a later step would have had
// it in the first one, which is over.
func TestGuardGoesWithALaterStep(t *testing.T) {
	t.Parallel()
	r := takers(t, "    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}\n")
	conn := r.read("db.yaml")
	hook := func(name string) string {
		return "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: " + r.name + name + "}\nwebhooks:\n" +
			"- {name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, failurePolicy: Ignore, clientConfig: {url: \"https://127.0.0.1:1\"},\n" +
			"   rules: [{apiGroups: [none.example.com], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]}\n"
	}
	there := func() (out []string) {
		all, err := r.admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all.Items {
			if name, ours := strings.CutPrefix(o.Name, r.name); ours {
				out = append(out, name)
			}
		}
		return out
	}
	t.Cleanup(func() {
		for _, name := range []string{"-w1", "-w2"} {
			if err := r.admin.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(context.Background(), r.name+name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		}
	})
	r.write("db.yaml", conn+hook("-w1"))
	r.applied(r.request())
	r.write("db.yaml", strings.Replace(conn, "//db", "//two", 1)+hook("-w2"))
	r.applied(r.request())
	if got := there(); !slices.Equal(got, []string{"-w2"}) {
		t.Errorf("there are %v", got)
	}
	if fp := r.plan(r.request()); !fp.settled() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
}
