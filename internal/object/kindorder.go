package object

import "strings"

// Class is the place of a kind in the order in which objects are written; removal goes the other way.
type Class int

// The classes, in the order of writing.
const (
	// ClassFoundation: namespaces and custom resource definitions.
	ClassFoundation Class = iota
	// ClassConfig: what workloads read or are bound by: RBAC, configuration, storage, policies, classes.
	ClassConfig
	// ClassService: Services, so that their addresses are there before pods start.
	ClassService
	// ClassWorkload: what runs, what scales and routes to it, and custom resources that no webhook of the Set matches.
	ClassWorkload
	// ClassAdmission: API services and webhook configurations, which Services answer.
	ClassAdmission
	// ClassCustom: custom resources that a webhook, an API service or a conversion of the Set has to serve first.
	ClassCustom
)

const admission = "admissionregistration.k8s.io"

var configKinds = map[string]bool{
	"ConfigMap": true, "Secret": true, "ServiceAccount": true, "ResourceQuota": true, "LimitRange": true,
	"PersistentVolume": true, "PersistentVolumeClaim": true, "Endpoints": true,
}

var configGroups = map[string]bool{
	"rbac.authorization.k8s.io": true, "storage.k8s.io": true, "scheduling.k8s.io": true, "node.k8s.io": true,
	"flowcontrol.apiserver.k8s.io": true, "policy": true, "resource.k8s.io": true, "certificates.k8s.io": true,
}

// ClassOf is the class of an object by its kind alone: custom resources are ClassWorkload, until a Set tells that
// something in it has to serve them first.
func ClassOf(r Ref) Class {
	switch {
	case r.IsNamespace(), r.IsCRD():
		return ClassFoundation
	case r.Group == "" && r.Kind == "Service":
		return ClassService
	case r.Group == "" && configKinds[r.Kind], configGroups[r.Group], r.Group == admission && !r.IsWebhookConfiguration(),
		r.Group == "networking.k8s.io" && (r.Kind == "NetworkPolicy" || r.Kind == "IngressClass"):
		return ClassConfig
	case r.IsWebhookConfiguration():
		return ClassAdmission
	}
	return ClassWorkload
}

// IsCRD reports whether the ref is a CustomResourceDefinition.
func (r Ref) IsCRD() bool {
	return r.Group == "apiextensions.k8s.io" && r.Kind == "CustomResourceDefinition"
}

// IsNamespace reports whether the ref is a Namespace of Kubernetes' own.
func (r Ref) IsNamespace() bool { return r.Group == "" && r.Kind == "Namespace" }

// StandsOn are the Namespace and the definition without which an object cannot be; those of one that needs none are nobody's. plural
// is its kind's name in paths.
func (r Ref) StandsOn(plural string) []Ref {
	return []Ref{{Kind: "Namespace", Name: r.Namespace}, {Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: plural + "." + r.Group}}
}

// IsAPIService reports whether the ref is the registration of a group and version with the API server.
func (r Ref) IsAPIService() bool {
	return r.Group == "apiregistration.k8s.io" && r.Kind == "APIService"
}

// IsWebhookConfiguration reports whether the ref is something that calls back into a Service: a webhook configuration or APIService.
func (r Ref) IsWebhookConfiguration() bool {
	return r.IsAPIService() || r.Group == admission && (r.Kind == "ValidatingWebhookConfiguration" || r.Kind == "MutatingWebhookConfiguration")
}

// Guards is the sort of what decides about other objects when they are written: "AdmissionPolicy" for policies and their
// bindings, "WebhookConfiguration"; "" for anything else.
func (r Ref) Guards() string {
	for _, sort := range []string{"AdmissionPolicy", "WebhookConfiguration"} {
		if r.Group == admission && strings.HasSuffix(strings.TrimSuffix(r.Kind, "Binding"), sort) {
			return sort
		}
	}
	return ""
}

// IsJob reports whether the ref is a Job of Kubernetes' own: one that failed stays failed.
func (r Ref) IsJob() bool { return r.Group == "batch" && r.Kind == "Job" }

// Finishes reports whether objects of the kind do their work and are done, so that one that is gone may have been. The
// kinds of others are not known to, whatever they are called.
func (r Ref) Finishes() bool { return r.IsJob() || r.Group == "" && r.Kind == "Pod" }

// Autoscales reports whether the ref is something that sets spec.replicas of what its spec.scaleTargetRef names.
func (r Ref) Autoscales() bool {
	return r.Group == "autoscaling" && r.Kind == "HorizontalPodAutoscaler" || r.Group == "keda.sh" && r.Kind == "ScaledObject"
}

// IsWorkload reports whether the ref runs pods by a pod template.
func (r Ref) IsWorkload() bool {
	switch r.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet":
		return r.Group == "apps"
	case "Job", "CronJob":
		return r.Group == "batch"
	case "ReplicationController", "Pod":
		return r.Group == ""
	}
	return false
}

// builtinGroups are the API groups that kube-apiserver itself serves, v1.36; a kind of any other group is custom.
var builtinGroups = map[string]bool{
	"": true, "apps": true, "batch": true, "autoscaling": true, "policy": true, "extensions": true,
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true,
	"authentication.k8s.io": true, "authorization.k8s.io": true, "certificates.k8s.io": true,
	"coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true, "flowcontrol.apiserver.k8s.io": true,
	"internal.apiserver.k8s.io": true, "networking.k8s.io": true, "node.k8s.io": true,
	"rbac.authorization.k8s.io": true, "resource.k8s.io": true, "scheduling.k8s.io": true, "storage.k8s.io": true,
	"storagemigration.k8s.io": true,
}

// Custom reports whether the object's group is not one of Kubernetes' own.
func (r Ref) Custom() bool { return !builtinGroups[r.Group] }
