// Package builtin knows the kinds that Kubernetes itself serves: which of them have no namespace, and what of their objects an API
// server may refuse to change.
//
// builtin must not know what an object is to us, what a server answers, nor what becomes of an object that cannot be changed.
package builtin

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// paths are, by group and kind, the fields that the API server may refuse to change. Source: the ValidateUpdate
// functions of kubernetes/pkg/apis (v1.36).
var paths = map[string][][]string{
	"apps/Deployment":                       {{"spec", "selector"}},
	"apps/DaemonSet":                        {{"spec", "selector"}},
	"apps/ReplicaSet":                       {{"spec", "selector"}},
	"apps/ControllerRevision":               {{"data"}},
	"batch/Job":                             {{"spec"}},
	"/ReplicationController":                {{"spec", "selector"}},
	"/Pod":                                  {{"spec"}},
	"/Service":                              {{"spec", "clusterIP"}, {"spec", "clusterIPs"}, {"spec", "ipFamilies"}, {"spec", "ipFamilyPolicy"}, {"spec", "type"}, {"spec", "healthCheckNodePort"}, {"spec", "loadBalancerClass"}},
	"/PersistentVolumeClaim":                {{"spec"}},
	"/PersistentVolume":                     {{"spec"}},
	"/Secret":                               {{"type"}, {"immutable"}},
	"/ConfigMap":                            {{"immutable"}},
	"rbac.authorization.k8s.io/RoleBinding": {{"roleRef"}},
	"rbac.authorization.k8s.io/ClusterRoleBinding":    {{"roleRef"}},
	"storage.k8s.io/StorageClass":                     {{"provisioner"}, {"parameters"}, {"reclaimPolicy"}, {"volumeBindingMode"}},
	"storage.k8s.io/VolumeAttributesClass":            {{"driverName"}, {"parameters"}},
	"storage.k8s.io/VolumeAttachment":                 {{"spec"}},
	"storage.k8s.io/CSIDriver":                        {{"spec"}},
	"storage.k8s.io/CSIStorageCapacity":               {{"nodeTopology"}, {"storageClassName"}},
	"scheduling.k8s.io/PriorityClass":                 {{"value"}, {"preemptionPolicy"}},
	"networking.k8s.io/IngressClass":                  {{"spec", "controller"}},
	"node.k8s.io/RuntimeClass":                        {{"handler"}},
	"discovery.k8s.io/EndpointSlice":                  {{"addressType"}},
	"certificates.k8s.io/CertificateSigningRequest":   {{"spec"}},
	"apiextensions.k8s.io/CustomResourceDefinition":   {{"spec", "group"}, {"spec", "scope"}, {"spec", "names"}},
	"resource.k8s.io/ResourceClaim":                   {{"spec"}},
	"resource.k8s.io/ResourceClaimTemplate":           {{"spec"}},
	"certificates.k8s.io/ClusterTrustBundle":          {{"spec", "signerName"}},
	"networking.k8s.io/ServiceCIDR":                   {{"spec"}},
	"networking.k8s.io/IPAddress":                     {{"spec"}},
	"storagemigration.k8s.io/StorageVersionMigration": {{"spec"}},
}

// changeable are the fields of a StatefulSet's spec that may change; all others may not.
var changeable = []string{"replicas", "ordinals", "template", "updateStrategy", "persistentVolumeClaimRetentionPolicy", "minReadySeconds", "revisionHistoryLimit"}

// Fields is what the API server may refuse to change of an object of a group and kind once it is there, in a form that is the same
// where that is; false when it can change everything. custom: it is no kind of Kubernetes' own, and its rules are not known.
func Fields(group, kind string, custom bool, body map[string]any) (any, bool) {
	switch id := group + "/" + kind; {
	case custom:
		return at(body, []string{"spec"})
	case id == "apps/StatefulSet":
		spec, _ := body["spec"].(map[string]any)
		spec = maps.Clone(spec)
		for _, f := range changeable {
			delete(spec, f)
		}
		return spec, true
	default:
		return at(body, paths[id]...)
	}
}

// Kinds are those whose rules are known, as "group/Kind".
func Kinds() []string { return slices.Sorted(maps.Keys(paths)) }

// at is what stands in the fields, with their paths.
func at(body map[string]any, fields ...[]string) (any, bool) {
	var values []any
	for _, p := range fields {
		if v, ok, err := unstructured.NestedFieldNoCopy(body, p...); ok && err == nil {
			values = append(values, p, v)
		}
	}
	return values, len(values) > 0
}
