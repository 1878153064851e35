package object

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fixedPaths are, by group and kind, the fields that the API server may refuse to change. Source: the ValidateUpdate
// functions of kubernetes/pkg/apis (v1.36).
var fixedPaths = map[string][][]string{
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

// Fixed is a digest of what the API server may refuse to change of an object once it is there, "" when it can change
// everything. Two declarations with the same one differ only in what every API server lets change, webhooks apart; of
// custom resources that is everything but their spec, because their rules are not known here.
func Fixed(o Object) string {
	ref := o.Ref()
	switch id := ref.Group + "/" + ref.Kind; {
	case ref.Custom():
		return digestOf(o.Body, []string{"spec"})
	case id == "apps/StatefulSet":
		spec, _ := o.Body["spec"].(map[string]any)
		spec = maps.Clone(spec)
		for _, f := range changeable {
			delete(spec, f)
		}
		return DigestJSON(spec)
	case (id == "/Secret" || id == "/ConfigMap") && o.Body["immutable"] == true:
		return o.Digest()
	default:
		return digestOf(o.Body, fixedPaths[id]...)
	}
}

// digestOf is a digest of what stands at the paths, "" when nothing does.
func digestOf(body map[string]any, paths ...[]string) string {
	var values []any
	for _, p := range paths {
		if v, ok, err := unstructured.NestedFieldNoCopy(body, p...); ok && err == nil {
			values = append(values, p, v)
		}
	}
	if len(values) == 0 {
		return ""
	}
	return DigestJSON(values)
}
