package cluster_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/testfleet"
	"hawser.dev/hawser/internal/testserver"
)

// TestContentsOfANamespace: everything in it is found, kind by kind, with who manages it; who may not list all kinds is
// told what was not seen.
func TestContentsOfANamespace(t *testing.T) {
	ns := testfleet.Get().Namespace(t, one) + "-own"
	docs := objs(t, ns, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NS}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: NS}\ndata: {v: x}\n"+
		"---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: deny, namespace: NS}\nspec: {podSelector: {}}\n")
	b, s := newBundle(t), connect(t)
	b.adjust = func(req *cluster.ExecuteRequest) { req.Wait = false }
	b.apply(t, s, docs[0])
	t.Cleanup(func() { b.delete(t, s) })
	foreignApply(t, "somebody", "configmaps", false, docs[1])
	foreignApply(t, "kubectl", "networkpolicies", false, docs[2])

	holder := object.Ref{Kind: "Namespace", Name: ns}
	got := s.Contents(t.Context(), b.owner(), []object.Ref{holder})[holder]
	if len(got.Unseen) > 0 {
		t.Errorf("not seen: %v", got.Unseen)
	}
	by := map[string]string{}
	for _, c := range got.Items {
		by[c.Ref.Kind+"/"+c.Ref.Name] = c.By
	}
	if by["ConfigMap/a"] != "somebody" || by["NetworkPolicy/deny"] != "kubectl" {
		t.Errorf("found %v", by)
	}
	p, _ := b.plan(t, s, nil)
	found := p.Findings.Errors()
	if len(found) != 1 || found[0].Code != "namespace-in-use" || !strings.Contains(found[0].Why, "1 ConfigMap of somebody: a; 1 NetworkPolicy of kubectl: deny") {
		t.Errorf("findings: %v", found)
	}

	narrow := asUser(t, "contents-"+ns).Contents(t.Context(), b.owner(), []object.Ref{holder})[holder]
	if !slices.ContainsFunc(narrow.Unseen, func(s string) bool { return strings.HasPrefix(s, "secrets cannot be listed") }) {
		t.Errorf("what may not be listed is taken for nothing: %v", narrow.Unseen)
	}
	for gvr, name := range map[schema.GroupVersionResource]string{{Version: "v1", Resource: "configmaps"}: "a",
		{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}: "deny"} {
		if err := others(t).Resource(gvr).Namespace(ns).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if p, _ := b.plan(t, s, nil); p.Findings.HasErrors() {
		t.Errorf("an empty namespace is refused: %v", p.Findings)
	}
}

// TestDefinitionThatIsNotServed: objects of a kind that no version serves are in no list and not in discovery; the
// definition that keeps them is in use all the same.
func TestDefinitionThatIsNotServed(t *testing.T) {
	f, s := testfleet.Get(), connect(t)
	ns := f.Namespace(t, one)
	b := newBundle(t)
	b.apply(t, s, objs(t, ns, crontabs)...)
	t.Cleanup(func() { b.delete(t, s) })
	foreignApply(t, "someone", "crontabs", false, objs(t, ns, strings.TrimPrefix(crontab, "\n---\n"))[0])
	crd := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	serve := func(served bool) {
		t.Helper()
		rewrite(t, "someone", crd, "", "crontabs."+ns+".example.com", func(live map[string]any) {
			versions, _, _ := unstructured.NestedSlice(live, "spec", "versions")
			versions[0].(map[string]any)["served"] = served
			_ = unstructured.SetNestedSlice(live, versions, "spec", "versions")
		})
	}
	serve(false)
	discovered(t, ns+".example.com", "CronTab", false)
	holder := object.Ref{Group: crd.Group, Kind: "CustomResourceDefinition", Name: "crontabs." + ns + ".example.com"}
	got := connect(t).Contents(t.Context(), b.owner(), []object.Ref{holder})[holder]
	if len(got.Unseen) == 0 || !strings.Contains(got.Unseen[0], "serves no version of CronTab") {
		t.Errorf("a kind that is not served is taken for one without objects: %+v", got)
	}
	serve(true)
	if err := others(t).Resource(schema.GroupVersionResource{Group: ns + ".example.com", Version: "v1", Resource: "crontabs"}).Namespace(ns).
		Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Logf("cleaning up: %v", err) // served again a moment later
	}
}

// TestNamespaceGoesWithItsDefinition: a kind whose definition the same run deleted a moment ago is in discovery still, and
// has nothing in the Namespace that could be lost.
func TestNamespaceGoesWithItsDefinition(t *testing.T) {
	ns := testfleet.Get().Namespace(t, one) + "-whole"
	b, s := newBundle(t), connect(t)
	b.apply(t, s, objs(t, ns, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NS}\n---"+crontabs+crontab)...)
	p, bodies := b.plan(t, s, nil)
	mustOK(t, b.execute(t.Context(), s, p, bodies))
}

// TestContentsRightBeforeTheDeletion: what comes into a Namespace after the last look stops its deletion.
func TestContentsRightBeforeTheDeletion(t *testing.T) {
	ns := testfleet.Get().Namespace(t, one) + "-late"
	docs := objs(t, ns, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NS}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ours, namespace: NS}\n"+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, namespace: NS}\ndata: {v: x}\n")
	b, s := newBundle(t), connect(t)
	b.apply(t, s, docs[:2]...)
	t.Cleanup(func() { b.delete(t, s) })
	p, bodies := b.plan(t, s, nil)
	if err := p.Findings.Err(); err != nil {
		t.Fatal(err)
	}
	foreignApply(t, "somebody", "configmaps", false, docs[2])
	r := b.execute(t.Context(), s, p, bodies)
	if len(r.Problems) != 1 || r.Problems[0].Ref.Kind != "Namespace" || !strings.Contains(r.Problems[0].Status.Reason, "1 ConfigMap of somebody: late") {
		t.Fatalf("%+v", r)
	}
	configmaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	if late := get(t, configmaps, ns, "late"); late.GetDeletionTimestamp() != nil {
		t.Error("it goes with the namespace")
	}
	if err := others(t).Resource(configmaps).Namespace(ns).Delete(t.Context(), "late", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestServerThatDoesNotAnswer: what an API server of its own keeps is not known while it does not answer, and is in the way of the
// Namespace unless the plan deletes its registration.
func TestServerThatDoesNotAnswer(t *testing.T) {
	srv := testserver.Start(t)
	srv.Fault(srv.Altered(func(obj map[string]any) {
		if items, ok := obj["items"].([]any); ok && obj["kind"] == "APIGroupDiscoveryList" && len(items) > 1 { // not the core group, asked by itself
			obj["items"] = append(items, map[string]any{"metadata": map[string]any{"name": "metrics.example.com"},
				"versions": []any{map[string]any{"version": "v1beta1", "freshness": "Stale"}, map[string]any{"version": "v1", "freshness": "Stale"}}})
		}
	}))
	c := config(srv.Kubeconfig(t), "test")
	s := connectTo(t, c)
	team := plan.Change{Action: plan.Delete, Ref: object.Ref{Kind: "Namespace", Name: "team"}, UID: "n"}
	v1 := plan.Change{Action: plan.Delete, Ref: object.Ref{Group: "apiregistration.k8s.io", Kind: "APIService", Name: "v1.metrics.example.com"}, UID: "1"}
	beta := plan.Change{Action: plan.Delete, Ref: object.Ref{Group: "apiregistration.k8s.io", Kind: "APIService", Name: "v1beta1.metrics.example.com"}, UID: "2"}
	for want, changes := range map[string][]plan.Change{
		"the API server of v1.metrics.example.com does not answer; the API server of v1beta1.metrics.example.com does not answer": {team},
		"the API server of v1beta1.metrics.example.com does not answer":                                                           {v1, team},
		"": {v1, beta, team},
	} {
		why := ""
		if f := plan.StillInUse(&plan.Plan{Changes: changes}, team, func(r []object.Ref) map[object.Ref]plan.Contents { return s.Contents(t.Context(), "owner", r) }); f != nil {
			why = f.Why
		}
		if why != want {
			t.Errorf("%q, want %q", why, want)
		}
	}
	if m := s.Marked(t.Context(), "owner"); len(m.Silent) != 1 || m.Silent[0] != "metrics.example.com" || len(m.Unseen) != 1 {
		t.Errorf("%+v", m)
	}
}

// TestKindThatGoesWhileItIsLookedAt: a custom kind that is not served any more had no objects only where its definition was
// seen, or this run deleted it: what an API server of its own keeps does not go with its APIService.
func TestKindThatGoesWhileItIsLookedAt(t *testing.T) {
	s, k := connect(t), kubeapi.KindInfo{Group: "gone.example.com", Kind: "Thing", Resource: "things", Preferred: "v1", Namespaced: true}
	if c := s.ListInto(t.Context(), k, "default"); len(c.Unseen) != 1 || !strings.Contains(c.Unseen[0], "things cannot be listed") {
		t.Errorf("aggregated: %+v", c)
	}
	if c := s.ListInto(t.Context(), k, "default", "things.gone.example.com"); len(c.Unseen)+len(c.Items) > 0 {
		t.Errorf("defined: %+v", c)
	}
}
