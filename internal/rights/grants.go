package rights

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/order"
	"hawser.dev/hawser/internal/plan"
)

// Role is what a Role or ClusterRole gives.
type Role struct {
	Rules           []Rule `json:"rules"`
	AggregationRule struct {
		ClusterRoleSelectors []any `json:"clusterRoleSelectors"`
	} `json:"aggregationRule"`
}

// full reports whether who writes the role must have everything.
func (r Role) full() bool {
	return len(r.AggregationRule.ClusterRoleSelectors) > 0 || slices.ContainsFunc(r.Rules, func(x Rule) bool {
		return slices.Contains(x.Verbs, "*") && slices.Contains(x.APIGroups, "*") && slices.Contains(x.Resources, "*")
	})
}

// Grant is an object that gives rights: a role, or a binding of one. The API server takes it from who has all of them himself in the namespace,
// and from who has the Right, which lets him give what he has not: escalate on the role, or bind on the one that is bound.
type Grant struct {
	Right
	// Object is what is written, Role whose Rules it gives.
	Object, Role object.Ref
	Rules        []Rule
	// Unknown: the bundle does not declare the role. Full: nothing less than everything is enough without the Right.
	Unknown, Full bool
}

// Given is what objects give, sorted.
func Given(bodies map[object.Ref]object.Object) []Grant {
	roles := map[object.Ref]Role{}
	for ref, o := range bodies {
		if order.IsRole(ref) {
			roles[ref] = roleOf(o)
		}
	}
	var out []Grant
	for _, ref := range slices.SortedFunc(maps.Keys(bodies), object.Ref.Compare) {
		g := Grant{Right: Right{Verb: "escalate"}, Object: ref, Role: ref}
		if role := order.RoleOf(ref, bodies[ref].Body); role.Kind != "" {
			g.Verb, g.Role = "bind", role
		}
		if !order.IsRole(g.Role) {
			continue
		}
		role, declared := roles[g.Role]
		g.Group, g.Resource, g.Kind, g.Namespace, g.Name = g.Role.Group, strings.ToLower(g.Role.Kind)+"s", g.Role.Kind, ref.Namespace, g.Role.Name
		g.Rules, g.Unknown, g.Full = role.Rules, !declared, role.full()
		out = append(out, g)
	}
	return out
}

// GivenBy is what the changes of a plan give of which the API server has not said yet that it takes them.
func GivenBy(p *plan.Plan, bodies map[object.Ref]object.Object) []Grant {
	written := map[object.Ref]bool{}
	for _, ch := range p.Changes {
		switch ch.Action {
		case plan.Create, plan.Unknown, plan.Update, plan.Adopt, plan.Recreate:
			written[ch.Ref] = !ch.Checked
		}
	}
	return slices.DeleteFunc(Given(bodies), func(g Grant) bool { return !written[g.Object] })
}

func roleOf(o object.Object) (r Role) {
	data, err := json.Marshal(map[string]any{"rules": o.Body["rules"], "aggregationRule": o.Body["aggregationRule"]})
	if err != nil || json.Unmarshal(data, &r) != nil {
		return Role{}
	}
	return r
}

// short are the rules among some of which something is not there.
func (k Known) short(rules []Rule) []Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return !slices.ContainsFunc(r.parts(), func(p Rule) bool { return !k.covers(p) }) })
}

// parts are the rules of one verb, group, resource and name, or path, that make up a rule, as the API server takes it apart.
func (x Rule) parts() []Rule {
	var out []Rule
	for _, verb := range x.Verbs {
		for _, path := range x.NonResourceURLs {
			out = append(out, Rule{Verbs: []string{verb}, NonResourceURLs: []string{path}})
		}
		for _, group := range x.APIGroups {
			for _, resource := range x.Resources {
				one := Rule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: []string{resource}}
				if len(x.ResourceNames) == 0 {
					out = append(out, one)
				}
				for _, name := range x.ResourceNames {
					one.ResourceNames = []string{name}
					out = append(out, one)
				}
			}
		}
	}
	return out
}

// covers reports whether one of the rules gives a part of another.
func (k Known) covers(part Rule) bool {
	in := func(list []string, v string) bool { return slices.Contains(list, v) || slices.Contains(list, "*") }
	return slices.ContainsFunc(k.Rules, func(x Rule) bool {
		switch {
		case !in(x.Verbs, part.Verbs[0]):
			return false
		case len(part.NonResourceURLs) > 0:
			path := part.NonResourceURLs[0]
			return slices.ContainsFunc(x.NonResourceURLs, func(url string) bool {
				begin, open := strings.CutSuffix(url, "*")
				return url == path || open && strings.HasPrefix(path, begin)
			})
		}
		_, sub, _ := strings.Cut(part.Resources[0], "/")
		return in(x.APIGroups, part.APIGroups[0]) && (in(x.Resources, part.Resources[0]) || sub != "" && slices.Contains(x.Resources, "*/"+sub)) &&
			(len(x.ResourceNames) == 0 || len(part.ResourceNames) > 0 && slices.Contains(x.ResourceNames, part.ResourceNames[0]))
	})
}

// String is the rule in words: "get, list on secrets".
func (x Rule) String() string {
	on := slices.Clone(x.NonResourceURLs)
	for _, resource := range x.Resources {
		for _, group := range x.APIGroups {
			if group == "" {
				on = append(on, resource)
				continue
			}
			on = append(on, resource+"."+group)
		}
	}
	out := strings.Join(x.Verbs, ", ") + " on " + strings.Join(on, ", ")
	if len(x.ResourceNames) > 0 {
		out += " (" + strings.Join(x.ResourceNames, ", ") + ")"
	}
	return out
}

// let is the right that is enough, in words.
func (g Grant) let() string {
	return fmt.Sprintf("%s on %s.%s (%s)", g.Verb, g.Resource, g.Group, g.Name)
}

// line is what is needed for the grant.
func (g Grant) line() string {
	where := " in the cluster"
	if g.Namespace != "" {
		where = " in namespace " + g.Namespace
	}
	if g.Full || len(g.Rules) == 0 {
		return g.let() + where + ", for " + g.Object.String()
	}
	return g.told() + where + ", which " + g.Object.String() + " gives"
}

// told are the rules in words.
func (g Grant) told() string {
	var list []string
	for _, r := range g.Rules {
		list = append(list, r.String())
	}
	if more := len(list) - maxUnconfirmed; more > 0 {
		list = append(list[:maxUnconfirmed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, "; ")
}

func (g Grant) finding() diag.Finding {
	f := diag.Errorf(Code, "you may not write %s: it gives rights that you do not have yourself", g.Object)
	f.Object, f.Why, f.Fix = g.Object.String(), g.line(), "grant these, or "+g.let()+"; "+Roles
	return f
}
