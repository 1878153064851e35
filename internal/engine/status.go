package engine

import (
	"context"
	"fmt"
	"slices"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Status reads records and live objects of one bundle (or of every bundle, when none is named) on the selected
// clusters. It reads no runtime values and renders nothing. The error wraps ErrNotReady when anything is not ready,
// ErrPartial when a cluster did not answer or its records could not be read; a named bundle that a selected cluster does
// not have is a finding.
func (e *Engine) Status(ctx context.Context, req Request) (*fleetplan.StatusReport, error) {
	r, name, err := e.installed(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.reading = true
	report := &fleetplan.StatusReport{V: 1, Bundle: name}
	rows := make([][]fleetplan.ClusterStatus, len(r.targets))
	each(len(r.targets), 0, func(i int) { rows[i] = r.statusOf(ctx, r.targets[i], name) })
	for i, t := range r.targets {
		report.Findings = append(report.Findings, t.findings...)
		report.Clusters = append(report.Clusters, rows[i]...)
	}
	report.MarkSkipped()
	return report, report.Verdict()
}

func (r *run) statusOf(ctx context.Context, t *target, name string) []fleetplan.ClusterStatus {
	base := fleetplan.ClusterStatus{Cluster: t.cluster.Name, Group: t.cluster.Group, Server: t.facts.Server, Unreachable: t.unreachable}
	if t.session == nil {
		return []fleetplan.ClusterStatus{base}
	}
	records, unknown := r.recordsOf(ctx, t, name)
	if base.Unknown = unknown; len(records) == 0 {
		if name != "" && unknown == "" {
			r.withoutRecord(ctx, t, name, &base)
		}
		return []fleetplan.ClusterStatus{base}
	}
	var rows []fleetplan.ClusterStatus
	if unknown != "" {
		rows = append(rows, base) // what cannot be read is a row of its own
	}
	base.Unknown = ""
	for _, rec := range records {
		row := base.With(rec, release.WhoIsAt(ctx, t.store, rec))
		row = row.Holding(r.instances(ctx, t, rec))
		t.find(plan.Incomplete(rec.Bundle, rec.Unseen)...)
		rows = append(rows, row)
	}
	return rows
}

// withoutRecord tells of a bundle that has no record on a cluster whether its objects are there all the same.
func (r *run) withoutRecord(ctx context.Context, t *target, name string, row *fleetplan.ClusterStatus) {
	namespaces, nowhere := r.wanted(ctx, t)
	row.Lost, row.Unknown = t.session.Marked(ctx, object.OwnerID("", "", name), namespaces...).Standing()
	if row.Lost != "" {
		t.find(plan.LostAtStatus(name, row.Lost))
	} else if nowhere && !r.lock.Delivered(r.fleetName(), t.cluster.Name, name) {
		row.NotPlaced, row.Unknown = true, ""
	}
}

// recordsOf are the current records of a bundle, or with "" of all; unknown says why some cannot be read.
func (r *run) recordsOf(ctx context.Context, t *target, name string) (records []release.Record, unknown string) {
	if name == "" {
		records, err := t.store.Bundles(ctx)
		if err != nil {
			unknown = r.redact(err.Error())
		}
		return records, unknown
	}
	if r.readRecord(ctx, t, object.OwnerID("", "", name)); t.record != nil {
		records = []release.Record{*t.record}
	}
	return records, t.unread
}

// List tells what was delivered to the selected clusters as the records say; no object is looked at. The error wraps
// ErrPartial when a cluster did not answer or its records could not be read.
func (e *Engine) List(ctx context.Context, req Request) (*release.Listing, error) {
	r, name, err := e.installed(ctx, req, false)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.reading = true
	out := &release.Listing{V: 1, Clusters: make([]release.ClusterListing, len(r.targets))}
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		row := release.ClusterListing{Cluster: t.cluster.Name, Group: t.cluster.Group, Unreachable: t.unreachable}
		if t.session != nil {
			var records []release.Record
			records, row.Unknown = r.recordsOf(ctx, t, name)
			for _, rec := range records {
				row.Bundles = append(row.Bundles, rec.List(release.WhoIsAt(ctx, t.store, rec)))
			}
		}
		out.Clusters[i] = row
	})
	for _, t := range r.targets {
		out.Findings = append(out.Findings, t.findings...)
	}
	if out.Findings = out.Findings.Sorted(); out.Findings.HasErrors() {
		return out, out.Findings.Err()
	}
	if n := out.Unknown(); n > 0 {
		return out, fmt.Errorf("%d clusters are unknown: %w", n, fleetplan.ErrPartial)
	}
	return out, nil
}

// instances are the states of a record's instances: health and drift of everything its inventory names.
func (r *run) instances(ctx context.Context, t *target, rec release.Record) []fleetplan.InstanceStatus {
	rules := map[string]health.Rules{}
	for _, o := range rec.Inventory {
		rules[o.Instance] = health.Rules{Checks: rec.Checks[o.Instance], Checker: r.Checker}
	}
	rec.Inventory = slices.DeleteFunc(slices.Clone(rec.Inventory), func(o plan.Owned) bool { return o.Hook != nil })
	states, fs := t.session.Health(ctx, rec.Owner, rec.Inventory, rules)
	t.find(fs...)
	t.find(r.hideInStatus(ctx, t, rec, states)...)
	obs, fs := t.session.Observe(ctx, cluster.ObserveRequest{Owner: rec.Owner, Owned: rec.Inventory})
	t.find(fs...)
	for _, o := range rec.Inventory {
		if live := obs.Live[o.Ref]; live.Found && live.Terminating {
			states[o.Ref] = t.session.Leaving(ctx, o.Ref, live)
		}
	}
	return fleetplan.InstancesOf(rec, r.declaredOf(ctx, t, rec, obs), obs.Live, states)
}

// declaredOf are the recorded objects, where one of them moved: they say which fields were ours. Where they cannot be read
// no field is named.
func (r *run) declaredOf(ctx context.Context, t *target, rec release.Record, obs cluster.Observation) map[object.Ref]object.Object {
	if !slices.ContainsFunc(rec.Inventory, func(o plan.Owned) bool { return obs.Live[o.Ref].Managed != nil }) {
		return nil
	}
	objs, err := t.store.Objects(ctx, rec)
	if err != nil {
		return nil
	}
	r.remember(objs)
	declared := make(map[object.Ref]object.Object, len(objs))
	for _, o := range objs {
		declared[o.Ref()] = o
	}
	return declared
}
