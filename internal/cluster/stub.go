package cluster

import (
	"context"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Review finds missing rights.
func (s *Session) Review(context.Context, *plan.Plan) diag.Findings { return nil }

// Execute carries a plan out.
func (s *Session) Execute(context.Context, ExecuteRequest) ExecuteResult { return ExecuteResult{} }

// Health is the state of owned objects.
func (s *Session) Health(context.Context, string, []plan.Owned, map[string]health.Rules) (map[object.Ref]health.Status, diag.Findings) {
	return nil, nil
}
