package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/object"
)

// rule is one rule of a role.
type rule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

var (
	writeVerbs = []string{"create", "delete", "get", "list", "patch", "watch"}
	readVerbs  = []string{"get", "list", "watch"}
)

// writeRBAC prints the roles an apply of the bundle needs: one ClusterRole for what has no namespace and a Role per
// namespace, with the records' namespace among them. Names of resources are guessed from their kinds, as
// apimachinery does.
func writeRBAC(w io.Writer, r *engine.BuildResult) error {
	byNamespace := map[string]map[string][]string{"": {}, object.SystemNamespace: {
		"": {"secrets"}, "coordination.k8s.io": {"leases"}}}
	workloads := map[string]bool{}
	for _, item := range r.Items {
		for _, o := range item.Objects {
			ref := o.Ref()
			groups := byNamespace[ref.Namespace]
			if groups == nil {
				groups = map[string][]string{}
				byNamespace[ref.Namespace] = groups
			}
			plural, _ := meta.UnsafeGuessKindToResource(o.GVK())
			if !slices.Contains(groups[ref.Group], plural.Resource) {
				groups[ref.Group] = append(groups[ref.Group], plural.Resource)
			}
			workloads[ref.Namespace] = workloads[ref.Namespace] || ref.IsWorkload()
		}
	}
	ns := byNamespace[""]
	if !slices.Contains(ns[""], "namespaces") {
		ns[""] = append(ns[""], "namespaces")
	}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		role := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
			"metadata": map[string]any{"name": "hawser-" + r.Bundle, "namespace": namespace},
			"rules":    rulesOf(byNamespace[namespace], workloads[namespace])}
		if namespace == "" {
			role["kind"], role["metadata"] = "ClusterRole", map[string]any{"name": "hawser-" + r.Bundle}
		}
		data, err := yaml.Marshal(role)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "---\n%s", data); err != nil {
			return err
		}
	}
	return nil
}

func rulesOf(groups map[string][]string, workloads bool) []rule {
	var rules []rule
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		rules = append(rules, rule{[]string{g}, slices.Sorted(slices.Values(groups[g])), writeVerbs})
	}
	if workloads {
		rules = append(rules, rule{[]string{""}, []string{"pods"}, readVerbs}, rule{[]string{"apps"}, []string{"replicasets"}, readVerbs})
	}
	return rules
}
