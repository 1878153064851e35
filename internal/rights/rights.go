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
	APIGroups     []string `json:"apiGroups,omitempty"`
	Resources     []string `json:"resources,omitempty"`
	ResourceNames []string `json:"resourceNames,omitempty"`
	// NonResourceURLs are paths of the API server that are no objects.
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
}

// Allows reports whether the rule gives a right.
func (x Rule) Allows(r Right) bool {
	in := func(list []string, v string) bool { return slices.Contains(list, v) || slices.Contains(list, "*") }
	return in(x.Verbs, r.Verb) && in(x.APIGroups, r.Group) && in(x.Resources, r.Resource) &&
		(len(x.ResourceNames) == 0 || r.Name == AnyName || slices.Contains(x.ResourceNames, r.Name))
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

// AnyName is the name of a right that somebody has who has it for one name, and the owner of Own for which that is enough: which bundle is meant is not known.
const AnyName = "*"

// Own are the rights that a bundle's record and lock need. owner is the bundle's id, "" for any.
func Own(owner string) []Right {
	var out []Right
	for _, k := range own {
		for _, verb := range k.verbs {
			r := Right{Verb: verb, Group: k.group, Resource: k.resource, Kind: k.kind, Namespace: object.SystemNamespace}
			switch owner {
			case "", AnyName:
				r.Name = owner
			default:
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
	case plan.Release:
		if ch.Code == plan.CodeEjected {
			return []string{"get", "patch"}
		}
	case plan.Delete:
		return []string{"delete"}
	}
	return nil
}

// Code of findings about rights that are missing.
const Code = "missing-rights"

// Missing says which rights are missing on a cluster: one finding, with a line for each kind and namespace where there are
// several. given are those which objects of the bundle give, and nobody may who does not have them.
func Missing(cluster string, missing []Right, given ...Grant) diag.Findings {
	type place struct{ group, resource, kind, namespace string }
	verbs := map[place][]string{}
	for _, r := range missing {
		p := place{r.Group, r.Resource, r.Kind, r.Namespace}
		if !slices.Contains(verbs[p], r.Verb) {
			verbs[p] = append(verbs[p], r.Verb)
		}
	}
	var lines []string
	var f diag.Finding
	for p, list := range verbs {
		slices.Sort(list)
		where := " in the cluster"
		if p.namespace != "" {
			where = " in namespace " + p.namespace
		}
		resource := p.resource
		if p.group != "" {
			resource += "." + p.group
		}
		lines = append(lines, strings.Join(list, ", ")+" on "+resource+where)
		f = diag.Errorf(Code, "you may not %s %s%s", strings.Join(list, " or "), p.kind, where)
		f.Object = object.Ref{Group: p.group, Kind: p.kind, Namespace: p.namespace, Name: "*"}.String()
		f.Fix = "grant " + strings.Join(list, ", ") + " on " + resource + "; " + Roles
	}
	for _, g := range given {
		lines = append(lines, g.line())
		f = g.finding()
	}
	switch len(lines) {
	case 0:
		return nil
	case 1:
	default:
		slices.Sort(lines)
		f = diag.Errorf(Code, "you do not have %d kinds of rights that the bundle needs", len(lines))
		f.Why, f.Fix = strings.Join(lines, "\n"), Roles
	}
	f.Cluster = cluster
	return diag.Findings{f}
}

// Unrecorded warns that a bundle's record on a cluster is not known, why tells why: rights for what only the record names are
// not among those that are told.
func Unrecorded(cluster, bundle, why string) diag.Finding {
	f := diag.Warnf("unrecorded-rights", "the record of bundle %s is not known: rights to delete what it has there, and the files do not have any more, are not among these", bundle)
	f.Cluster, f.Why = cluster, why
	return f
}

// Texts are the missing rights of findings, each by itself.
func Texts(fs diag.Findings) []string {
	var out []string
	for _, f := range fs {
		if f.Why == "" {
			out = append(out, f.What)
			continue
		}
		out = append(out, strings.Split(f.Why, "\n")...)
	}
	return out
}

// Whole are the permissions that everything needs which may be done with some objects of a bundle, its record and its lock:
// those that printed roles give. resource is that of a kind, as in Of.
func Whole(owner string, refs []object.Ref, resource func(object.Ref) string) []Right {
	seen := map[Right]bool{}
	out := Own(owner)
	add := func(verbs []string, r Right) {
		for _, r.Verb = range verbs {
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	for _, ref := range refs {
		name := resource(ref)
		switch {
		case name == "" && ref.Custom():
			continue
		case name == "":
			name = strings.ToLower(ref.Kind) + "s"
		}
		add(Managed, Right{Group: ref.Group, Resource: name, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name})
		if ref.IsWorkload() {
			add(Seen, Right{Resource: "pods", Kind: "Pod", Namespace: ref.Namespace})
			add(Seen, Right{Group: "apps", Resource: "replicasets", Kind: "ReplicaSet", Namespace: ref.Namespace})
		}
	}
	return out
}
