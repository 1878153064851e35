package engine

import (
	"context"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/retirement"
)

// left says which clusters are no longer in the fleet while bundles run there.
func (r *run) left() diag.Findings {
	if r.fleet == nil || r.req.Retire != "" {
		return nil
	}
	var names, uids []string
	for _, c := range r.all {
		names, uids = append(names, c.Name), append(uids, c.UID)
	}
	for _, t := range r.targets {
		uids = append(uids, t.Facts.UID)
	}
	return retirement.Left(r.input.Lock, r.input.Path, r.fleetName(), names, uids, r.input.Paths.Files, r.input.Paths.FleetFiles)
}

// retired makes the cluster to retire the only one of the run.
func (r *run) retired() diag.Findings {
	c, findings := retirement.Find(r.input.Lock, r.input.Path, r.fleet, retirement.Request{Cluster: r.req.Retire, Context: r.req.Access.Context, Keep: r.req.Keep})
	if findings.HasErrors() {
		return findings
	}
	alone := *r.fleet
	alone.Rollout = nil // it is in no wave any more
	r.fleet, r.all, r.req.Access.Context = &alone, []fleet.Cluster{{ClusterSpec: c}}, ""
	return nil
}

// Retiring tells what runs on the cluster that Request.Retire names. It asks the cluster's records; with Request.Keep it
// contacts nobody, and tells what hawser.lock says.
func (e *Engine) Retiring(ctx context.Context, req Request) (*retirement.Retirement, error) {
	r, err := e.load(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	place, known := r.input.Lock.Places[r.fleetName()][req.Retire]
	out := &retirement.Retirement{V: diag.DocumentVersion, Fleet: r.fleetName(), Cluster: req.Retire, UID: r.input.Known(req.Retire).UID,
		Bundles: slices.Clone(place.Bundles), Known: known, Lock: r.input.Path}
	if req.Keep {
		return out, nil
	}
	if err := r.connect(ctx, false); err != nil {
		return nil, retirement.Advised(diag.From(err, "access"), req.Retire).Err()
	}
	t := r.targets[0]
	if t.unreachable != "" {
		return nil, retirement.Unreachable(req.Retire, t.unreachable).Err()
	}
	out.Access = t.access.Describe()
	var records []release.Record
	err = t.Store.Bundles(ctx, func(record release.Record) error {
		if record.Inventory = nil; record.Fleet == out.Fleet && out.Takes(record.From(), r.input.Origin(record.Bundle), place.Bundles) {
			records = append(records, record)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", req.Retire, err)
	}
	out.Bundles = release.InOrder(records)
	findings := out.Nobodys()
	for _, name := range place.Bundles {
		if !slices.Contains(out.Bundles, name) && out.Others[name] == "" {
			findings = append(findings, r.unrecorded(ctx, name, r.owner(name), plan.Options{Deleting: true})...)
		}
	}
	return out, findings.Err()
}

// Retire forgets the cluster that Request.Retire names in hawser.lock.
func (e *Engine) Retire(ctx context.Context, req Request) error {
	req.Keep = true
	r, err := e.load(ctx, req, false)
	if err != nil {
		return err
	}
	return r.input.Forget(req.Retire)
}

// delivered keeps in hawser.lock where the bundle runs after this run, so that a cluster that leaves the fleet with it is
// named. A file that cannot be written is only said.
func (r *run) delivered(out *fleetplan.Outcome) {
	err := r.input.KeepPlaces(func(file lockfile.File) bool {
		return out.Places(file, r.fleetName(), func(name string) (lockfile.Place, bool) {
			t := r.target(name)
			if t == nil || t.Cluster.Implicit {
				return lockfile.Place{}, false
			}
			return r.input.Place(t.Cluster, t.access.Context), true
		})
	})
	if err != nil {
		r.emit(fleetplan.Event{Type: fleetplan.EventNotice, Message: "where the bundle runs is not kept: " + err.Error()})
	}
}
