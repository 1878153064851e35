package fleetplan

import (
	"slices"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// always are the namespaces that every cluster has.
var always = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// Namespaces are the Namespaces that apply would make because an instance uses them and nobody declares them, for whoever
// applies what is built. They carry none of our marks, and are not pruned by who reads such annotations: others may use them.
func Namespaces(instance string, desired []plan.Desired) []object.Object {
	var out []object.Object
	for _, d := range desired {
		if !d.OwnNamespace || d.Instance != instance || slices.Contains(always, d.Ref.Name) {
			continue
		}
		out = append(out, object.Object{Instance: instance, Body: map[string]any{"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": d.Ref.Name, "annotations": map[string]any{"hawser.dev/prune": "disabled",
				"kustomize.toolkit.fluxcd.io/prune": "disabled", "argocd.argoproj.io/sync-options": "Prune=false"}}}})
	}
	return out
}
