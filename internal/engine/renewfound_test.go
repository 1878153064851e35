package engine

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/render"
)

// What a chart finds in a Secret of the cluster, which is taken over, is known: that a reference of the instance is known only when another bundle is done
// does not open it. What nobody has yet is told as known later. It is what it was when the bundle is done, and in the run after that.
func TestRenewedReferenceBesideWhatIsFound(t *testing.T) {
	t.Parallel()
	r := chartRig(t, `{{- $s := lookup "v1" "Secret" .Release.Namespace "login" -}}
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData:
  {{ if $s }}found: {{ $s.data.found | b64dec | quote }}{{ else }}found: {{ randAlphaNum 12 | quote }}{{ end }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: copy}
data: {text: {{ .Values.v | quote }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: token}
data: {token: {{ uuidv4 }}}
`)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}}
	if _, err := r.admin.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := r.admin.CoreV1().Secrets(r.name).Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "login"},
		Data: map[string][]byte{"found": []byte("of-helm-itself")}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.pair("", "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {v: hunter22}\n", "")
	r.refers(&a, &b, `v: "ref://vault:db/v"`)
	r.requires(a, b)
	a.Adopt, b.Adopt = true, true
	first, second, req := r.both(a, b)
	for _, ch := range second.Clusters[0].Plan.Changes {
		if late := len(ch.After) > 0; late != (ch.Ref.Name == "copy" || ch.Ref.Name == "token") {
			t.Errorf("%s after %q: %v", ch.Ref, ch.After, ch.Late.Object.Unknown)
		}
	}
	if i := slices.IndexFunc(second.Findings, func(f diag.Finding) bool { return f.Code == render.CodePlaceholder }); i < 0 || strings.Contains(second.Findings[i].String(), "randAlphaNum") {
		t.Errorf("%v", second.Findings)
	}
	r.carried(first, a)
	renewed, err := r.Renew(t.Context(), second, req)
	if err != nil {
		t.Fatal(err)
	}
	r.carried(renewed, req)
	s, err := r.admin.CoreV1().Secrets(r.name).Get(t.Context(), "login", metav1.GetOptions{})
	if err != nil || string(s.Data["found"]) != "of-helm-itself" {
		t.Errorf("%v %q", err, s.Data)
	}
	b.Among, b.Adopt = nil, false
	if fp := r.plan(b); !fp.settled() {
		t.Errorf("left to do: %+v %v", fp.Clusters[0].Plan.Changes, fp.Findings)
	}
}

// A value of another instance and one of a Secret that the bundle before writes go to one instance: what the Secret gives is read when the other
// instance's value comes, too, and nothing stands in for it any more.
func TestRenewedReferenceBesideALateValue(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy}\ndata: {text: {{ .Values.password | quote }}, flag: {{ .Values.flag | quote }}}\n")
	a, b := r.pair("", "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter22}\n", "")
	r.write("third.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cfg}\ndata: {flag: one}\n")
	r.refers(&a, &b, `password: "ref://vault:db/password", flag: {from: {instance: cfg, object: v1/ConfigMap/cfg, path: data.flag}}`)
	r.write("bundle.yaml", r.read("bundle.yaml")+"      cfg:\n        namespace: "+r.name+"\n        manifests: {paths: [third.yaml]}\n")
	r.requires(a, b)
	for _, c := range []struct{ password, flag string }{{"hunter22", "one"}, {"hunter33", "one"}, {"hunter33", "two"}, {"hunter44", "three"}} {
		r.write("first.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: "+c.password+"}\n")
		r.write("third.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cfg}\ndata: {flag: "+c.flag+"}\n")
		first, second, req := r.both(a, b)
		r.carried(first, a)
		renewed, err := r.Renew(t.Context(), second, req)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		r.carried(renewed, req)
		cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "copy", metav1.GetOptions{})
		if err != nil || cm.Data["text"] != c.password || cm.Data["flag"] != c.flag {
			t.Errorf("%+v: %v %v", c, cm.Data, err)
		}
	}
}
