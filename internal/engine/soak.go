package engine

import (
	"context"
	"slices"

	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

// check judges a cluster whose soak is over again; its row comes back like that of one that ended.
func (l *loop) check(ctx context.Context, name string, wave int) {
	l.inFlight++
	before := *l.rows[name]
	go func() { l.ended <- l.again(ctx, l.fp.cluster(name), before, wave) }()
}

// again reads the health of what the bundle has on a cluster anew, and whether it is all there. A cluster where something is no longer ready has
// failed after all, and its record says so.
func (l *loop) again(ctx context.Context, cp *ClusterPlan, row ClusterOutcome, wave int) *ClusterOutcome {
	w := cp.work
	record := w.target.record
	if record == nil { // everything was deleted
		return &row
	}
	inventory := slices.DeleteFunc(slices.Clone(record.Inventory), func(o plan.Owned) bool { return o.Hook != nil || w.set.suspended[o.Instance] })
	states, fs := w.target.session.Health(ctx, w.set.owner, inventory, w.set.rules(l.Checker))
	seen, ofs := w.target.session.Observe(ctx, cluster.ObserveRequest{Owner: w.set.owner, Owned: inventory})
	if ctx.Err() != nil {
		return &row // interrupted: nobody knows
	}
	if fs = append(fs, ofs...); !ofs.HasErrors() { // kinds without a state of their own are ready by being there
		for ref := range plan.Vanished(inventory, seen.Live) {
			states[ref] = health.Status{State: health.Missing, Reason: "was deleted by somebody"}
		}
	}
	problems := unready(inventory, states)
	if len(problems) == 0 && !fs.HasErrors() {
		return &row
	}
	row.Result, row.TimedOut, row.Problems = Failed, true, problems
	if len(problems) > 0 {
		row.Reason = nameOf(problems[0]) + " no longer ready after the soak"
	} else {
		row.Reason = "health after the soak: " + l.redact(fs.Errors()[0].String())
	}
	for _, p := range problems {
		l.emit(Event{Type: EventObjectFailed, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Wave: wave, Cluster: cp.Cluster,
			Instance: p.Instance, Object: &p.Object, Message: p.Status.Reason})
	}
	failed := *record
	failed.Phase = release.Failed
	if err := w.target.put(ctx, &failed, nil); err != nil {
		l.emit(Event{Type: EventNotice, Rollout: l.out.Rollout, Cluster: cp.Cluster,
			Message: "the record does not say that the soak failed: " + diag.From(err, "record")[0].String()})
	}
	counts := row.Done
	l.emit(Event{Type: EventClusterEnd, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Wave: wave, Cluster: cp.Cluster,
		Status: string(row.Result), Message: row.Reason, Counts: &counts})
	return &row
}

// unready are the objects that somebody waits for and that are not ready.
func unready(inventory []plan.Owned, states map[object.Ref]health.Status) []Problem {
	var out []Problem
	for _, o := range inventory {
		if st, known := states[o.Ref]; known && health.Worse(string(health.Ready), st.State, false, o.NoWait) != string(health.Ready) {
			out = append(out, Problem{Object: o.Ref, Instance: o.Instance, Status: st})
		}
	}
	return out
}

// nameOf is the instance of a problem, else its object.
func nameOf(p Problem) string {
	if p.Instance != "" {
		return p.Instance
	}
	return p.Object.String()
}
