package cluster

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// nowhere is a namespace that nobody has, so that it has no role bindings (its name is too long for one): the rules
// that hold there are those that hold in the whole cluster, which is what cluster-scoped objects need.
const nowhere = "hawser-there-is-no-such-namespace-its-name-is-longer-than-sixty-three"

const reviewPath = "/apis/authorization.k8s.io/v1/"

// right is one permission that a plan needs.
type right struct {
	verb, group, resource, kind, namespace, name string
}

// rule is one of the rules a SelfSubjectRulesReview answers with.
type rule struct {
	Verbs         []string `json:"verbs"`
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames"`
}

// Review finds the rights a plan needs and we do not have, before anything is written. It asks for all rules of each
// namespace (one request each, one more for the cluster); where the server's answer is incomplete, for every right.
// A review that cannot be had finds nothing: the write will say it.
func (s *Session) Review(ctx context.Context, p *plan.Plan) diag.Findings {
	byNamespace := map[string][]right{}
	for _, r := range s.rights(p) {
		byNamespace[r.namespace] = append(byNamespace[r.namespace], r)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var missing []right
	for ns, needed := range byNamespace {
		wg.Go(func() {
			found := s.missing(ctx, ns, needed)
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, found...)
		})
	}
	wg.Wait()
	return s.rightFindings(missing)
}

// rights are the distinct permissions of a plan. An apply that creates is authorised as patch and as create.
func (s *Session) rights(p *plan.Plan) []right {
	seen := map[right]bool{}
	var out []right
	for _, ch := range p.Changes {
		k, ok := s.ByGroupKind(ch.Ref.GroupKind())
		if !ok {
			k = KindInfo{Resource: strings.ToLower(ch.Ref.Kind) + "s"} // comes with this plan
			if ch.Ref.Custom() {
				continue // its name is only known when it is there
			}
		}
		for _, verb := range verbsOf(ch) {
			r := right{verb, ch.Ref.Group, k.Resource, ch.Ref.Kind, ch.Ref.Namespace, ch.Ref.Name}
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

// missing returns those of the rights in one namespace that we do not have.
func (s *Session) missing(ctx context.Context, ns string, needed []right) []right {
	ask := ns
	if ask == "" {
		ask = nowhere
	}
	var answer struct {
		Status struct {
			ResourceRules []rule `json:"resourceRules"`
			Incomplete    bool   `json:"incomplete"`
		} `json:"status"`
	}
	_, err := s.do(ctx, call{method: http.MethodPost, path: reviewPath + "selfsubjectrulesreviews", into: &answer,
		body: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": map[string]any{"namespace": ask}}})
	var out []right
	for _, r := range needed {
		if !slices.ContainsFunc(answer.Status.ResourceRules, func(x rule) bool { return x.allows(r) }) {
			out = append(out, r)
		}
	}
	if err == nil && !answer.Status.Incomplete || len(out) == 0 {
		return out
	}
	return s.askEach(ctx, out)
}

func (x rule) allows(r right) bool {
	in := func(list []string, v string) bool { return slices.Contains(list, v) || slices.Contains(list, "*") }
	return in(x.Verbs, r.verb) && in(x.APIGroups, r.group) && in(x.Resources, r.resource) &&
		(len(x.ResourceNames) == 0 || slices.Contains(x.ResourceNames, r.name))
}

// askEach asks for rights one by one: first for all names of the resource, so that a hundred objects of a kind cost
// one request.
func (s *Session) askEach(ctx context.Context, rights []right) []right {
	groups := map[right][]right{}
	for _, r := range rights {
		all := r
		all.name = ""
		groups[all] = append(groups[all], r)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var out []right
	for all, list := range groups {
		wg.Go(func() {
			if s.allowed(ctx, all) {
				return
			}
			for _, r := range list {
				if !s.allowed(ctx, r) {
					mu.Lock()
					out = append(out, r)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return out
}

func (s *Session) allowed(ctx context.Context, r right) bool {
	var answer struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	_, err := s.do(ctx, call{method: http.MethodPost, path: reviewPath + "selfsubjectaccessreviews", into: &answer,
		body: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{
			"resourceAttributes": map[string]any{"verb": r.verb, "group": r.group, "resource": r.resource,
				"namespace": r.namespace, "name": r.name}}}})
	return err != nil || answer.Status.Allowed
}

// rightFindings says which rights are missing, one finding per kind and namespace.
func (s *Session) rightFindings(missing []right) diag.Findings {
	type place struct{ group, resource, kind, namespace string }
	verbs := map[place][]string{}
	for _, r := range missing {
		p := place{r.group, r.resource, r.kind, r.namespace}
		if !slices.Contains(verbs[p], r.verb) {
			verbs[p] = append(verbs[p], r.verb)
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
		f.Cluster, f.Object = s.cfg.Name, object.Ref{Group: p.group, Kind: p.kind, Namespace: p.namespace, Name: "*"}.String()
		f.Fix = "grant " + strings.Join(list, ", ") + " on " + resource
		out = append(out, f)
	}
	return out.Sorted()
}
