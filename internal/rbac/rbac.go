// Package rbac says which rights an apply needs, as roles to be given to whoever applies.
//
// rbac must not ask a cluster for anything: names of resources are guessed from their kinds, as apimachinery does.
package rbac

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/rights"
)

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
	extra, given, why := readsOf(r), givenBy(r), map[string]string{}
	extra[object.SystemNamespace] = append(ownRules(), extra[object.SystemNamespace]...)
	extra[""] = append(extra[""], listed(r)...)
	for _, g := range given {
		rules := rulesFor(g)
		if extra[g.Namespace] = append(extra[g.Namespace], rules...); len(rules) > 0 {
			why[g.Namespace] += "# With what writing " + strings.Trim(strconv.QuoteToASCII(g.Object.String()), `"`) + " takes: nobody gives rights that he has not himself, or may give.\n"
		}
	}
	for namespace := range extra {
		if byNamespace[namespace] == nil {
			byNamespace[namespace] = map[string][]string{}
		}
	}
	name := object.RolePrefix + r.Bundle
	ns := byNamespace[""]
	if !slices.Contains(ns[""], "namespaces") {
		ns[""] = append(ns[""], "namespaces")
	}
	for _, namespace := range slices.Sorted(maps.Keys(byNamespace)) {
		role := map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
			"metadata": map[string]any{"name": name, "namespace": namespace},
			"rules":    distinct(append(rulesOf(byNamespace[namespace], workloads[namespace]), extra[namespace]...))}
		if namespace == "" {
			role["kind"], role["metadata"] = "ClusterRole", map[string]any{"name": name}
		}
		data, err := yaml.Marshal(role)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "---\n%s%s", why[namespace], data); err != nil {
			return err
		}
	}
	return writeDeletes(w, r)
}

// deletable are the Namespaces and definitions that would go with the bundle, sorted; of Namespaces those that are declared.
func deletable(r *fleetplan.BuildResult) []object.Ref {
	found := map[object.Ref]bool{}
	for _, ref := range r.Recorded {
		found[ref] = ref.IsCRD()
	}
	for _, item := range r.Items {
		for _, o := range item.Objects {
			ref := o.Ref()
			found[ref] = (ref.IsNamespace() || ref.IsCRD()) && !object.ActionsOf(o.Unstructured().GetAnnotations()).Keep
		}
	}
	maps.DeleteFunc(found, func(_ object.Ref, goes bool) bool { return !goes })
	return slices.SortedFunc(maps.Keys(found), object.Ref.Compare)
}

// listed are the rules with which the objects of the bundle's definitions are looked at before they are deleted.
func listed(r *fleetplan.BuildResult) []rights.Rule {
	var out []rights.Rule
	for _, ref := range deletable(r) {
		if l := rights.Listed(ref); ref.IsCRD() {
			out = append(out, rights.Rule{Verbs: []string{l.Verb}, APIGroups: []string{l.Group}, Resources: []string{l.Resource}})
		}
	}
	return out
}

// writeDeletes prints a role for each declared Namespace, to look at everything in it before it is deleted: as a comment, since it reads more than an
// apply does.
func writeDeletes(w io.Writer, r *fleetplan.BuildResult) error {
	name := object.RolePrefix + r.Bundle
	for _, ref := range deletable(r) {
		if !ref.IsNamespace() {
			continue
		}
		data, err := yaml.Marshal(map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
			"metadata": map[string]any{"name": name + object.DeleteSuffix, "namespace": ref.Name},
			"rules":    []rights.Rule{{Verbs: []string{"list"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}})
		if err != nil {
			return err
		}
		role := strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", "\n# ")
		if _, err := fmt.Fprintf(w, "---\n# Only who is to delete %s needs this role as well: everything in it, Secrets too, is listed before, for what would be lost with it.\n"+
			"# Call the RoleBindings as their roles, %s and %s: by these names they do not count as something that would be lost.\n# %s\n", ref, name, name+object.DeleteSuffix, role); err != nil {
			return err
		}
	}
	return nil
}

// givenBy is what the bundle's objects give on any of the clusters.
func givenBy(r *fleetplan.BuildResult) []rights.Grant {
	bodies := map[string]map[object.Ref]object.Object{}
	for _, item := range r.Items {
		for _, o := range item.Objects {
			if bodies[item.Cluster] == nil {
				bodies[item.Cluster] = map[object.Ref]object.Object{}
			}
			bodies[item.Cluster][o.Ref()] = o
		}
	}
	var out []rights.Grant
	for _, cluster := range slices.Sorted(maps.Keys(bodies)) {
		for _, g := range rights.Given(bodies[cluster]) {
			if !slices.ContainsFunc(out, func(has rights.Grant) bool { return reflect.DeepEqual(has, g) }) {
				out = append(out, g)
			}
		}
	}
	return out
}

// rulesFor are the least that let somebody write what gives rights: those of a role themselves, with which it may be bound, too; and the right to give
// more than he has, of that role alone, where it gives everything or is not the bundle's.
func rulesFor(g rights.Grant) []rights.Rule {
	switch {
	case g.Full || g.Unknown:
		return []rights.Rule{{Verbs: []string{g.Verb}, APIGroups: []string{g.Group}, Resources: []string{g.Resource}, ResourceNames: []string{g.Name}}}
	case g.Object == g.Role:
		return g.Rules
	}
	return nil
}

// distinct are the rules, each once.
func distinct(rules []rights.Rule) []rights.Rule {
	var out []rights.Rule
	for _, r := range rules {
		if !slices.ContainsFunc(out, func(has rights.Rule) bool { return reflect.DeepEqual(has, r) }) {
			out = append(out, r)
		}
	}
	return out
}

// readsOf are the rules, by namespace, for what values are taken from, object by object.
func readsOf(r *fleetplan.BuildResult) map[string][]rights.Rule {
	out := map[string][]rights.Rule{}
	for _, ref := range slices.CompactFunc(slices.SortedFunc(slices.Values(r.Reads), object.Ref.Compare), func(a, b object.Ref) bool { return a == b }) {
		plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Group: ref.Group, Kind: ref.Kind})
		out[ref.Namespace] = append(out[ref.Namespace], rights.Rule{Verbs: []string{"get"}, APIGroups: []string{ref.Group}, Resources: []string{plural.Resource}, ResourceNames: []string{ref.Name}})
	}
	return out
}

// ownRules are the rules for records and locks.
func ownRules() []rights.Rule {
	var rules []rights.Rule
	for _, r := range rights.Own("") {
		if n := len(rules) - 1; n >= 0 && rules[n].Resources[0] == r.Resource {
			rules[n].Verbs = append(rules[n].Verbs, r.Verb)
			continue
		}
		rules = append(rules, rights.Rule{Verbs: []string{r.Verb}, APIGroups: []string{r.Group}, Resources: []string{r.Resource}})
	}
	return rules
}

func rulesOf(groups map[string][]string, workloads bool) []rights.Rule {
	var rules []rights.Rule
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		rules = append(rules, rights.Rule{Verbs: rights.Managed, APIGroups: []string{g}, Resources: slices.Sorted(slices.Values(groups[g]))})
	}
	if workloads {
		rules = append(rules, rights.Rule{Verbs: rights.Seen, APIGroups: []string{""}, Resources: []string{"pods"}},
			rights.Rule{Verbs: rights.Seen, APIGroups: []string{"apps"}, Resources: []string{"replicasets"}})
	}
	return rules
}
