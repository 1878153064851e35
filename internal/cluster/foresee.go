package cluster

import (
	"context"
	"net/http"

	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/rights"
)

// Foresee begins to ask for the rights in some namespaces ("" is the cluster), for a Review that follows at once. It does
// not wait: Foreseen does.
func (s *Session) Foresee(ctx context.Context, namespaces []string) {
	for _, ns := range namespaces {
		s.ahead.Ask(ctx, ns, s.Now(), func(ctx context.Context) (rights.Known, error) { return s.rules(ctx, ns) })
	}
}

// Foreseen waits until nothing is asked ahead any more: after the end of the context of Foresee, or soon.
func (s *Session) Foreseen() { s.ahead.Wait() }

// rules are what we may do in a namespace. The error says that nothing is known.
func (s *Session) rules(ctx context.Context, ns string) (rights.Known, error) {
	if ns == "" {
		ns = nowhere
	}
	var answer struct {
		Status struct {
			ResourceRules    []rights.Rule `json:"resourceRules"`
			NonResourceRules []rights.Rule `json:"nonResourceRules"`
			Incomplete       bool          `json:"incomplete"`
		} `json:"status"`
	}
	_, err := s.Do(ctx, kubeapi.Request{Method: http.MethodPost, Path: reviewPath + "selfsubjectrulesreviews", Into: &answer,
		Body: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": map[string]any{"namespace": ns}}})
	return rights.Known{Rules: append(answer.Status.ResourceRules, answer.Status.NonResourceRules...), Whole: err == nil && !answer.Status.Incomplete}, err
}
