package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

// guarded is a rig of a chart with a guard of the cluster and a Namespace, which are there, and as strict, where a value of another instance says so.
func guarded(t *testing.T) *rig {
	t.Helper()
	r := chartRig(t, `{{ if eq .Values.guard "on" }}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: {{ .Release.Namespace }}}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations: [{expression: "true"}]
{{ end }}
---
apiVersion: v1
kind: Namespace
metadata:
  name: {{ .Release.Namespace }}-more
  labels: {pod-security.kubernetes.io/enforce: {{ if eq .Values.guard "on" }}restricted{{ else }}privileged{{ end }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: copy}
data: {other: {{ .Values.other | quote }}}
`)
	from := func(key string) string {
		return key + ": {from: {instance: base, object: v1/ConfigMap/conn, path: data." + key + "}}"
	}
	r.values(from("guard") + ", " + from("other"))
	r.write("base.yaml", r.configMap("conn", "guard: \"on\"", "other: one"))
	r.write("bundle.yaml", r.read("bundle.yaml")+"    base: {namespace: "+r.name+", manifests: {paths: [base.yaml]}}\n")
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context()) // which is over by now
		err := r.admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Delete(ctx, r.name, metav1.DeleteOptions{})
		err2 := r.admin.CoreV1().Namespaces().Delete(ctx, r.name+"-more", metav1.DeleteOptions{})
		for _, err := range []error{err, err2} {
			if err != nil && !apierrors.IsNotFound(err) {
				t.Error(err)
			}
		}
	})
	return r
}

// guards are the policy and the Namespace of a guarded rig.
func (r *rig) guards() (*admissionv1.ValidatingAdmissionPolicy, *corev1.Namespace) {
	r.t.Helper()
	policy, err := r.admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(r.t.Context(), r.name, metav1.GetOptions{})
	ns, err2 := r.admin.CoreV1().Namespaces().Get(r.t.Context(), r.name+"-more", metav1.GetOptions{})
	if err := errors.Join(err, err2); err != nil {
		r.t.Fatal(err)
	}
	return policy, ns
}

// Of an instance whose values have not come nothing is deleted, and none of its Namespaces or definitions is changed, by what stands in for the values:
// where the values that a chart decides by stay as they are, so does what it makes.
func TestNothingOfALateInstanceIsDoneBefore(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	if _, err := r.apply(r.request()); err == nil { // nobody knows before that there is a policy
		t.Fatal("what was not shown was done")
	}
	r.applied(r.request())
	policy, ns := r.guards()

	r.write("base.yaml", r.configMap("conn", "guard: \"on\"", "other: two"))
	r.applied(r.request())
	again, more := r.guards()
	if policy.UID != again.UID || policy.ResourceVersion != again.ResourceVersion {
		t.Error("the policy was deleted and made again, or written")
	}
	if ns.ResourceVersion != more.ResourceVersion {
		t.Errorf("the Namespace was written: %v", more.Labels)
	}
	if cm := r.configMaps(); !strings.Contains(cm, "copy") {
		t.Error(cm)
	}
	if fp := r.plan(r.request()); !fp.settled() {
		t.Errorf("left to do: %+v", fp.Clusters[0].Plan.Changes)
	}
}

// Of a bundle that is delivered, too, a plan warns that values which have not come decide about more than it shows, once: its instances are rendered
// with what stands in for the values only after it was seen that they will change.
func TestPlanOfADeliveredBundleWarnsOfWhatValuesDecide(t *testing.T) {
	t.Parallel()
	r := guarded(t)
	r.write("base.yaml", r.configMap("conn", "guard: \"off\"", "other: one"))
	r.applied(r.request())
	r.write("base.yaml", r.configMap("conn", "guard: \"on\"", "other: two"))
	warned := 0
	for _, f := range r.plan(r.request()).Findings {
		if f.Code == bind.CodeDecides && f.Severity == diag.Warning && strings.Contains(f.What, r.name) {
			warned++
		}
	}
	if warned != 1 {
		t.Errorf("warned %d times of the policy that comes with the value", warned)
	}
}

// What stood in for values that had not come is kept nowhere: hooks of a removal run with the values that were carried out last, and where an instance
// never began, they do not run.
func TestStandInsAreNotKept(t *testing.T) {
	t.Parallel()
	const chart = `{{ if eq .Values.uri "v1" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: more}
{{ end }}
---
apiVersion: batch/v1
kind: Job
metadata: {name: bye, annotations: {helm.sh/hook: pre-delete}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "img:{{ .Values.uri }}", args: [{{ .Values.uri | quote }}]}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: copy}
data: {uri: {{ .Values.uri | quote }}}
`
	for name, c := range map[string]struct {
		first string // what is delivered before; "" for nothing
		want  string // what the removal's hook has; "" for none
	}{"delivered before": {"v0", "v0"}, "never begun": {"", ""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := chartRig(t, chart)
			r.values("uri: {from: {instance: base, object: v1/ConfigMap/conn, path: data.uri}}")
			r.write("bundle.yaml", r.read("bundle.yaml")+"    base: {namespace: "+r.name+", manifests: {paths: [base.yaml]}}\n")
			if c.first != "" {
				r.write("base.yaml", r.configMap("conn", "uri: "+c.first))
				r.applied(r.request())
			}
			r.write("base.yaml", r.configMap("conn", "uri: v1"))
			if out, err := r.apply(r.request()); err == nil {
				t.Fatalf("a chart that goes another way was not refused: %+v", out)
			}
			fp := r.plan(r.request())
			w := fp.work(fp.Clusters[0].Cluster)
			objects, err := w.target.Store.Objects(t.Context(), *w.target.Record)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, o := range objects {
				if strings.Contains(string(text(t, o)), "known after") {
					t.Errorf("%s is kept with what stood in for values", o.Ref())
				}
				if o.Ref().Name == "bye" {
					_, got, _ = strings.Cut(string(text(t, o)), `"args":["`)
					got, _, _ = strings.Cut(got, `"`)
				}
			}
			if got != c.want {
				t.Errorf("the hook has %q, want %q", got, c.want)
			}
			if hooks := w.target.Record.Hooks["app"].Hooks; (len(hooks) > 0) != (c.want != "") {
				t.Errorf("hooks of the removal: %v", hooks)
			}
		})
	}
}

// text is an object as JSON.
func text(t *testing.T, o object.Object) []byte {
	t.Helper()
	data, err := o.Unstructured().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What a bundle declares no longer is not deleted where another one of the same files will have it, if its values come as they are declared: also
// though that is not known yet.
func TestObjectGoesOverToALateInstance(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "{{ if eq .Values.uri \"gold\" }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: precious}\ndata: {k: v}\n{{ end }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy}\ndata: {uri: {{ .Values.uri | quote }}}\n")
	a, b := r.pair("", r.configMap("precious", "k: v")+r.configMap("stays", "k: v"), r.configMap("conn", "uri: gold"))
	text := r.read("bundle.yaml")
	r.write("bundle.yaml", text[:strings.Index(text, "  "+b.Bundle+":")])
	r.applied(a)
	precious, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "precious", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}

	r.write("bundle.yaml", text+"      web:\n        namespace: "+r.name+"\n        helm: {chart: ./chart}\n        values: {uri: {from: {instance: app, object: v1/ConfigMap/conn, path: data.uri}}}\n")
	r.write("first.yaml", r.configMap("stays", "k: v"))
	if fate := fateOf(r.plan(a), "precious"); fate != "release moved" {
		t.Errorf("the plan does with it: %q", fate)
	}
	r.carried(r.plan(a), a)
	for range 2 { // nobody sees it before the values are there
		if _, err = r.apply(b); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	r.heldBy("precious", string(precious.UID), b.Bundle)
}
