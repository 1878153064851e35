package engine

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// Check judges a cluster whose soak is over again; its row comes back like that of one that ended.
func (l *loop) Check(ctx context.Context, before fleetplan.ClusterOutcome, wave int) *fleetplan.ClusterOutcome {
	return l.again(ctx, l.fp.works[before.Cluster], before, wave)
}

// again reads the health of what the bundle has on a cluster anew, and whether it is all there. A cluster where something is no longer ready has
// failed after all, and its record says so; that of one that could not be looked at says that, so that no gate passes on it; so has failed one that another run has changed meanwhile, whose record is that run's.
func (l *loop) again(ctx context.Context, w *work, row fleetplan.ClusterOutcome, wave int) *fleetplan.ClusterOutcome {
	record := w.target.Record
	look, cancel := w.target.session.Bounded(ctx)
	defer cancel()
	now, _, err := w.target.Store.Current(look, w.set.Owner)
	if err == nil && !record.Stands(now) {
		row.Result, row.Reason = fleetplan.Failed, fleetplan.ChangedInSoak
		l.emit(row.Ended(l.Redactor, l.out.Rollout, l.fp.Bundle, wave))
		return &row
	}
	if record == nil { // everything was deleted
		return &row
	}
	inventory := slices.DeleteFunc(slices.Clone(record.Inventory), func(o plan.InventoryEntry) bool { return o.Hook != nil || w.set.Suspended[o.Instance] })
	states, fs := w.target.session.Health(look, w.set.Owner, inventory, w.set.Rules(l.Checker))
	seen, ofs := w.target.session.Observe(look, cluster.ObserveRequest{Owner: w.set.Owner, Inventory: inventory})
	if ctx.Err() != nil {
		return &row // interrupted: nobody knows
	}
	cause := context.Cause(look)
	if cause != nil {
		ofs, err = nil, cause // what was cut off is said of no object
	}
	if fs = slices.Concat(fs, ofs, diag.From(err, "record")); cause == nil && !ofs.HasErrors() { // kinds without a state of their own are ready by being there
		states = release.Standings(inventory, seen.Live, states)
	}
	problems := fleetplan.Unready(inventory, states)
	if len(problems) == 0 && !fs.HasErrors() {
		return &row
	}
	row.NotSoaked(problems, fs, l.redact)
	var instances []string
	for _, p := range problems {
		instances = append(instances, p.Instance)
		l.emit(fleetplan.Event{Type: fleetplan.EventObjectFailed, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Wave: wave, Cluster: w.Cluster,
			Instance: p.Instance, Object: &p.Object, Message: p.Status.Line()})
	}
	// a look that failed says nothing about the bundle: the rollout stops, and the record has that nobody knows
	failed := record.Unsoaked(l.stamp.Rollout, w.corrects, len(problems) == 0, release.InstancesOf(nil, nil, nil, instances))
	if len(problems) > 0 {
		look = ctx // else the cluster may not answer
	}
	if err := w.target.put(look, &failed, nil); err != nil {
		l.emit(fleetplan.Event{Type: fleetplan.EventNotice, Rollout: l.out.Rollout, Cluster: w.Cluster, Message: "the record does not say how the soak ended: " + diag.From(err, "record")[0].String()})
	}
	l.emit(row.Ended(l.Redactor, l.out.Rollout, l.fp.Bundle, wave))
	return &row
}
