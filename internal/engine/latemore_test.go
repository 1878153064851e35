package engine

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
)

// pastedChart pastes a text into rights, and into what runs.
const pastedChart = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: late}
rules:
- apiGroups: [""]
  resources: [{{ .Values.resource }}]
  verbs: [get]
---
apiVersion: v1
kind: PodTemplate
metadata: {name: late, annotations: {checksum/values: {{ .Values | toJson | sha256sum }}}}
template:
  spec:
    containers:
    - name: app
      image: {{ .Values.image }}
---
apiVersion: v1
kind: Secret
metadata: {name: late}
stringData: {image: "{{ .Values.image | sha256sum }}"}
`

// pasted is a chart that pastes a text into rights, what runs, and beside digests; the text is somebody else's, and not there yet.
func pasted(t *testing.T) *rig {
	r := chartRig(t, pastedChart)
	from := func(key string) string {
		return "{from: {instance: m, object: v1/ConfigMap/made, path: data." + key + "}}"
	}
	r.write("m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: b}\n")
	r.write("bundle.yaml", "bundle:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  instances:\n    m: {namespace: "+r.name+", manifests: {paths: [m.yaml]}}\n"+
		"    app:\n      namespace: "+r.name+"\n      helm: {chart: ./chart}\n      values: {resource: "+from("resource")+", image: "+from("image")+"}\n")
	return r
}

// What a value brings along beyond what the plan showed is refused, and nothing of the instance is written: rules, what runs, how it runs. The
// next plan shows it, as the value is known then. A value that is none but that is taken in the same run, and digests of it with it.
func TestLateValuesGrantNoMoreThanWasShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ resource, image, field string }{
		"rights":    {"pods]\n  verbs: [get]\n- apiGroups: [\"*\"]\n  resources: [\"*\"]\n  verbs: [\"*\"]\n- apiGroups: [\"\"]\n  resources: [pods", "nginx", "rules"},
		"a list":    {"pods, secrets", "nginx", "rules[0].resources"},
		"what runs": {"pods", "nginx\n      securityContext: {privileged: true}\n    hostNetwork: true", "template.spec.containers[0].securityContext, template.spec.hostNetwork"},
		"none":      {"pods", "nginx", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := pasted(t)
			o := r.begin()
			if until(t, o, "app takes its data") == nil {
				t.Fatal("it does not wait")
			}
			r.make(map[string]string{"resource": c.resource, "image": c.image})
			until(t, o, "nothing")
			out, err := o.End()
			role, notThere := r.admin.RbacV1().Roles(r.name).Get(t.Context(), "late", metav1.GetOptions{})
			if c.field == "" {
				if err != nil || notThere != nil || role.Rules[0].Resources[0] != c.resource {
					t.Fatalf("%v, %v: %+v", err, notThere, out)
				}
				return
			}
			if told := fmt.Sprintf("%+v", out.Clusters); err == nil || out.Clusters[0].Result != fleetplan.Failed || !strings.Contains(told, "the plan is stale") || !strings.Contains(told, c.field) {
				t.Errorf("%v: %s", err, told)
			}
			_, noSecret := r.admin.CoreV1().Secrets(r.name).Get(t.Context(), "late", metav1.GetOptions{})
			if !apierrors.IsNotFound(notThere) || !apierrors.IsNotFound(noSecret) {
				t.Errorf("something of it was written: %v, %v", notThere, noSecret)
			}
			req := r.request()
			req.ShowContent = true
			if fp := r.plan(req); len(fp.Clusters[0].Late) > 0 {
				t.Errorf("the next plan does not know the values: %v", fp.Clusters[0].Late)
			}
		})
	}
}

// A saved plan that is carried out again, whose values came meanwhile, does what it showed: what was refused is refused again, and what nobody has
// compared yet, as the run before ended while it waited, is compared then. The record has what was shown until it is.
func TestSavedPlanTakesLateValues(t *testing.T) {
	t.Parallel()
	evil := map[string]string{"resource": "pods]\n  verbs: [get]\n- apiGroups: [\"*\"]\n  resources: [\"*\"]\n  verbs: [\"*\"]\n- apiGroups: [\"\"]\n  resources: [pods", "image": "nginx"}
	good := map[string]string{"resource": "pods", "image": "nginx"}
	for name, c := range map[string]struct {
		first, then map[string]string // what comes while the first run waits, nil for nothing before its end, and before the second
		refused     bool
	}{
		"refused":                 {evil, nil, true},
		"comes later":             {nil, good, false},
		"comes later and is more": {nil, evil, true},
		"refused and then not":    {evil, good, false},
		"written and then more":   {good, evil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := pasted(t)
			text := r.save(r.plan(r.request()))
			carry := func(came map[string]string) (*fleetplan.Outcome, error) {
				fp, err := r.loadSaved(text)
				if err != nil {
					return nil, err
				}
				req, stop := r.request(), make(chan struct{})
				req.Stop = stop
				o, err := r.Begin(t.Context(), fp, req)
				if err != nil || len(o.Blocked) > 0 {
					t.Fatal(err, o.Blocked)
				}
				if until(t, o, "app takes its data") != nil {
					if came == nil {
						close(stop)
					} else {
						r.make(came)
					}
					until(t, o, "nothing")
				}
				return o.End()
			}
			digest := func() string { return r.record().Inputs["app"] }
			_, err := carry(c.first)
			was := digest()
			if ended := err == nil; ended != (c.first["resource"] == "pods") {
				t.Fatal(err)
			}
			if c.first == nil || c.then != nil && c.refused {
				_ = r.admin.CoreV1().ConfigMaps(r.name).Delete(t.Context(), "made", metav1.DeleteOptions{})
			}
			if c.then != nil {
				_ = r.admin.CoreV1().ConfigMaps(r.name).Delete(t.Context(), "made", metav1.DeleteOptions{})
				r.make(c.then)
			}
			for range 2 {
				out, err := carry(nil)
				if c.first["resource"] == "pods" { // it is done, and stays so whatever comes
					c.refused = false
				}
				if (err != nil) != c.refused {
					t.Fatalf("%v: %+v", err, out)
				}
				if c.refused && (digest() != was || !strings.Contains(fmt.Sprintf("%+v", out.Clusters), "rules")) {
					t.Errorf("the record does not have what was shown any more, or it is not said: %+v", out)
				}
			}
			role, err := r.admin.RbacV1().Roles(r.name).Get(t.Context(), "late", metav1.GetOptions{})
			if c.refused && !apierrors.IsNotFound(err) || !c.refused && (err != nil || len(role.Rules) != 1) {
				t.Errorf("%v: %+v", err, role)
			}
		})
	}
}

// A saved plan with several values of one instance goes on while some of them have not come yet, however its run ended: what has come is not known
// before all of it is, in that plan and in one that is made meanwhile. Where all is known and unchanged nothing is rendered.
func TestSavedPlanWithSeveralLateValues(t *testing.T) {
	t.Parallel()
	for name, stops := range map[string]bool{"stopped": true, "out of time": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := chartRig(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, annotations: {sum: {{ .Values.ip | sha256sum | quote }}}}\n"+
				"data: {ip: {{ .Values.ip | quote }}, port: {{ .Values.port | quote }}, token: {{ .Values.token | quote }}, own: {{ .Values.own | quote }}}\n")
			r.write("svc.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {ports: [{port: 80}]}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: creds}\n")
			r.write("own.txt", "here")
			r.values("own: {from: {file: own.txt}}, ip: {from: {instance: svc, object: v1/Service/db, path: spec.clusterIP}}, " +
				"port: {from: {instance: svc, object: v1/Service/db, path: 'spec.ports[0].port', preview: 8080}}, token: {from: {instance: svc, object: v1/Secret/creds, path: data.token}}")
			r.write("bundle.yaml", r.read("bundle.yaml")+"    svc: {namespace: "+r.name+", manifests: {paths: [svc.yaml]}}\n")
			text := r.save(r.plan(r.request()))
			carry := func(comes bool) error {
				fp, err := r.loadSaved(text)
				if err != nil {
					t.Fatal(err)
				}
				req, stop := r.request(), make(chan struct{})
				if req.Stop = stop; !comes && !stops {
					req.Timeout = 2 * time.Second
				}
				o, err := r.Begin(t.Context(), fp, req)
				if err != nil || len(o.Blocked) > 0 {
					t.Fatal(err, o.Blocked)
				}
				if until(t, o, "app takes its data.token") == nil {
					t.Fatal("it does not wait")
				}
				if comes {
					if _, err := r.admin.CoreV1().Secrets(r.name).Patch(t.Context(), "creds", types.MergePatchType, []byte(`{"data": {"token": "dDE="}}`), metav1.PatchOptions{}); err != nil {
						t.Fatal(err)
					}
				} else if stops {
					close(stop)
				}
				_, err = ended(t, o)
				return err
			}
			for range 2 {
				if carry(false) == nil {
					t.Fatal("it is done though a value has not come")
				}
				req := r.request()
				req.ShowContent = true
				changes := r.plan(req).Clusters[0].Plan.Changes
				i := slices.IndexFunc(changes, func(ch plan.Change) bool { return ch.Ref.Name == "web" })
				if i < 0 {
					t.Fatalf("%+v", changes)
				}
				data, _, _ := unstructured.NestedStringMap(changes[i].Content, "data")
				sum, _, _ := unstructured.NestedString(changes[i].Content, "metadata", "annotations", "sum")
				if data["ip"] != "known after svc" || data["token"] != "known after svc" || data["port"] != "known after svc (preview 8080)" || sum != "known after svc" || data["own"] != "here" {
					t.Errorf("%v, %s", data, sum)
				}
			}
			if err := carry(true); err != nil {
				t.Fatal(err)
			}
			web, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "web", metav1.GetOptions{})
			if err != nil || net.ParseIP(web.Data["ip"]) == nil || web.Data["port"] != "80" || web.Data["token"] != "t1" || web.Data["own"] != "here" {
				t.Errorf("%v: %v", err, web.Data)
			}
			if fp := r.plan(r.request()); !fp.settled() || fp.Stats.Renders != 0 {
				t.Errorf("unchanged: %+v after %d renders", fp.Counts(), fp.Stats.Renders)
			}
		})
	}
}
