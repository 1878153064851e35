package cluster

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"hawser.dev/hawser/internal/broke"
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
func (s *Session) Review(ctx context.Context, p *plan.Plan) diag.Findings {
	return s.review(ctx, rights.Needed(p, s.resource))
}

// ReviewWhole finds the rights that everything needs which may be done with a bundle's objects, and we do not have.
func (s *Session) ReviewWhole(ctx context.Context, owner string, refs []object.Ref) diag.Findings {
	return s.review(ctx, rights.Whole(owner, refs, s.resource))
}

// resource is that of a kind as the cluster serves it, "" where it does not.
func (s *Session) resource(r object.Ref) string {
	k, _ := s.ByGroupKind(r.GroupKind())
	return k.Resource
}

func (s *Session) review(ctx context.Context, all []rights.Right) diag.Findings {
	return rights.Missing(s.Name(), s.without(ctx, all))
}

// without returns those of the rights that we do not have.
func (s *Session) without(ctx context.Context, all []rights.Right) []rights.Right {
	byNamespace := map[string][]rights.Right{}
	for _, r := range all {
		byNamespace[r.Namespace] = append(byNamespace[r.Namespace], r)
	}
	var mu sync.Mutex
	var wg broke.Group
	var missing []rights.Right
	for ns, needed := range byNamespace {
		wg.Go(func() {
			found := s.missing(ctx, ns, needed)
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, found...)
		})
	}
	wg.Wait()
	return missing
}

// missing returns those of the rights in one namespace that we do not have.
func (s *Session) missing(ctx context.Context, ns string, needed []rights.Right) []rights.Right {
	known, ok := s.ahead.Take(ctx, ns, s.Now())
	if !ok {
		known, _ = s.rules(ctx, ns)
	}
	var out []rights.Right
	for _, r := range needed {
		if !slices.ContainsFunc(known.Rules, func(x rights.Rule) bool { return x.Allows(r) }) {
			out = append(out, r)
		}
	}
	if known.Whole || len(out) == 0 {
		return out
	}
	return s.askEach(ctx, out)
}

// askEach asks for rights.Rights one by one: first for all names of the resource, so that a hundred objects of a kind cost
// one request.
func (s *Session) askEach(ctx context.Context, asked []rights.Right) []rights.Right {
	groups := map[rights.Right][]rights.Right{}
	for _, r := range asked {
		all := r
		all.Name = ""
		groups[all] = append(groups[all], r)
	}
	var mu sync.Mutex
	var wg broke.Group
	var out []rights.Right
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
