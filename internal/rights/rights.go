// Package rights says which permissions a plan needs on its cluster, and which of them somebody's rules do not give.
//
// A pure room: rights must not ask a cluster for anything, nor know how it is asked.
package rights

import (
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Right is one permission.
type Right struct {
	Verb, Group, Resource, Kind, Namespace, Name string
}

// Rule is one of the rules a SelfSubjectRulesReview answers with.
type Rule struct {
	Verbs         []string `json:"verbs"`
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames"`
}

// Allows reports whether the rule gives a right.
func (x Rule) Allows(r Right) bool {
	in := func(list []string, v string) bool { return slices.Contains(list, v) || slices.Contains(list, "*") }
	return in(x.Verbs, r.Verb) && in(x.APIGroups, r.Group) && in(x.Resources, r.Resource) &&
		(len(x.ResourceNames) == 0 || slices.Contains(x.ResourceNames, r.Name))
}

// Roles says where all rights that a bundle needs can be had.
const Roles = "all roles a bundle needs: hawser fleet check -f BUNDLE --print-rbac"

// Managed are the verbs with which objects of a bundle are looked at and changed, Seen those for what is only waited for.
var (
	Managed = []string{"create", "delete", "get", "list", "patch", "watch"}
	Seen    = []string{"get", "list", "watch"}
)

// own are the verbs with which records and locks are kept, as roles and reviews name their resources.
var own = []struct {
	group, resource, kind string
	verbs                 []string
}{
	{"", "secrets", "Secret", []string{"create", "delete", "get", "list", "update"}},
	{"coordination.k8s.io", "leases", "Lease", []string{"create", "delete", "get", "update"}},
}

// Own are the rights that a bundle's record and lock need. owner is the bundle's id, "" for any.
func Own(owner string) []Right {
	var out []Right
	for _, k := range own {
		for _, verb := range k.verbs {
			r := Right{Verb: verb, Group: k.group, Resource: k.resource, Kind: k.kind, Namespace: object.SystemNamespace}
			if owner != "" {
				r.Name = "hawser-" + owner
			}
			out = append(out, r)
		}
	}
	return out
}

// Needed are the permissions with which a plan is carried out: its own, and those of record and lock.
func Needed(p *plan.Plan, resource func(object.Ref) string) []Right {
	return append(Of(p, resource), Own(p.Owner)...)
}

// Of are the distinct permissions of a plan's changes. An apply that creates is authorised as patch and as create. resource is that
// of a kind, "" for one that the cluster does not serve (yet).
func Of(p *plan.Plan, resource func(object.Ref) string) []Right {
	seen := map[Right]bool{}
	var out []Right
	for _, ch := range p.Changes {
		name := resource(ch.Ref)
		switch {
		case name == "" && ch.Ref.Custom():
			continue // its name is only known when it is there
		case name == "":
			name = strings.ToLower(ch.Ref.Kind) + "s" // comes with this plan
		}
		for _, verb := range verbsOf(ch) {
			r := Right{verb, ch.Ref.Group, name, ch.Ref.Kind, ch.Ref.Namespace, ch.Ref.Name}
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	return out
}

func verbsOf(ch plan.Change) []string {
	if ch.Hook != nil && (ch.Hook.IfSucceeded || ch.Hook.IfFailed) {
		return []string{"create", "delete", "patch"}
	}
	switch ch.Action {
	case plan.Create, plan.Unknown:
		return []string{"create", "patch"}
	case plan.Update:
		return []string{"patch"}
	case plan.Adopt:
		return []string{"get", "patch"}
	case plan.Recreate:
		return []string{"create", "delete", "patch"}
	case plan.Delete:
		return []string{"delete"}
	}
	return nil
}

// Missing says which rights are missing on a cluster, one finding per kind and namespace.
func Missing(cluster string, missing []Right) diag.Findings {
	type place struct{ group, resource, kind, namespace string }
	verbs := map[place][]string{}
	for _, r := range missing {
		p := place{r.Group, r.Resource, r.Kind, r.Namespace}
		if !slices.Contains(verbs[p], r.Verb) {
			verbs[p] = append(verbs[p], r.Verb)
		}
	}
	var out diag.Findings
	for p, list := range verbs {
		slices.Sort(list)
		where := " in the cluster"
		if p.namespace != "" {
			where = " in namespace " + p.namespace
		}
		f := diag.Errorf("missing-rights", "you may not %s %s%s", strings.Join(list, " or "), p.kind, where)
		resource := p.resource
		if p.group != "" {
			resource += "." + p.group
		}
		f.Cluster, f.Object = cluster, object.Ref{Group: p.group, Kind: p.kind, Namespace: p.namespace, Name: "*"}.String()
		f.Fix = "grant " + strings.Join(list, ", ") + " on " + resource + "; " + Roles
		out = append(out, f)
	}
	return out.Sorted()
}
