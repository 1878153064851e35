package rbac

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
)

// What a cluster's record names belongs to the roles, as what is declared does.
func TestRecorded(t *testing.T) {
	declared := object.Object{Body: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "shop"}}}
	r := &fleetplan.BuildResult{Bundle: "shop", Items: []fleetplan.BuildItem{{Objects: []object.Object{declared}}},
		Recorded: []object.Ref{{Group: "apps", Kind: "StatefulSet", Namespace: "shop", Name: "cache"}, {Kind: "ConfigMap", Namespace: "old", Name: "c"},
			{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "x"}}}
	var b strings.Builder
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	roles := map[string]string{}
	for _, text := range strings.Split(b.String(), "---\n")[1:] {
		_, namespace, _ := strings.Cut(text, "namespace: ")
		namespace, _, _ = strings.Cut(namespace, "\n")
		roles[namespace] = text
	}
	for namespace, want := range map[string]string{"shop": "  - deployments\n  - statefulsets\n", "old": "  - configmaps\n", "": "  - clusterroles\n"} {
		if !strings.Contains(roles[namespace], want) {
			t.Errorf("%q: no %q in\n%s", namespace, want, roles[namespace])
		}
	}
}
