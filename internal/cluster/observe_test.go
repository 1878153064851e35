package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
)

const twoKinds = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: NS}
data: {x: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: NS}
data: {x: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: NS}
stringData: {password: hunter2hunter2}
`

func TestObserveUnchangedCostsOneListPerKind(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, twoKinds)...)
	from := f.AuditOffset(t, one)
	b.unchanged(t, s, objs(t, ns, twoKinds)...)
	got := mine(f.Audit(t, one, from))
	if len(got) != 2 {
		t.Errorf("%d requests, want one LIST per kind:%s", len(got), lines(got))
	}
	for _, e := range got {
		if e.Verb != "list" || e.Namespace != "" || !strings.Contains(e.Query, "labelSelector=hawser.dev%2Fowner") {
			t.Errorf("not a labelled LIST of the whole cluster: %s", lines([]testfleet.AuditEntry{e}))
		}
	}
}

func TestFirstApplyBudget(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	var text []string
	for i := range 10 {
		text = append(text, fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%d, namespace: NS}", i))
	}
	text = append(text, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: sa, namespace: NS}")
	b := newBundle(t)
	from := f.AuditOffset(t, one)
	b.apply(t, s, objs(t, ns, strings.Join(text, "\n---\n"))...)
	count := map[string]int{}
	for _, e := range mine(f.Audit(t, one, from)) {
		count[e.Verb+" "+e.Resource]++
	}
	want := map[string]int{"get namespaces": 1, "list configmaps": 1, "get serviceaccounts": 1, "patch configmaps": 10, "patch serviceaccounts": 1}
	if fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("requests %v, want %v: one LIST for ten unknown names, one GET for one", count, want)
	}
}

func TestNothingIsLookedForInAMissingNamespace(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t)
	b := newBundle(t)
	from := f.AuditOffset(t, one)
	p, _ := b.plan(t, s, objs(t, ns, twoKinds))
	if !hasFinding(p.Findings, "missing-namespace") {
		t.Errorf("findings: %v", p.Findings)
	}
	if got := mine(f.Audit(t, one, from)); len(got) != 1 || got[0].Resource != "namespaces" {
		t.Errorf("requests:%s", lines(got))
	}
}

func TestWhoElseOwnsAnObject(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	cm := func(name, rest string) object.Object {
		return objs(t, ns, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: NS"+rest+"}\ndata: {x: theirs}")[0]
	}
	foreignApply(t, "helm", "configmaps", false, cm("helm", ", annotations: {meta.helm.sh/release-name: api, meta.helm.sh/release-namespace: shop}"))
	foreignApply(t, "kustomize-controller", "configmaps", false, cm("flux", ", labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}"))
	foreignApply(t, "argocd-controller", "configmaps", false, cm("argo", `, annotations: {argocd.argoproj.io/tracking-id: "shop:/ConfigMap:x/argo"}`))
	foreignApply(t, "timoni", "configmaps", false, cm("timoni", ", labels: {app.kubernetes.io/name: web}"))
	foreignApply(t, "kubectl", "configmaps", false, cm("kubectl", ""))
	foreignApply(t, "my-operator", "configmaps", false, cm("other", ""))
	eventually(t, func() bool { // a controller puts it into every new namespace
		_, err := others(t).Resource(configMaps).Namespace(ns).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil
	})
	other := newBundle(t)
	other.name += "-other"
	other.apply(t, s, cm("hawser", ""))
	for _, c := range []struct {
		name, owner        string
		reconciled, bundle bool
	}{
		{"helm", "Helm release shop/api", false, false},
		{"flux", "Flux Kustomization flux-system/apps", true, false},
		{"argo", "Argo CD application shop", true, false},
		{"timoni", "Timoni instance web", false, false},
		{"kubectl", "kubectl", false, false},
		{"other", "my-operator", false, false},
		{"hawser", "Hawser bundle " + other.name, false, true},
		{"kube-root-ca.crt", "kube-controller-manager", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBundle(t)
			p, _ := b.plan(t, s, []object.Object{cm(c.name, "")})
			ch := only(t, p)
			live := b.obs.Live[ch.Ref]
			if ch.Action != plan.Conflict || live.Foreign != c.owner || live.Reconciled != c.reconciled || live.ForeignBundle != c.bundle {
				t.Errorf("%s, owner %q, reconciled %v, bundle %v", ch.Action, live.Foreign, live.Reconciled, live.ForeignBundle)
			}
		})
	}
}

func TestUnchangedByFingerprint(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	text := twoKinds + `
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: NS}
value: 10
description: ours
`
	b := newBundle(t)
	all := objs(t, ns, text)
	b.apply(t, s, all...)
	t.Cleanup(func() { b.delete(t, s) })
	priority := schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"}

	t.Run("foreign metadata moves resourceVersion and nothing of ours", func(t *testing.T) {
		patch(t, "someone", configMaps, ns, "a", `{"metadata":{"annotations":{"theirs":"1"},"labels":{"theirs":"1"}}}`)
		b.unchanged(t, s, all...)
	})
	t.Run("a value of ours in a kind whose generation never moves", func(t *testing.T) {
		patch(t, "kubectl-edit", priority, "", ns, `{"description":"theirs"}`)
		p, bodies := b.plan(t, s, all)
		ch := only(t, p)
		if ch.Code != plan.CodeDrift || !ch.Force {
			t.Fatalf("%+v", ch)
		}
		if len(ch.Fields) != 1 || ch.Fields[0].Path != "description" || ch.Fields[0].Old != `"theirs"` || ch.Fields[0].Manager != "kubectl-edit" || ch.Fields[0].Since == "" {
			t.Errorf("fields: %+v", ch.Fields)
		}
		mustOK(t, b.execute(t.Context(), s, p, bodies))
		if d, _, _ := unstructured.NestedString(get(t, priority, "", ns).Object, "description"); d != "ours" {
			t.Errorf("description %q", d)
		}
		b.unchanged(t, s, all...)
	})
	t.Run("a label of ours", func(t *testing.T) {
		patch(t, "someone", configMaps, ns, "a", `{"metadata":{"labels":{"hawser.dev/owner":null}}}`)
		p, bodies := b.plan(t, s, all)
		if ch := only(t, p); ch.Action != plan.Update || ch.Code != plan.CodeDrift {
			t.Fatalf("an object whose label was removed: %+v", ch)
		}
		mustOK(t, b.execute(t.Context(), s, p, bodies))
		b.unchanged(t, s, all...)
	})
	t.Run("a foreign stringData write over our data", func(t *testing.T) {
		patch(t, "someone", secrets, ns, "s", `{"stringData":{"password":"theirs"}}`)
		p, bodies := b.plan(t, s, all)
		ch := only(t, p)
		if ch.Code != plan.CodeDrift || len(ch.Fields) != 1 || !ch.Fields[0].Hidden || ch.Fields[0].Old+ch.Fields[0].New != "" {
			t.Fatalf("%+v", ch)
		}
		mustOK(t, b.execute(t.Context(), s, p, bodies))
		b.unchanged(t, s, all...)
	})
	t.Run("managed fields stripped", func(t *testing.T) {
		patch(t, "someone", configMaps, ns, "b", `{"metadata":{"managedFields":[{}]}}`)
		p, bodies := b.plan(t, s, all)
		if ch := only(t, p); ch.Code != plan.CodeManagedGone || ch.Action != plan.Update {
			t.Fatalf("%+v", ch)
		}
		mustOK(t, b.execute(t.Context(), s, p, bodies))
		b.unchanged(t, s, all...)
	})
	t.Run("deleted by somebody", func(t *testing.T) {
		if err := others(t).Resource(configMaps).Namespace(ns).Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		p, bodies := b.plan(t, s, all)
		if ch := only(t, p); ch.Action != plan.Create || ch.Code != plan.CodeGone {
			t.Fatalf("%+v", ch)
		}
		mustOK(t, b.execute(t.Context(), s, p, bodies))
		b.unchanged(t, s, all...)
	})
}

const crontabs = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.NS.example.com}
spec:
  group: NS.example.com
  scope: Namespaced
  names: {plural: crontabs, singular: crontab, kind: CronTab}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              schedule: {type: string}
              extra: {type: string}
`

const crontab = `
---
apiVersion: NS.example.com/v1
kind: CronTab
metadata: {name: one, namespace: NS}
spec: {schedule: daily}
`

func TestSchemaKeyOfACustomResource(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	all := objs(t, ns, crontabs+crontab)
	b := newBundle(t)
	b.apply(t, s, all...) // CRD and its object in one set
	t.Cleanup(func() { b.delete(t, s) })

	from := f.AuditOffset(t, one)
	b.unchanged(t, s, all...)
	got := slices.DeleteFunc(mine(f.Audit(t, one, from)), func(e testfleet.AuditEntry) bool { return e.Verb == "watch" }) // of the apply before
	if len(got) != 3 {
		t.Errorf("%d requests, want a LIST of each kind and one of the CRDs:%s", len(got), lines(got))
	}
	// a new default reaches live objects without moving anything of theirs: the schema key notices
	crd := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	rewrite(t, "someone", crd, "", "crontabs."+ns+".example.com", func(live map[string]any) {
		versions, _, _ := unstructured.NestedSlice(live, "spec", "versions")
		_ = unstructured.SetNestedField(versions[0].(map[string]any), "D1", "schema", "openAPIV3Schema", "properties", "spec", "properties", "extra", "default")
		_ = unstructured.SetNestedSlice(live, versions, "spec", "versions")
	})
	obs, _ := s.Observe(t.Context(), cluster.ObserveRequest{Owner: b.owner(), Inventory: b.owned})
	for _, o := range b.owned {
		if o.Ref.Kind == "CronTab" && obs.Schema[plan.SchemaKey(o.Ref)] == o.Schema {
			t.Error("the schema key did not move")
		}
	}
}

func TestDroppedCRDWithForeignObjects(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, crontabs)...)
	t.Cleanup(func() { b.delete(t, s) })
	foreignApply(t, "someone", "crontabs", false, objs(t, ns, strings.TrimPrefix(crontab, "\n---\n"))[0])
	discovered(t, ns+".example.com", "CronTab", true)
	p, _ := b.plan(t, connect(t), nil)
	if !hasFinding(p.Findings, "crd-in-use") {
		t.Errorf("findings: %v", p.Findings)
	}
	if err := others(t).Resource(schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: "crontabs"}).Namespace(ns).
		Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
