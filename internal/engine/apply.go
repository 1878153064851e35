package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/passes"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/source"
	"hawser.dev/hawser/internal/staleplan"
)

// reviewTime is how long after it was made a plan is looked at again on all clusters before the first write: nobody has read
// it sooner.
const reviewTime = 3 * time.Second

// Rollout is a fleet plan that is being carried out, one pass at a time.
type Rollout struct {
	*passes.Rollout
	loop    *loop
	settled bool // nothing is to be done
}

// Begin readies a fleet plan to be carried out: what stands against it, and which release it is, or goes on with. The plan comes from
// Plan or LoadPlan of this engine. It writes nothing on the clusters. End ends it, whatever came of it.
func (e *Engine) Begin(ctx context.Context, fp *Prepared, req Request) (*Rollout, error) {
	if fp.run == nil {
		return nil, errors.New("only a plan that was made here can be applied")
	}
	was := fp.run.req
	req.Operation, req.Input, req.Selection, req.Before, req.done = was.Operation, was.Input, was.Selection, was.Before, was.done
	if d := fp.run.decided; d != nil {
		req.PlanOptions, req.Access.Context = d.Options(req.PlanOptions), cmp.Or(d.Context, req.Access.Context)
	}
	fp.run.req = req
	out := &fleetplan.Outcome{V: diag.DocumentVersion, Verb: fp.Verb, Bundle: fp.Bundle, Started: e.now(), Findings: fp.Findings.Warnings()}
	l := &loop{run: fp.run, fp: fp, req: req, out: out}
	o := &Rollout{Rollout: &passes.Rollout{Steps: l, Emit: fp.run.emit, Clock: e.now, Out: out, Rows: map[string]*fleetplan.ClusterOutcome{}}, loop: l}
	if o.Blocked = append(fp.Findings.Errors(), fp.Reachable(req.SkipUnreachable)...); len(o.Blocked) > 0 {
		return o, nil
	}
	fp.run.newLineage() // while nobody writes records
	if o.settled = fp.settled(); o.settled {
		return o, nil
	}
	fp.Schedule = fp.ready(req)
	fp.MarkCanaries()
	if o.Blocked = rollout.Closed(fp.Schedule, e.now(), diag.Error); len(o.Blocked) == 0 {
		o.Blocked = fp.Reviewed(ctx)
	}
	if len(o.Blocked) == 0 {
		l.stamp, o.Blocked = fp.stamp(ctx)
	}
	if len(o.Blocked) > 0 {
		return o, nil
	}
	o.Schedule, out.Rollout = fp.Schedule, l.stamp.Rollout
	l.emit(fleetplan.Event{Type: fleetplan.EventRollout, Rollout: out.Rollout, Bundle: fp.Bundle, Total: len(fp.Clusters)})
	return o, nil
}

// Pass goes on with the rollout as far as can be gone now, and returns what it waits for then; nil when it has ended, which End tells.
func (o *Rollout) Pass(ctx context.Context) *rollout.Wait {
	if o.settled {
		o.loop.unchanged(ctx, o.Rows)
		return nil
	}
	return o.Rollout.Pass(ctx, o.loop.req.Stop)
}

// End closes the rollout and tells what came of it, also of one that waits, which another run goes on with. The outcome is there also
// beside an error, which wraps ErrRefused (nothing was written), ErrPartial or ErrNotReady, or is nil when every cluster succeeded.
func (o *Rollout) End() (*fleetplan.Outcome, error) {
	defer o.loop.fp.run.close()
	if err := o.Rollout.End(); err != nil {
		return o.Out, err
	}
	return o.Out, o.loop.finish(o.Rows)
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
			found[i] = w.target.session.Check(ctx, w.Plan, w.set.Bodies)
		}
		if (len(p.works) > 1 || len(p.run.req.Among) > 1) && len(found[i]) == 0 {
			found[i] = release.Busy(ctx, w.target.Store, w.set.Owner).OnCluster(w.Cluster)
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

// unchanged does what is to be done where nothing is: no rollout, no waves, no soak.
func (l *loop) unchanged(ctx context.Context, rows map[string]*fleetplan.ClusterOutcome) {
	now := slices.DeleteFunc(slices.Clone(l.fp.Clusters), func(cp *fleetplan.ClusterPlan) bool { return cp.Later })
	done := make([]*fleetplan.ClusterOutcome, len(now))
	each(len(now), 0, func(i int) { done[i] = l.upToDate(ctx, now[i].Cluster) })
	for _, row := range done {
		rows[row.Cluster] = row
	}
}

// stamp is what the records of a rollout have in common, and the schedule has its approvals then. Its number is one more than any that
// the clusters of the run know. A release that somebody has paused is refused.
func (p *Prepared) stamp(ctx context.Context) (release.Record, diag.Findings) {
	r := p.run
	rec := release.Record{V: 1, Bundle: p.Bundle, Owner: p.Owner, SourceDigest: p.SourceDigest, Rollout: release.NewRolloutID(), Phase: release.Applying, Author: r.req.Author,
		Message: r.Redactor.Message(r.req.Message), Version: r.Version, Commit: r.input.From.Commit, Tree: r.input.Tree(r.files.Read(), p.reads()), Plan: p.Digest(), PlanFile: r.decided.File(), RollbackTo: p.RollbackTo, Undoes: r.req.Operation.Undoes, Undone: r.req.Operation.Undone, Ejecting: p.op().Leave}
	if p.op().Ends() {
		rec.Phase = release.Deleting
	}
	holds, findings := p.holds(ctx)
	rec.Release, rec.Rollout, rec.FirstTry = holds.Continues(rec, r.selected(), r.unselected, func(cluster string) bool { w := p.works[cluster]; return w == nil || w.settled() })
	p.approve(holds, &rec)
	if p.op().Brings() {
		findings = slices.Concat(findings, holds.Paused(rec), history.StaysStopped(r.req.Unattended && p.op().Renders(), r.selected(), rec.SourceDigest))
	}
	return rec, findings
}

// reads are the files and directories that the instances of the plan are made of.
func (p *Prepared) reads() (paths []string) {
	for _, w := range p.works {
		paths = append(paths, source.Paths(w.set.Spec.Instances...)...)
	}
	return paths
}

// selected are the records of the run's clusters, nil for none.
func (r *run) selected() (out []*release.Record) {
	for _, t := range r.targets {
		out = append(out, t.Record.On(t.Cluster.Name))
	}
	return out
}

// loop is what a rollout does on its clusters: the steps of its passes.
type loop struct {
	*run
	fp    *Prepared
	stamp release.Record // what the records of the rollout have in common
	req   Request
	out   *fleetplan.Outcome
}

// Finished is when the last run on a cluster ended, zero for never.
func (l *loop) Finished(cluster string) time.Time { return l.fp.works[cluster].target.Record.End() }

// finish ends the outcome with the rows of what ended and what never began, and returns its error.
func (l *loop) finish(rows map[string]*fleetplan.ClusterOutcome) error {
	l.out.Finish(l.fp.FleetPlan, rows)
	l.out.Compare(l.fp.digests())
	l.out.Redact(l.Redactor)
	l.out.Seconds = l.now().Sub(l.out.Started).Seconds()
	l.fp.run.learn(l.out)
	l.fp.run.delivered(l.out)
	if l.fp.run.req.Operation.Undoes != "" { // it is a part of the other's
		return l.out.Err()
	}
	summary := *l.out
	l.emit(fleetplan.Event{Type: fleetplan.EventSummary, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Summary: &summary, Status: string(l.out.Result)})
	return l.out.Err()
}
