package engine

import (
	"context"

	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/fleetplan"
)

// Renew makes a plan anew when the bundles before it (Request.Written) have been carried out, in place of the one that was
// shown. It refuses unless that does what was shown, but for what was said to be known only then.
func (e *Engine) Renew(ctx context.Context, shown *Prepared, req Request) (*Prepared, error) {
	shown.Close()
	again := shown.run.req
	again.ConfirmDelete, again.Before, again.done, again.absent = req.ConfirmDelete, nil, true, shown.Absent()
	again.former = map[string]*desired.Made{}
	for name, w := range shown.works {
		again.former[name] = &w.target.Made
	}
	now, err := e.Plan(ctx, again)
	if err != nil {
		return nil, err
	}
	if findings := now.Renews(shown.promised(), now.promised(), req.Written, req.ConfirmDelete != nil); len(findings) > 0 {
		now.Close()
		return nil, &fleetplan.RefusedError{Findings: findings}
	}
	now.run.decided = shown.run.decided
	return now, nil
}

// Close ends what a plan holds open that is not applied.
func (p *Prepared) Close() {
	if p.run != nil {
		p.run.close()
	}
}
