package object

import "slices"

// ownPlaces are the objects that every cluster makes in every namespace; theirs those of distributions and meshes, whose
// names somebody else may use as well: they count as the cluster's own only where nobody else wrote them.
var (
	ownPlaces = map[string][]string{"/ServiceAccount": {"default"}, "/ConfigMap": {"kube-root-ca.crt"}}
	theirs    = map[string][]string{
		"/ServiceAccount":                       {"builder", "deployer"},
		"/ConfigMap":                            {"openshift-service-ca.crt", "istio-ca-root-cert"},
		"rbac.authorization.k8s.io/RoleBinding": {"system:image-pullers", "system:image-builders", "system:deployers"},
	}
)

// OfEveryNamespace reports whether an object stands in every namespace without anybody's doing; byCluster says that only the
// cluster's own managers wrote it.
func (r Ref) OfEveryNamespace(byCluster bool) bool {
	return r.Kind == "Event" && (r.Group == "" || r.Group == "events.k8s.io") || slices.Contains(ownPlaces[r.Group+"/"+r.Kind], r.Name) ||
		byCluster && slices.Contains(theirs[r.Group+"/"+r.Kind], r.Name)
}

// RolePrefix before a bundle's name is what the roles for an apply are called that are printed for it, with DeleteSuffix those for deleting its Namespaces.
const RolePrefix, DeleteSuffix = "hawser-", "-delete"

// IsRoleOf reports whether an object is a role with which a bundle is delivered to a namespace, or the binding of one: by its name.
func (r Ref) IsRoleOf(bundle string) bool {
	return r.Group == "rbac.authorization.k8s.io" && (r.Kind == "Role" || r.Kind == "RoleBinding") && (r.Name == RolePrefix+bundle || r.Name == RolePrefix+bundle+DeleteSuffix)
}
