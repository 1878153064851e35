package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An instance of a later step that goes ahead of those that wait for a value is guarded as it would have been in its turn: what it makes up is not put
// over a password that is in use, which the plan could not know.
func TestMadeAheadIsGuarded(t *testing.T) {
	t.Parallel()
	r := takers(t, `    one: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/made, path: data.uri}}}}
    two: {namespace: NS, helm: {chart: ./chart}, values: {uri: {from: {instance: db, object: v1/ConfigMap/conn, path: data.uri}}}}
    four: {namespace: NS, helm: {chart: ./makes}, values: {uri: {from: {instance: two, object: v1/ConfigMap/two, path: data.uri}}}}
`)
	r.write("makes/Chart.yaml", "apiVersion: v2\nname: makes\nversion: 1.0.0\n")
	r.write("makes/templates/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: pw}\nstringData: {p: '{{ if eq .Values.uri \"postgres://db\" }}{{ randAlphaNum 20 }}{{ else }}none{{ end }}'}\n")
	secrets := r.admin.CoreV1().Secrets(r.name)
	if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	inUse := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pw"}, Data: map[string][]byte{"p": []byte("in-use")}}
	if _, err := secrets.Create(t.Context(), inUse, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	req := r.request()
	req.Adopt, req.Timeout = true, 6*time.Second
	out, err := r.Apply(t.Context(), r.plan(req), req)
	if text := fmt.Sprintf("%+v", out.Clusters); err == nil || !strings.Contains(text, "Secret "+r.name+"/pw") || !strings.Contains(text, "not begun: four, one") {
		t.Errorf("%v %s", err, text)
	}
	if s, err := secrets.Get(t.Context(), "pw", metav1.GetOptions{}); err != nil || string(s.Data["p"]) != "in-use" {
		t.Errorf("%v: the password that was in use is %d bytes now", err, len(s.Data["p"]))
	}
}
