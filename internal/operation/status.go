package operation

import (
	"context"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/exitcode"
	"hawser.dev/hawser/internal/fleetplan"
)

// Observer tells what is installed: the engine.
type Observer interface {
	// Status tells what is installed and how it is; the report is there also beside an error.
	Status(ctx context.Context, req engine.Request) (*fleetplan.StatusReport, error)
	Lister
}

// Status is what is known of every bundle that a request stands for, as one report; the error is the worst there is.
func Status(ctx context.Context, o Observer, req engine.Request, names func(context.Context, engine.Request) ([]string, error)) (*fleetplan.StatusReport, error) {
	r, err := o.Status(ctx, req)
	all := Names(ctx, req, err, names)
	if len(all) == 0 {
		if r != nil {
			meant(ctx, o, req, err, r.Findings)
		}
		return r, err
	}
	out := &fleetplan.StatusReport{V: diag.DocumentVersion}
	var worst error
	for _, name := range all {
		req.Bundle = name
		r, err := o.Status(ctx, req)
		if r == nil {
			return nil, err
		}
		if out.Join(r); err != nil && (worst == nil || exitcode.Worse(exitcode.Of(worst), exitcode.Of(err)) != exitcode.Of(worst)) {
			worst = err
		}
	}
	return out, worst
}
