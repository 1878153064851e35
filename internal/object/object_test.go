package object

import (
	"encoding/json"
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMarked(t *testing.T) {
	secret := Object{Instance: "web", Body: map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata":   map[string]any{"name": "s", "labels": map[string]any{"app": "x"}},
		"data":       map[string]any{"a": "b2xk", "b": "a2VwdA=="},
		"stringData": map[string]any{"a": "new"}}}
	m := secret.Marked("me", "shop")
	u := m.Unstructured()
	want := map[string]string{"app": "x", LabelOwner: "me", LabelBundle: "shop", LabelInstance: "web", LabelManagedBy: "hawser"}
	if diff := cmp.Diff(want, u.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"a": "bmV3", "b": "a2VwdA=="}, m.Body["data"]); diff != "" {
		t.Errorf("stringData wins over data and is folded into it (-want +got):\n%s", diff)
	}
	if _, ok := m.Body["stringData"]; ok {
		t.Error("stringData is still there")
	}
	if _, ok := secret.Body["stringData"]; !ok || secret.Unstructured().GetLabels()[LabelOwner] != "" {
		t.Error("marking changed the original")
	}
	if m.Digest() != secret.Marked("me", "shop").Digest() || m.Digest() == secret.Marked("you", "shop").Digest() {
		t.Error("the digest covers the marks and nothing else")
	}
}

// What others write into is not declared without entries: the API server would take that out of our managed fields.
func TestMarkedWithoutEmptyMaps(t *testing.T) {
	for _, c := range []struct{ declared, want string }{
		{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x","annotations":{}},"spec":{"strategy":{},"template":{"metadata":{"annotations":{}},"spec":{"securityContext":{}}}}}`,
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"},"spec":{"strategy":{},"template":{"metadata":{},"spec":{"securityContext":{}}}}}`},
		{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","annotations":{"a":"b"}},"data":{},"binaryData":{}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","annotations":{"a":"b"}}}`},
		{`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{},"stringData":{}}`, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`},
		{`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{},"stringData":{"a":"b"}}`, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"},"data":{"a":"Yg=="}}`},
		{`{"apiVersion":"example.com/v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{}}`, `{"apiVersion":"example.com/v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{}}`},
	} {
		var declared, want map[string]any
		if err := errors.Join(json.Unmarshal([]byte(c.declared), &declared), json.Unmarshal([]byte(c.want), &want)); err != nil {
			t.Fatal(err)
		}
		got := Object{Body: declared}.Marked("me", "shop")
		unstructured.RemoveNestedField(got.Body, "metadata", "labels")
		if d := cmp.Diff(want, got.Body); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.declared, d)
		}
	}
}

// TestManagedByIsTheSourcesOwn: charts select by app.kubernetes.io/managed-by, so what a source sets stays.
func TestManagedByIsTheSourcesOwn(t *testing.T) {
	o := Object{Body: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "c", "labels": map[string]any{LabelManagedBy: "Helm"}}}}
	if got := o.Marked("me", "shop").Unstructured().GetLabels()[LabelManagedBy]; got != "Helm" {
		t.Errorf("managed-by is %q, want the chart's own", got)
	}
}

// TestMarksStayOffPodTemplates: labels on pod templates restart pods and break selectors.
func TestMarksStayOffPodTemplates(t *testing.T) {
	template := map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "x"}}}
	o := Object{Body: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "d"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "x"}}, "template": template}}}
	spec := o.Marked("me", "shop").Body["spec"]
	if diff := cmp.Diff(o.Body["spec"], spec); diff != "" {
		t.Errorf("the spec changed (-want +got):\n%s", diff)
	}
}

// TestAggregatedRolesKeepTheirRules: what a controller fills in is not declared, so that it is neither drift nor taken away.
func TestAggregatedRolesKeepTheirRules(t *testing.T) {
	role := func(apiVersion string, more map[string]any) map[string]any {
		body := map[string]any{"apiVersion": apiVersion, "kind": "ClusterRole", "metadata": map[string]any{"name": "r"}, "rules": []any{}}
		maps.Copy(body, more)
		return Object{Body: body}.Marked("me", "shop").Body
	}
	aggregated := map[string]any{"aggregationRule": map[string]any{"clusterRoleSelectors": []any{}}}
	if _, ok := role("rbac.authorization.k8s.io/v1", aggregated)["rules"]; ok {
		t.Error("the rules of an aggregated role are declared")
	}
	if _, ok := role("rbac.authorization.k8s.io/v1", nil)["rules"]; !ok {
		t.Error("the rules of a role are gone")
	}
	if _, ok := role("example.com/v1", aggregated)["rules"]; !ok {
		t.Error("the rules of somebody's kind are gone")
	}
}

func TestOwnerID(t *testing.T) {
	a, b := OwnerID("", "", "shop"), OwnerID("", "", "shop2")
	if a == b || len(a) != 20 || a != OwnerID("", "", "shop") {
		t.Errorf("an owner id is 20 hex digits of the bundle's name: %s, %s", a, b)
	}
	if OwnerID("hub", "", "shop") == OwnerID("", "hub", "shop") {
		t.Error("hub and namespace must not run together")
	}
}

func TestActionsOf(t *testing.T) {
	for _, prefix := range []string{"action.timoni.sh/", "hawser.dev/"} {
		got := ActionsOf(map[string]string{prefix + "force": "enabled", prefix + "one-off": "Enabled", prefix + "prune": "disabled",
			prefix + "wait": "disabled"})
		if diff := cmp.Diff(Actions{Force: true, Once: true, Keep: true, NoWait: true}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", prefix, diff)
		}
	}
	if got := ActionsOf(map[string]string{"helm.sh/resource-policy": " Keep"}); got != (Actions{Keep: true}) {
		t.Errorf("Helm's policy: %+v", got)
	}
	if got := ActionsOf(map[string]string{"helm.sh/resource-policy": "delete", "hawser.dev/prune": "enabled", "other/force": "enabled"}); got != (Actions{}) {
		t.Errorf("nothing is asked for: %+v", got)
	}
}
