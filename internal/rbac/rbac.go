// Package rbac says which rights an apply needs, as roles to be given to whoever applies.
//
// rbac must not ask a cluster for anything: names of resources are guessed from their kinds, as apimachinery does.
package rbac

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/rights"
)

// rule is one rule of a role.
type rule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
	Names     []string `json:"resourceNames,omitempty"`
}

// Write prints the roles an apply of the bundle needs for what is declared and for what records name: one ClusterRole for what has no namespace and a Role per
// namespace, with the records' namespace among them.
func Write(w io.Writer, r *fleetplan.BuildResult) error {
	byNamespace := map[string]map[string][]string{"": {}, object.SystemNamespace: {}}
	workloads := map[string]bool{}
	refs := slices.Clone(r.Recorded)
	for _, item := range r.Items {
		for _, o := range item.Objects {
			refs = append(refs, o.Ref())
		}
	}
	for _, ref := range refs {
		groups := byNamespace[ref.Namespace]
		if groups == nil {
			groups = map[string][]string{}
			byNamespace[ref.Namespace] = groups
		}
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: ref.Group, Kind: ref.Kind})
		if !slices.Contains(groups[ref.Group], plural.Resource) {
			groups[ref.Group] = append(groups[ref.Group], plural.Resource)
		}
		workloads[ref.Namespace] = workloads[ref.Namespace] || ref.IsWorkload()
	}
	extra := readsOf(r)
	extra[object.SystemNamespace] = append(ownRules(), extra[object.SystemNamespace]...)
	for namespace := range extra {
		if byNamespace[namespace] == nil {
			byNamespace[namespace] = map[string][]string{}
		}
	}
	ns := byNamespace[""]
	if !slices.Contains(ns[""], "namespaces") {
		ns[""] = append(ns[""], "namespaces")
	}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		role := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
			"metadata": map[string]any{"name": "hawser-" + r.Bundle, "namespace": namespace},
			"rules":    append(rulesOf(byNamespace[namespace], workloads[namespace]), extra[namespace]...)}
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

// readsOf are the rules, by namespace, for what values are taken from, object by object.
func readsOf(r *fleetplan.BuildResult) map[string][]rule {
	out := map[string][]rule{}
	for _, ref := range slices.CompactFunc(slices.SortedFunc(slices.Values(r.Reads), object.Ref.Compare), func(a, b object.Ref) bool { return a == b }) {
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: ref.Group, Kind: ref.Kind})
		out[ref.Namespace] = append(out[ref.Namespace], rule{[]string{ref.Group}, []string{plural.Resource}, []string{"get"}, []string{ref.Name}})
	}
	return out
}

// ownRules are the rules for records and locks.
func ownRules() []rule {
	var rules []rule
	for _, r := range rights.Own("") {
		if n := len(rules) - 1; n >= 0 && rules[n].Resources[0] == r.Resource {
			rules[n].Verbs = append(rules[n].Verbs, r.Verb)
			continue
		}
		rules = append(rules, rule{[]string{r.Group}, []string{r.Resource}, []string{r.Verb}, nil})
	}
	return rules
}

func rulesOf(groups map[string][]string, workloads bool) []rule {
	var rules []rule
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		rules = append(rules, rule{[]string{g}, slices.Sorted(slices.Values(groups[g])), rights.Managed, nil})
	}
	if workloads {
		rules = append(rules, rule{[]string{""}, []string{"pods"}, rights.Seen, nil}, rule{[]string{"apps"}, []string{"replicasets"}, rights.Seen, nil})
	}
	return rules
}
