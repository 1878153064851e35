package engine

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/secret"
	secretkube "hawser.dev/hawser/internal/secret/kube"
	"hawser.dev/hawser/internal/staleplan"
	"hawser.dev/hawser/internal/values"
)

// thingDefinition is the definition of Thing of GROUP.
const thingDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]
`

// both plans two bundles of the same files as one run does, the second with the plan of the first, and fails the test where
// one is refused.
func (r *rig) both(a, b Request) (first, second *Prepared, req Request) {
	r.t.Helper()
	a.Among = []string{a.Bundle, b.Bundle}
	b.Among = a.Among
	a.Wait, b.Wait = true, true
	first = r.plan(a)
	b.Before, b.Written = map[string]*Prepared{a.Bundle: first}, []*fleetplan.FleetPlan{first.FleetPlan}
	second = r.plan(b)
	for _, fp := range []*Prepared{first, second} {
		if err := fp.Findings.Err(); err != nil {
			r.t.Fatal(err)
		}
	}
	return first, second, b
}

// requires lets the second bundle of a pair require the first.
func (r *rig) requires(a, b Request) {
	r.t.Helper()
	r.write("bundle.yaml", strings.Replace(r.read("bundle.yaml"), "    name: "+b.Bundle+"\n", "    name: "+b.Bundle+"\n    requires: [{bundle: "+a.Bundle+"}]\n", 1))
}

// refers makes the second bundle of a pair one of the chart, with values that refer to Secrets of the namespace.
func (r *rig) refers(a, b *Request, given string) {
	r.t.Helper()
	r.Stores = func(spec v1alpha1.SecretStore, secrets values.Secrets) (secret.Store, error) {
		return secretkube.New(spec.Kube.Namespace, secretkube.Getter(secrets)), nil
	}
	r.write("fleet.yaml", "fleet:\n  apiVersion: v1alpha1\n  name: "+r.name+"\n  clusters: {"+here+": {group: g, kubeContext: "+here+"}}\n  secretStores: {vault: {kube: {namespace: "+r.name+"}}}\n")
	r.write("bundle.yaml", strings.Replace(r.read("bundle.yaml"), "manifests: {paths: [second.yaml]}", "helm: {chart: ./chart}\n        values: {"+given+"}", 1))
	fleet := docs(new(r.request())).FleetFiles
	docs(a).FleetFiles, docs(b).FleetFiles = fleet, fleet
	a.Access.Context, b.Access.Context = "", ""
}

// What was known only when the required bundle was done is carried out as it was shown: objects of its definitions, in its
// namespaces, in a namespace that both make, and what one hands to the other. The second plan asks for no record of the first.
func TestRenewed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := r.name + "-other"
	crd := strings.ReplaceAll(thingDefinition, "GROUP", r.name+".example") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: " + other + "}\n"
	thing := "---\napiVersion: " + r.name + ".example/v1\nkind: Thing\nmetadata: {name: one}\nspec: {size: 1}\n"
	elsewhere := strings.Replace(r.configMap("there", "a: b"), "{name: there}", "{name: there, namespace: "+other+"}", 1)
	a, b := r.pair("", crd+r.configMap("moves", "k: v"), thing+elsewhere)
	r.requires(a, b)
	first, second, req := r.both(a, b)
	if second.Requires == nil || second.Requires[0] != a.Bundle {
		t.Errorf("requires %v", second.Requires)
	}
	r.carried(first, a)
	renewed, err := r.Renew(t.Context(), second, req)
	if err != nil {
		t.Fatal(err)
	}
	r.carried(renewed, req)

	a, b = r.pair("", crd, thing+elsewhere+r.configMap("moves", "k: w"))
	r.requires(a, b)
	first, second, req = r.both(a, b)
	r.carried(first, a)
	if renewed, err = r.Renew(t.Context(), second, req); err != nil {
		t.Fatal(err)
	}
	if got := fateOf(renewed, "moves"); got != "adopt moved" {
		t.Errorf("moves: %s", got)
	}
	r.carried(renewed, req)
	first, second, _ = r.both(a, b)
	if !first.settled() || !second.settled() {
		t.Errorf("left to do: %+v %+v", first.Counts(), second.Counts())
	}
}

// A chart of a bundle takes a value of a Secret that comes with the required bundle, and asks for a kind of it: the first plan
// shows the object for that kind, and says that the value is known only then.
func TestRenewedReference(t *testing.T) {
	t.Parallel()
	kind := func(r *rig) string { return r.name + ".example/v1/Thing" }
	r := chartRig(t, "")
	r.write("chart/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: copy}\ndata: {text: {{ .Values.password | quote }}}\n---\n"+
		"{{ if .Capabilities.APIVersions.Has \""+kind(r)+"\" }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: monitor}\ndata: {k: v}\n{{ end }}\n")
	a, b := r.pair("", strings.ReplaceAll(thingDefinition, "GROUP", r.name+".example")+"---\napiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter22}\n", "")
	r.refers(&a, &b, "password: \"ref://vault:db/password\"")
	r.requires(a, b)
	first, second, req := r.both(a, b)
	if fateOf(second, "monitor") != "create new" || !slices.Contains(codes(second), values.CodeNotRead) {
		t.Errorf("monitor: %q, %v", fateOf(second, "monitor"), second.Findings)
	}
	r.carried(first, a)
	renewed, err := r.Renew(t.Context(), second, req)
	if err != nil {
		t.Fatal(err)
	}
	r.carried(renewed, req)
	cm, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "copy", metav1.GetOptions{})
	if err != nil || cm.Data["text"] != "hunter22" {
		t.Errorf("%v %v", cm.Data, err)
	}
	b.Among = nil
	if fp := r.plan(b); !fp.settled() {
		t.Errorf("left to do: %+v %v", fp.Clusters[0].Plan.Changes, fp.Findings)
	}

	// The bundle gives the Secret another value: what takes it is shown as a change, and is one in the same run.
	r.write("first.yaml", strings.Replace(r.read("first.yaml"), "hunter22", "hunter33", 1))
	first, second, req = r.both(a, b)
	if fateOf(second, "copy") != "update changed" || !slices.Contains(codes(second), values.CodeNotRead) {
		t.Errorf("copy: %q, %v", fateOf(second, "copy"), second.Findings)
	}
	r.carried(first, a)
	if renewed, err = r.Renew(t.Context(), second, req); err != nil {
		t.Fatal(err)
	}
	r.carried(renewed, req)
	if cm, err = r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "copy", metav1.GetOptions{}); err != nil || cm.Data["text"] != "hunter33" {
		t.Errorf("%v %v", cm.Data, err)
	}
}

// What is made up for a bundle when it is planned is what it gets when it is planned anew after another one, also in an object of which the rest
// is known only later.
func TestRenewedIsMadeOnce(t *testing.T) {
	t.Parallel()
	r := chartRig(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: pw}\nstringData:\n  gen: {{ .Values.gen | quote }}\n  own: {{ randAlphaNum 20 | quote }}\n  ip: {{ .Values.ip | quote }}\n"+
		"  sum: {{ .Values.gen | sha256sum }}\n")
	a, b := r.pair("", r.configMap("first", "k: v"), "apiVersion: v1\nkind: Service\nmetadata: {name: lb}\nspec: {ports: [{port: 80}]}\n")
	text := strings.Replace(r.read("bundle.yaml"), "name: "+b.Bundle+"\n    instances:\n", "name: "+b.Bundle+"\n    instances:\n      pw:\n        namespace: "+r.name+
		"\n        helm: {chart: ./chart}\n        values: {gen: {generate: {length: 12}}, ip: {from: {instance: app, object: v1/Service/lb, path: spec.clusterIP}}}\n", 1)
	r.write("bundle.yaml", text)
	r.requires(a, b)
	first, second, req := r.both(a, b)
	r.carried(first, a)
	renewed, err := r.Renew(t.Context(), second, req)
	if err != nil {
		t.Fatal(err)
	}
	r.carried(renewed, req)
	pw, err := r.admin.CoreV1().Secrets(r.name).Get(t.Context(), "pw", metav1.GetOptions{})
	if err != nil || len(pw.Data["gen"]) != 12 || len(pw.Data["own"]) != 20 || len(pw.Data["ip"]) == 0 {
		t.Errorf("%v %v", pw.Data, err)
	}
	b.Among = nil
	if fp := r.plan(b); !fp.settled() {
		t.Errorf("left to do: %+v %v", fp.Clusters[0].Plan.Changes, fp.Findings)
	}
}

// What somebody else wrote since the plans were shown is refused, on what the first bundle has nothing to do with.
func TestRenewedIsStale(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b := r.pair("", r.configMap("one", "k: v"), r.configMap("two", "k: v")+r.configMap("three", "k: v"))
	r.applied(a)
	r.applied(b)
	a, b = r.pair("", r.configMap("one", "k: w"), r.configMap("two", "k: w")+r.configMap("three", "k: v"))
	first, second, req := r.both(a, b)
	r.carried(first, a)
	three, err := r.admin.CoreV1().ConfigMaps(r.name).Get(t.Context(), "three", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	three.Data["k"] = "mine"
	if _, err := r.admin.CoreV1().ConfigMaps(r.name).Update(t.Context(), three, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = r.Renew(t.Context(), second, req)
	fs := diag.From(err, "")
	if !slices.ContainsFunc(fs, func(f diag.Finding) bool { return f.Code == staleplan.CodeStale && strings.Contains(f.Object, "three") }) || len(fs) != 1 {
		t.Errorf("%v", err)
	}
}
