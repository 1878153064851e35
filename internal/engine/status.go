package engine

import (
	"context"
	"slices"
	"strings"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/leftover"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Status reads records and live objects of one bundle (or of every bundle, when none is named) on the selected
// clusters. It reads no runtime values and renders nothing. The error wraps ErrNotReady when anything is not ready,
// ErrPartial when a cluster did not answer or its records could not be read; a named bundle that a selected cluster does
// not have is a finding.
func (e *Engine) Status(ctx context.Context, req Request) (*fleetplan.StatusReport, error) {
	r, name, err := e.installed(ctx, req)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.reading = true
	report := &fleetplan.StatusReport{V: diag.DocumentVersion, Bundle: name}
	rows := make([][]fleetplan.ClusterStatus, len(r.targets))
	each(len(r.targets), 0, func(i int) { rows[i] = r.statusOf(ctx, r.targets[i], name) })
	for i, t := range r.targets {
		report.Findings = append(report.Findings, t.findings...)
		report.Clusters = append(report.Clusters, rows[i]...)
	}
	report.MarkSkipped()
	report.Await(r.awaits(ctx, name)...)
	report.Findings = append(report.Findings, r.noFleet(report.Nothing())...)
	return report, report.Verdict()
}

func (r *run) statusOf(ctx context.Context, t *target, name string) []fleetplan.ClusterStatus {
	base := fleetplan.ClusterStatus{Cluster: t.Cluster.Name, Group: t.Cluster.Group, Server: t.Facts.Server, Chosen: t.Facts.Chosen, Unreachable: t.unreachable}
	if t.session == nil {
		return []fleetplan.ClusterStatus{base}
	}
	var rows []fleetplan.ClusterStatus
	unknown := r.eachRecord(ctx, t, name, func(rec release.Record) {
		row := base.With(rec, release.WhoIsAt(ctx, t.Store, rec))
		rows = append(rows, row.Holding(r.instances(ctx, t, rec)))
		t.find(plan.Incomplete(rec.Bundle, rec.Unseen)...)
	})
	slices.SortStableFunc(rows, func(a, b fleetplan.ClusterStatus) int { return strings.Compare(a.Bundle, b.Bundle) })
	if base.Unknown = unknown; name != "" && t.Record == nil && t.unread == "" {
		r.withoutRecord(ctx, t, name, &base)
	}
	if len(rows) == 0 || unknown != "" {
		return slices.Insert(rows, 0, base) // what cannot be read is a row of its own
	}
	return rows
}

// withoutRecord tells of a bundle that has no record on a cluster whether its objects are there all the same.
func (r *run) withoutRecord(ctx context.Context, t *target, name string, row *fleetplan.ClusterStatus) {
	namespaces, nowhere := r.wanted(ctx, t)
	marks, delivered := t.session.Marked(ctx, r.owner(name), namespaces...), r.input.Delivered(t.Cluster.Name, name)
	row.Lost, row.Unknown = marks.Standing()
	switch {
	case row.Lost != "":
		t.find(fleetplan.LostAtStatus(name, row.Lost))
	case nowhere && !delivered:
		row.NotPlaced, row.Unknown = true, ""
	case !delivered && len(marks.Silent) == len(marks.Unseen): // nothing says that it ever was here
		row.Silent, row.Unknown = marks.Silent, ""
	}
}

// eachRecord gives the current record of a bundle, or with "" those of all, to use, one after the other; unknown says why
// some cannot be read. Those of all are given that are not another cluster's.
func (r *run) eachRecord(ctx context.Context, t *target, name string, use func(release.Record)) (unknown string) {
	if name == "" {
		others, why := r.waits.Each(ctx, t.Cluster.Name, t.Store, r.fleetName(), func(rec *release.Record) diag.Findings { return r.refuses(t, rec) }, use)
		t.find(others...)
		return r.redact(why)
	}
	if t.Record == nil && t.unread == "" { // else it was read
		r.readRecord(ctx, t, r.owner(name))
	}
	return r.waits.One(ctx, t.Store, r.owner(name), t.Record, t.unread, &t.findings, r.strange(t), use)
}

// strange says that the record which was read is another cluster's; nil where it is not.
func (r *run) strange(t *target) diag.Findings {
	return r.waits.Refused(t.Cluster.Name, t.Record, r.refuses(t, t.Record))
}

// List tells what was delivered to the selected clusters as the records say; no object is looked at. The error wraps
// ErrPartial when a cluster did not answer or its records could not be read.
func (e *Engine) List(ctx context.Context, req Request) (*release.Listing, error) {
	r, name, err := e.installed(ctx, req)
	if err != nil {
		return nil, err
	}
	defer r.close()
	r.reading = true
	out := &release.Listing{V: diag.DocumentVersion, Fleet: r.fleetName(), Clusters: make([]release.ClusterListing, len(r.targets))}
	each(len(r.targets), 0, func(i int) {
		t := r.targets[i]
		row := release.ClusterListing{Cluster: t.Cluster.Name, Group: t.Cluster.Group, Chosen: t.Facts.Chosen, Unreachable: t.unreachable}
		if t.session != nil {
			var moves release.Moves
			row.Unknown = r.eachRecord(ctx, t, name, func(rec release.Record) {
				moves.Add(rec)
				row.Bundles = append(row.Bundles, rec.List(release.WhoIsAt(ctx, t.Store, rec)))
			})
			moves.Mark(row.Bundles)
			slices.SortStableFunc(row.Bundles, func(a, b release.BundleListing) int { return strings.Compare(a.Bundle, b.Bundle) })
		}
		out.Clusters[i] = row
	})
	out.Await(r.awaits(ctx, name)...)
	out.Findings = slices.Concat(out.Findings, r.findings(), r.noFleet(out.Nothing()))
	if out.Findings = out.Findings.Sorted(); out.Findings.HasErrors() {
		return out, out.Findings.Err()
	}
	return out, fleetplan.Unknown(out.Unknown())
}

// noFleet warns where nothing was found, no fleet was given and there is one at hand.
func (r *run) noFleet(nothing bool) diag.Findings {
	if !nothing || r.fleet != nil || r.req.Access.OnlyImplicit() != "" {
		return nil
	}
	return fleet.NoFleet(r.targets[0].Facts, r.input.NearFleet())
}

// instances are the states of a record's instances: health and drift of everything its inventory names.
func (r *run) instances(ctx context.Context, t *target, rec release.Record) []fleetplan.InstanceStatus {
	rules := map[string]health.Rules{}
	for _, o := range rec.Inventory {
		rules[o.Instance] = health.Rules{Checks: rec.Checks[o.Instance], Checker: r.Checker}
	}
	rec.Inventory = slices.DeleteFunc(slices.Clone(rec.Inventory), func(o plan.InventoryEntry) bool { return o.Hook != nil })
	states, fs := t.session.Health(ctx, rec.Owner, rec.Inventory, rules)
	t.find(fs...)
	t.find(r.hideInStatus(ctx, t, rec, states)...)
	obs, fs := t.session.Observe(ctx, cluster.ObserveRequest{Owner: rec.Owner, Inventory: rec.Inventory})
	t.find(append(fs, leftover.StillIn(rec.Inventory, obs.Live, r.redact)...)...)
	for _, o := range rec.Inventory {
		if live := obs.Live[o.Ref]; live.Found && live.Terminating {
			states[o.Ref] = t.session.Leaving(ctx, o.Ref, live)
		}
	}
	out := fleetplan.InstancesOf(rec, r.declaredOf(ctx, t, rec, obs), obs.Live, states, release.MovedTo(ctx, t.Store, rec, obs.Live))
	for _, in := range out {
		for _, o := range in.Objects {
			for i, f := range o.Fields {
				o.Fields[i].Path = pathmask.Mask(f.Path, r.Redactor.Redact, func(name string) string { return r.Redactor.Name(in.Instance, name) })
			}
		}
	}
	return out
}

// declaredOf are the recorded objects, where one of them moved: they say which fields were ours. Where they cannot be read
// no field is named.
func (r *run) declaredOf(ctx context.Context, t *target, rec release.Record, obs cluster.Observation) map[object.Ref]object.Object {
	if !slices.ContainsFunc(rec.Inventory, func(o plan.InventoryEntry) bool { return obs.Live[o.Ref].Managed != nil }) {
		return nil
	}
	declared := map[object.Ref]object.Object{}
	objs, _ := t.Store.Objects(ctx, rec)
	r.remember(ctx, objs)
	for _, o := range objs {
		declared[o.Ref()] = o
	}
	return declared
}
