package object

// LostByRecreating says what deleting and creating an object of this kind loses.
func (r Ref) LostByRecreating() string {
	kind := r.Kind
	if r.Custom() {
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
