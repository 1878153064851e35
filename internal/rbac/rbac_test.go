package rbac

import (
	"maps"
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

// What writing roles and bindings takes is in the roles: the rules that are given, and the right to give what is everything or another's,
// by name.
func TestGiving(t *testing.T) {
	object := func(kind, name, namespace string, more map[string]any) object.Object {
		meta := map[string]any{"name": name}
		if namespace != "" {
			meta["namespace"] = namespace
		}
		body := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": meta}
		maps.Copy(body, more)
		return object.Object{Body: body}
	}
	rules := func(group, resource, verb string) map[string]any {
		return map[string]any{"rules": []any{map[string]any{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": []any{verb}}}}
	}
	to := func(kind, name string) map[string]any {
		return map[string]any{"roleRef": map[string]any{"kind": kind, "name": name}}
	}
	r := &fleetplan.BuildResult{Bundle: "shop"}
	r.Items = []fleetplan.BuildItem{{Cluster: "eu"}, {Cluster: "us"}}
	for i := range r.Items {
		r.Items[i].Objects = append(r.Items[i].Objects, object("Role", "app", "shop", rules("", "endpoints", "get")), object("RoleBinding", "app", "shop", to("Role", "app")),
			object("RoleBinding", "view", "shop", to("ClusterRole", "view")), object("ClusterRole", "top", "", rules("*", "*", "*")))
	}
	var b strings.Builder
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{
		"- apiGroups:\n  - \"\"\n  resources:\n  - endpoints\n  verbs:\n  - get\n":                                                         1,
		"- apiGroups:\n  - rbac.authorization.k8s.io\n  resourceNames:\n  - view\n  resources:\n  - clusterroles\n  verbs:\n  - bind\n":    1,
		"- apiGroups:\n  - rbac.authorization.k8s.io\n  resourceNames:\n  - top\n  resources:\n  - clusterroles\n  verbs:\n  - escalate\n": 1,
		"'*'": 0, "- bind": 1, "# With what writing Role shop/app takes": 1, "RoleBinding shop/app": 0,
	} {
		if got := strings.Count(b.String(), want); got != n {
			t.Errorf("%d of %q, want %d, in\n%s", got, want, n, b.String())
		}
	}
}

// What an object is called stays a comment, whatever is in it.
func TestNamesInComments(t *testing.T) {
	r := &fleetplan.BuildResult{Bundle: "shop", Items: []fleetplan.BuildItem{{Cluster: "eu"}}}
	r.Items[0].Objects = []object.Object{{Body: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": "x is\n---\u2028\nkind: Evil\n#"},
		"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"get"}}}}}}
	var b strings.Builder
	if err := Write(&b, r); err != nil || !strings.Contains(b.String(), "# With what writing ClusterRole x is\\n---") || strings.Contains(b.String(), "\nkind: Evil") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// What is looked at before a Namespace or a definition is deleted is in the roles, by kind; everything in a Namespace only as a comment.
func TestDeletes(t *testing.T) {
	made := func(apiVersion, kind, name string, annotations map[string]any) object.Object {
		return object.Object{Body: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "annotations": annotations}}}
	}
	kept := map[string]any{"hawser.dev/prune": "disabled"}
	const crd = "CustomResourceDefinition"
	r := &fleetplan.BuildResult{Bundle: "shop", Recorded: []object.Ref{{Group: "apiextensions.k8s.io", Kind: crd, Name: "gears.x.dev"}, {Kind: "Namespace", Name: "own"}},
		Items: []fleetplan.BuildItem{{Objects: []object.Object{made("v1", "Namespace", "shop", nil), made("v1", "Namespace", "kept", kept),
			made("apiextensions.k8s.io/v1", crd, "widgets.x.dev", nil), made("apiextensions.k8s.io/v1", crd, "things.x.dev", kept)}}}}
	var b strings.Builder
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{
		"- apiGroups:\n  - x.dev\n  resources:\n  - widgets\n  verbs:\n  - list\n": 1, "  - gears\n": 1, "things": 0,
		"---\n# Only who is to delete Namespace shop": 1, "#   name: hawser-shop-delete\n#   namespace: shop\n": 1, "#   - '*'\n": 2, "\n  - '*'": 0, "namespace: own": 0, "kept": 0,
		"# Call the RoleBindings as their roles, hawser-shop and hawser-shop-delete": 1,
	} {
		if got := strings.Count(b.String(), want); got != n {
			t.Errorf("%d of %q, want %d, in\n%s", got, want, n, b.String())
		}
	}
}
