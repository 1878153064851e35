package builtin

// LostByRecreating says what deleting and creating an object of a kind loses; custom says that it is not one of Kubernetes' own.
func LostByRecreating(kind string, custom bool) string {
	if custom {
		kind = "" // whatever it is called
	}
	switch kind {
	case "PersistentVolumeClaim":
		return "the data of the volume, unless its reclaim policy is Retain"
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet":
		return "its running pods until the new ones are ready"
	case "Job":
		return "the finished or running job; it runs again"
	case "Service":
		return "its cluster IP and load balancer address"
	case "Namespace":
		return "everything in the namespace"
	case "CustomResourceDefinition":
		return "every object of the kind"
	}
	return "what the cluster added to it (status, assigned fields)"
}
