package cluster

import (
	"context"
	"net/http"
	"time"

	"hawser.dev/hawser/internal/rights"
)

// foreseenFor is how long what was asked ahead of a Review is good for.
const foreseenFor = 3 * time.Second

// reviewed are the rules of one namespace, asked for ahead.
type reviewed struct {
	done  chan struct{}
	at    time.Time
	rules []rights.Rule
	whole bool // there are no others
	err   error
}

// Foresee begins to ask for the rights in some namespaces ("" is the cluster), for a Review that follows at once. It does
// not wait.
func (s *Session) Foresee(ctx context.Context, namespaces []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ahead == nil {
		s.ahead = map[string]*reviewed{}
	}
	for _, ns := range namespaces {
		a := &reviewed{done: make(chan struct{}), at: time.Now()}
		s.ahead[ns] = a
		go func() {
			defer close(a.done)
			a.rules, a.whole, a.err = s.rules(ctx, ns)
		}()
	}
}

// foreseen is what was asked ahead for a namespace, once; nil when there is nothing, nothing fresh, or no answer.
func (s *Session) foreseen(ctx context.Context, ns string) *reviewed {
	s.mu.Lock()
	a := s.ahead[ns]
	delete(s.ahead, ns)
	s.mu.Unlock()
	if a == nil || time.Since(a.at) > foreseenFor {
		return nil
	}
	select {
	case <-a.done:
	case <-ctx.Done():
		return nil
	}
	if a.err != nil {
		return nil
	}
	return a
}

// rules are what we may do in a namespace, and whether that is all. The error says that nothing is known.
func (s *Session) rules(ctx context.Context, ns string) ([]rights.Rule, bool, error) {
	if ns == "" {
		ns = nowhere
	}
	var answer struct {
		Status struct {
			ResourceRules []rights.Rule `json:"resourceRules"`
			Incomplete    bool          `json:"incomplete"`
		} `json:"status"`
	}
	_, err := s.do(ctx, call{method: http.MethodPost, path: reviewPath + "selfsubjectrulesreviews", into: &answer,
		body: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": map[string]any{"namespace": ns}}})
	return answer.Status.ResourceRules, err == nil && !answer.Status.Incomplete, err
}
