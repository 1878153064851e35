package order

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/object"
)

const rbac = "rbac.authorization.k8s.io"

// isBinding reports whether the ref gives somebody a role.
func isBinding(r object.Ref) bool {
	return r.Group == rbac && (r.Kind == "RoleBinding" || r.Kind == "ClusterRoleBinding")
}

// IsRole reports whether the ref is of a Role or ClusterRole.
func IsRole(r object.Ref) bool {
	return r.Group == rbac && (r.Kind == "Role" || r.Kind == "ClusterRole")
}

// RoleOf is the Role or ClusterRole that a binding gives; the zero Ref for anything else.
func RoleOf(r object.Ref, body map[string]any) object.Ref {
	if !isBinding(r) {
		return object.Ref{}
	}
	role, _, _ := unstructured.NestedStringMap(body, "roleRef")
	out := object.Ref{Group: rbac, Kind: role["kind"], Name: role["name"]}
	if out.Kind == "Role" {
		out.Namespace = r.Namespace
	}
	return out
}

// NewRole says that the role which a binding gives is among the objects that are new; "" where it is not.
func NewRole(r object.Ref, body map[string]any, new map[object.Ref]bool) string {
	if role := RoleOf(r, body); new[role] {
		return role.String() + " is new"
	}
	return ""
}

// bindings are written after the Role or ClusterRole that they give, in whatever instance: without it the API server refuses
// them to who has not the right to bind.
func (w *writer) bindings() {
	for _, it := range w.Items {
		if role, ok := w.byRef[RoleOf(it.Ref, it.Body)]; ok {
			w.edge(writeKey(role.Ref), writeKey(it.Ref))
		}
	}
}
