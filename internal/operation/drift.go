package operation

import (
	"context"
	"errors"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/drift"
	"hawser.dev/hawser/internal/engine"
	"hawser.dev/hawser/internal/fleetplan"
)

// Drifter plans what puts releases right: the engine.
type Drifter interface {
	Lister
	Plans
}

// Drift plans what puts the named bundles right, with no names all of the request's fleet that the selected clusters have. The error
// is for what prevents it; a named bundle that no cluster has is one.
func Drift(ctx context.Context, d Drifter, req engine.Request, names []string) (Bundles, error) {
	var others diag.Findings
	if len(names) == 0 {
		l, err := d.List(ctx, req)
		if err != nil && (l == nil || !errors.Is(err, fleetplan.ErrPartial)) {
			return nil, err
		}
		if names, others = l.Own(); len(names) == 0 {
			for i := range others {
				others[i].Severity = diag.Error
			}
			return nil, errors.Join(others.Err(), err)
		}
	}
	var out Bundles
	names = slices.Compact(slices.Clone(names))
	several := len(names) > 1
	for _, name := range names {
		r := req
		if r.Bundle = name; several { // the number is that of all
			r.ConfirmDelete = nil
		}
		p, err := d.Plan(ctx, r.For(engine.Correct))
		if err != nil {
			out.Close()
			return nil, err
		}
		out = append(out, &Bundle{Name: name, Request: r, Plan: p})
	}
	if several {
		out.confirm(req.ConfirmDelete)
	}
	out[0].Plan.Findings = append(out[0].Plan.Findings, others...)
	installed := func() []string {
		if l, _ := d.List(ctx, req); l != nil { // what there is beside an error is near enough
			return l.Bundles()
		}
		return nil
	}
	if err := out.Drifted().NotInstalled(installed).Err(); err != nil {
		out.Close()
		return nil, err
	}
	return out, nil
}

// Drifted is what the plans would put right.
func (bs Bundles) Drifted() *drift.Report {
	var plans []*fleetplan.FleetPlan
	for _, p := range bs.plans() {
		plans = append(plans, p.FleetPlan)
	}
	return drift.Of(plans)
}
