package cluster

import (
	"context"
	"net/http"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rights"
)

// nowhere is a namespace that nobody has, so that it has no role bindings (its name is too long for one): the rules
// that hold there are those that hold in the whole cluster, which is what cluster-scoped objects need.
const nowhere = "hawser-there-is-no-such-namespace-its-name-is-longer-than-sixty-three"

const reviewPath = "/apis/authorization.k8s.io/v1/"

// Review finds the rights a plan, its record and its lock need and we do not have, before anything is written. It asks for all rules of each
// namespace (one request each, one more for the cluster); where the server's answer is incomplete, for every right.
// A review that cannot be had finds nothing: the write will say it.
func (s *Session) Review(ctx context.Context, p *plan.Plan, bodies map[object.Ref]object.Object) diag.Findings {
	return s.review(ctx, rights.Needed(p, s.resource), rights.GivenBy(p, bodies))
}

// ReviewWhole finds the rights that everything needs which may be done with a bundle's objects, and we do not have.
func (s *Session) ReviewWhole(ctx context.Context, owner string, refs []object.Ref, bodies map[object.Ref]object.Object) diag.Findings {
	return s.review(ctx, rights.Whole(owner, refs, s.resource), rights.Given(bodies))
}

// Giving warns of what a plan gives in the cluster that we may not give: one request for each namespace in which it does, none where it is not wanted.
func (s *Session) Giving(ctx context.Context, p *plan.Plan, bodies map[object.Ref]object.Object, wanted bool) diag.Findings {
	if !wanted {
		return nil
	}
	_, lacking := s.asker().Without(ctx, nil, rights.GivenBy(p, bodies))
	return rights.Missing(s.Name(), nil, lacking...).As(diag.Warning)
}

// Undeletable warns of the Namespaces and definitions among some in which we may not look at everything, which is done before they are deleted.
func (s *Session) Undeletable(ctx context.Context, holders []object.Ref) diag.Findings {
	var all []rights.Right
	kinds, _ := s.Kinds()
	for _, k := range kinds {
		if inside(k) {
			all = append(all, rights.Right{Verb: "list", Group: k.Group, Resource: k.Resource, Kind: k.Kind})
		}
	}
	return s.asker().Undeletable(ctx, holders, all).OnCluster(s.Name())
}

// resource is that of a kind as the cluster serves it, "" where it does not.
func (s *Session) resource(r object.Ref) string {
	k, _ := s.ByGroupKind(r.GroupKind())
	return k.Resource
}

func (s *Session) review(ctx context.Context, all []rights.Right, given []rights.Grant) diag.Findings {
	missing, lacking := s.asker().Without(ctx, all, given)
	return rights.Missing(s.Name(), missing, lacking...)
}

// without returns those of the rights that we do not have.
func (s *Session) without(ctx context.Context, all []rights.Right) []rights.Right {
	missing, _ := s.asker().Without(ctx, all, nil)
	return missing
}

func (s *Session) asker() rights.Asker {
	return rights.Asker{Known: s.known, Allowed: s.allowed, Role: s.role}
}

func (s *Session) known(ctx context.Context, ns string) rights.Known {
	known, ok := s.ahead.Take(ctx, ns, s.Now())
	if !ok {
		known, _ = s.rules(ctx, ns)
	}
	return known
}

// role are the rules of a role as the cluster has it.
func (s *Session) role(ctx context.Context, r object.Ref) (live rights.Role, err error) {
	k, _ := s.ByGroupKind(r.GroupKind())
	_, err = s.Do(ctx, kubeapi.Request{Method: http.MethodGet, Path: k.Path("v1", r.Namespace, r.Name), Into: &live})
	return live, err
}

func (s *Session) allowed(ctx context.Context, r rights.Right) bool {
	var answer struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	_, err := s.Do(ctx, kubeapi.Request{Method: http.MethodPost, Path: reviewPath + "selfsubjectaccessreviews", Into: &answer,
		Body: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{
			"resourceAttributes": map[string]any{"verb": r.Verb, "group": r.Group, "resource": r.Resource,
				"namespace": r.Namespace, "name": r.Name}}}})
	return err != nil || answer.Status.Allowed
}
