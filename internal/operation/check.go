package operation

import (
	"context"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
)

// Checker tells which clusters answer, and which rights are missing there: the engine.
type Checker interface {
	// Check tells that of one bundle, or of none; the report is there also beside an error.
	Check(ctx context.Context, req engine.Request) (*fleetplan.FleetReport, error)
}

// Check is what is missing for every bundle that a request stands for, as one report.
func Check(ctx context.Context, c Checker, req engine.Request, names func(context.Context, engine.Request) ([]string, error)) (*fleetplan.FleetReport, error) {
	r, err := c.Check(ctx, req)
	all := Names(ctx, req, err, names)
	if len(all) == 0 {
		return r, err
	}
	out, told := &fleetplan.FleetReport{V: diag.DocumentVersion}, false
	var failed error
	for _, name := range all {
		req.Bundle = name
		r, err := c.Check(ctx, req)
		if r != nil {
			out.Join(r)
			told = true
			continue
		}
		failed = err
		out.Findings = append(out.Findings, diag.From(err, "check")...)
	}
	if !told {
		return nil, failed
	}
	return out, out.Findings.Err()
}
