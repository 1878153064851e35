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
