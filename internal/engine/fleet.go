package engine

import (
	"context"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rights"
	"hawser.dev/hawser/internal/rollout"
)

// Clusters lists the selected clusters and how each is reached; nobody is contacted.
func (e *Engine) Clusters(ctx context.Context, req Request) (*fleetplan.FleetReport, error) {
	r, err := e.load(ctx, req, false)
	if err != nil {
		return nil, err
	}
	waves := map[string]int{}
	if r.fleet != nil {
		sch, fs := rollout.NewSchedule(r.fleet.Rollout, r.all, nil)
		if fs.HasErrors() {
			return nil, fs.Err()
		}
		for _, m := range sch.Members {
			waves[m.Cluster] = m.Wave
		}
	}
	out := &fleetplan.FleetReport{V: diag.DocumentVersion, Fleet: r.fleetName()}
	for _, t := range r.targets {
		access, fs := r.Resolve(t.Cluster, req.Access)
		row := fleetplan.FleetRow{Cluster: t.Cluster.Name, Group: t.Cluster.Group, Wave: waves[t.Cluster.Name], Labels: t.Cluster.Labels,
			Access: access.Describe(), Server: access.Server, UID: t.Cluster.UID}
		if fs.HasErrors() {
			row.Problem = fs.Errors()[0].String()
			out.Findings = append(out.Findings, fs.OnCluster(t.Cluster.Name)...)
		}
		out.Clusters = append(out.Clusters, row)
	}
	return out, out.Findings.Err()
}

// Check connects to every selected cluster and asks which rights are missing there: those of the bundle that is given, else those that any bundle needs.
func (e *Engine) Check(ctx context.Context, req Request) (*fleetplan.FleetReport, error) {
	var fp *Prepared
	if req.HasBundles() {
		var err error
		req.Reads = true
		if fp, err = e.Plan(ctx, req); err != nil {
			return nil, err
		}
		defer fp.run.close()
	}
	r, err := e.load(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.aloof = true
	_ = r.connect(ctx, false) // what it finds is told below, of each cluster
	out := &fleetplan.FleetReport{V: diag.DocumentVersion, Fleet: r.fleetName()}
	for _, t := range r.targets {
		row := fleetplan.FleetRow{Cluster: t.Cluster.Name, Group: t.Cluster.Group, Labels: t.Cluster.Labels, Access: t.access.Describe(),
			Server: t.access.Server, Version: t.Facts.Version, UID: t.Facts.Identity().String(), Problem: t.unreachable, Unreachable: t.unreachable != "" && t.denied == nil}
		if t.findings.HasErrors() {
			row.Problem = t.findings.Errors()[0].What
		}
		var lacks diag.Findings
		switch w := fp.work(t.Cluster.Name); {
		case w != nil:
			lacks = w.lacks(ctx)
		case fp == nil && row.Problem == "" && t.session != nil:
			lacks = t.session.ReviewWhole(ctx, rights.AnyName, nil, nil)
		}
		row.Missing, out.Findings = rights.Texts(lacks.Errors()), append(out.Findings, lacks...)
		out.Findings = append(out.Findings, t.findings...)
		out.Clusters = append(out.Clusters, row)
		switch {
		case t.denied != nil:
			out.Findings = append(out.Findings, *t.denied)
		case t.unreachable != "":
			out.Findings = append(out.Findings, fleet.NoAnswer(t.Cluster.Name, t.unreachable))
		}
	}
	out.Findings = r.distinct(out.Findings).Alike()
	return out, out.Findings.Err()
}

// lacks are the rights that are missing for a plan, and those for deleting it as warnings; where there is none for what may not even be looked at, those for all that
// is declared and recorded.
func (w *work) lacks(ctx context.Context) diag.Findings {
	t := w.target
	deletes := t.session.Undeletable(ctx, rights.Lasting(w.set.Desired))
	if !w.Plan.Findings.HasErrors() {
		return append(deletes, t.session.Review(ctx, w.Plan, w.set.Bodies)...)
	}
	return append(deletes, t.session.ReviewWhole(ctx, w.set.Owner, append(plan.Refs(w.set.Desired), t.Record.Refs()...), w.set.Bodies)...)
}

// work is the plan's work on a cluster, nil where there is none.
func (p *Prepared) work(cluster string) *work {
	if p == nil {
		return nil
	}
	return p.works[cluster]
}

// Values reads the runtime values of every selected cluster.
func (e *Engine) Values(ctx context.Context, req Request) (*fleetplan.FleetReport, error) {
	r, err := e.load(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.connect(ctx, true); err != nil {
		return nil, err
	}
	out := &fleetplan.FleetReport{V: diag.DocumentVersion, Fleet: r.fleetName()}
	var partial error
	for _, t := range r.targets {
		row := fleetplan.FleetRow{Cluster: t.Cluster.Name, Group: t.Cluster.Group, Access: t.access.Describe(), Server: t.Facts.Server,
			Version: t.Facts.Version, UID: t.Facts.Identity().String(), Problem: t.unreachable, Unreachable: t.unreachable != "", Values: fleet.Shown(t.Facts.Values, false)}
		if t.unreachable != "" {
			partial = fleetplan.ErrPartial
		}
		out.Clusters = append(out.Clusters, row)
	}
	return out, partial
}

// Snapshot is the facts of the selected clusters, for vet and build without them. Secret values are left out.
func (e *Engine) Snapshot(ctx context.Context, req Request) (*fleet.Snapshot, error) {
	r, err := e.load(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := r.connect(ctx, true); err != nil {
		return nil, err
	}
	snap := &fleet.Snapshot{V: 1, Fleet: r.fleetName()}
	for _, t := range r.targets {
		if t.unreachable != "" {
			return nil, diag.Findings{fleet.NoAnswer(t.Cluster.Name, t.unreachable)}.Err()
		}
		facts := t.Facts
		facts.Values = fleet.Shown(t.Facts.Values, true)
		if err := r.schemas(t).Pack(ctx, &facts, snap).OnCluster(t.Cluster.Name); len(err) > 0 {
			r.emit(fleetplan.Event{Type: fleetplan.EventNotice, Cluster: t.Cluster.Name, Message: err[0].String()})
		}
		snap.Clusters = append(snap.Clusters, facts)
	}
	return snap, nil
}
