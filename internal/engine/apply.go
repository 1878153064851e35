package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
)

// reviewTime is how long after it was made a plan is looked at again on all clusters before the first write: nobody has read
// it sooner.
const reviewTime = 3 * time.Second

// Apply carries a fleet plan out, wave by wave. The plan comes from Plan, PlanDelete or LoadPlan of this engine.
// It returns the outcome even with an error; the error wraps ErrRefused (nothing was written), ErrPartial or
// ErrNotReady, or is nil when every cluster succeeded.
func (e *Engine) Apply(ctx context.Context, fp *Prepared, req Request) (*fleetplan.Outcome, error) {
	if fp.run == nil {
		return nil, errors.New("only a plan that was made here can be applied")
	}
	defer fp.run.close()
	if fp.run.decided != nil {
		fp.run.decided.Apply(&req, &req.Access.Context)
	}
	fp.run.req = req
	out := &fleetplan.Outcome{V: 1, Verb: fp.Verb, Bundle: fp.Bundle, Started: e.now(), Findings: fp.Findings.Warnings()}
	if blocked := append(fp.Findings.Errors(), fp.Reachable(req.SkipUnreachable)...); len(blocked) > 0 {
		out.Result, out.Findings = fleetplan.Failed, blocked
		return out, &fleetplan.RefusedError{Findings: blocked}
	}
	fp.run.newLineage() // while nobody writes records
	if fp.settled() {
		return out, e.unchanged(ctx, fp, req, out)
	}
	fp.Schedule = fp.ready(req)
	fp.MarkCanaries()
	findings := rollout.Closed(fp.Schedule, e.now(), diag.Error)
	if len(findings) == 0 {
		findings = fp.Reviewed(ctx)
	}
	var stamp release.Record
	if len(findings) == 0 {
		stamp, findings = fp.stamp(ctx)
	}
	if len(findings) > 0 {
		out.Result, out.Findings = fleetplan.Failed, findings
		return out, &fleetplan.RefusedError{Findings: findings}
	}
	out.Rollout = stamp.Rollout
	e.emit(fleetplan.Event{Type: fleetplan.EventRollout, Rollout: out.Rollout, Bundle: fp.Bundle, Total: len(fp.Clusters)})
	l := &loop{Engine: e, fp: fp, req: req, out: out, rows: map[string]*fleetplan.ClusterOutcome{}, ended: make(chan *fleetplan.ClusterOutcome),
		stamp: stamp}
	l.run(ctx)
	return out, l.finish()
}

// Reviewed asks every cluster which rights are missing there and whether another run is at work, and looks at it again where somebody took the time to read
// the plan: what is locked or stale on one is found before the first write on any. A cluster that has stopped answering is
// found when its turn comes; each is locked, and looked at once more under its lock. A single one is locked at once.
func (p *Prepared) Reviewed(ctx context.Context) diag.Findings {
	found := make([]diag.Findings, len(p.Clusters))
	each(len(p.Clusters), 0, func(i int) {
		w := p.works[p.Clusters[i].Cluster]
		if w == nil || p.After(w.ClusterPlan) {
			return
		}
		if !w.settled() {
			found[i] = w.target.session.Review(ctx, w.Plan)
		}
		if (len(p.works) > 1 || len(p.run.req.Among) > 1) && len(found[i]) == 0 {
			found[i] = release.Busy(ctx, w.target.store, w.set.owner).OnCluster(w.Cluster)
		}
		if p.run.now().Sub(p.run.observed) >= reviewTime && len(found[i]) == 0 {
			found[i] = slices.DeleteFunc(p.run.recheck(ctx, w).Errors(), func(f diag.Finding) bool { return f.Code != staleplan.CodeStale })
		}
	})
	return slices.Concat(found...)
}

// settled reports that no cluster has anything to do.
func (p *Prepared) settled() bool {
	for _, cp := range p.Clusters {
		if w := p.works[cp.Cluster]; !cp.Later && (w == nil || !w.settled()) {
			return false
		}
	}
	return true
}

// unchanged ends an apply that has nothing to do: no rollout, no waves, no soak.
func (e *Engine) unchanged(ctx context.Context, fp *Prepared, req Request, out *fleetplan.Outcome) error {
	l := &loop{Engine: e, fp: fp, req: req, out: out, rows: map[string]*fleetplan.ClusterOutcome{}}
	now := slices.DeleteFunc(slices.Clone(fp.Clusters), func(cp *fleetplan.ClusterPlan) bool { return cp.Later })
	rows := make([]*fleetplan.ClusterOutcome, len(now))
	each(len(now), 0, func(i int) { rows[i] = l.one(ctx, now[i].Cluster) })
	for _, row := range rows {
		l.rows[row.Cluster] = row
	}
	return l.finish()
}

// stamp is what the records of a rollout have in common, and the schedule has its approvals then. Its number is one more than any that
// the clusters of the run know. A release that somebody has paused is refused.
func (p *Prepared) stamp(ctx context.Context) (release.Record, diag.Findings) {
	r := p.run
	rec := release.Record{V: 1, Bundle: p.Bundle, Owner: p.Owner, Head: p.Head, Rollout: release.NewRolloutID(), Phase: release.Applying, Author: r.req.Author,
		Message: r.req.Message, Version: r.Version, Commit: r.workspace.From.Commit, Plan: p.Digest(), PlanFile: r.decided.File(), RollbackTo: p.RollbackTo, Ejecting: p.Verb == "eject"}
	if fleetplan.Ends(p.Verb) {
		rec.Phase = release.Deleting
	}
	holds, findings := p.holds(ctx)
	rec.Release, rec.Rollout = holds.Continues(rec, r.selected(), r.unselected, func(cluster string) bool { w := p.works[cluster]; return w == nil || w.settled() })
	p.approve(holds, &rec)
	if p.pausable() {
		findings = append(findings, holds.Paused(rec)...)
	}
	return rec, findings
}

// selected are the records of the run's clusters, nil for none.
func (r *run) selected() (out []*release.Record) {
	for _, t := range r.targets {
		out = append(out, t.record.On(t.cluster.Name))
	}
	return out
}

// loop drives rollout.Next: it starts clusters, collects outcomes and sleeps through soaks.
type loop struct {
	*Engine
	fp       *Prepared
	stamp    release.Record // what the records of the rollout have in common
	req      Request
	out      *fleetplan.Outcome
	state    rollout.State
	rows     map[string]*fleetplan.ClusterOutcome
	ended    chan *fleetplan.ClusterOutcome
	inFlight int
	said     fleetplan.Said
}

func (l *loop) run(ctx context.Context) {
	stop := l.req.Stop
	var arrived []rollout.Outcome
	for {
		var d rollout.Decision
		l.state, d = rollout.Next(l.fp.Schedule, l.state, arrived, l.now())
		if d.Closed || d.Unapproved { // that may be days: the run ends, another one goes on with the release
			l.ask(ctx, d)
			l.state, d = rollout.Next(l.fp.Schedule, rollout.Stop(l.state, l.fp.Schedule.Keeps(d)), nil, l.now())
		}
		arrived = nil
		for _, ev := range l.said.Announce(d, l.fp.Schedule, l.out.Rollout, l.inFlight) {
			l.emit(ev)
		}
		if d.Stop != "" && l.out.Stopped == "" {
			l.out.Stopped, l.out.StoppedWave = d.Stop, d.Wave
		}
		for _, name := range d.Start {
			l.start(ctx, name, d.Wave)
		}
		for _, name := range d.Check {
			l.check(ctx, name, d.Wave)
		}
		if d.Done {
			return
		}
		var timer <-chan time.Time
		if !d.WakeAt.IsZero() {
			timer = time.After(max(0, d.WakeAt.Sub(l.now())))
		}
		select {
		case row := <-l.ended:
			l.inFlight--
			l.rows[row.Cluster] = row
			arrived = append(arrived, row.Arrival(func() time.Time { return l.fp.works[row.Cluster].target.record.End() }))
		case <-timer:
		case <-stop:
			stop = nil
			l.state = rollout.Stop(l.state, "interrupted")
		case <-ctx.Done():
			l.state = rollout.Stop(l.state, "interrupted")
			for ; l.inFlight > 0; l.inFlight-- {
				row := <-l.ended
				l.rows[row.Cluster] = row
			}
			return
		}
	}
}

func (l *loop) start(ctx context.Context, name string, wave int) {
	l.inFlight++
	go func() {
		start := l.now()
		row := l.one(ctx, name)
		row.Seconds = l.now().Sub(start).Seconds()
		l.emit(row.Ended(l.Redactor, l.out.Rollout, l.fp.Bundle, wave))
		l.ended <- row
	}()
}

// finish ends the outcome with the rows of what ended and what never began, and returns its error.
func (l *loop) finish() error {
	l.out.Finish(l.fp.FleetPlan, l.rows)
	l.out.Compare(l.fp.digests())
	l.out.Redact(l.Redactor)
	l.out.Seconds = l.now().Sub(l.out.Started).Seconds()
	l.fp.run.learn(l.out)
	l.fp.run.delivered(l.out)
	summary := *l.out
	l.emit(fleetplan.Event{Type: fleetplan.EventSummary, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Summary: &summary, Status: string(l.out.Result)})
	return l.out.Err()
}
