package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"hawser.dev/hawser/internal/bind"
	"hawser.dev/hawser/internal/cluster"
	"hawser.dev/hawser/internal/desired"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/latevalues"
	"hawser.dev/hawser/internal/lease"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/passes"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/rollout"
	"hawser.dev/hawser/internal/staleplan"
)

// visit is one cluster's part of a rollout, with what it needs from one pass to the next. Only who visits it touches it.
type visit struct {
	*work
	loop  *loop
	row   *fleetplan.ClusterOutcome
	wave  int
	start time.Time
	wake  func()
	lease *lease.Lease
	// record is the open one, nil before the first write.
	record *release.Record
	// levels are the instances by the step they are written in, late what those take that come in a later one; step is the one that is carried out, now
	// its plan, total what came of those before.
	levels [][]string
	late   map[string][]latevalues.Source
	step   int
	now    *plan.Plan
	end    time.Time // when the time for all steps is over
	total  cluster.ExecuteResult
	// execution is that of the step, nil before it has begun; values are those that it has to wait for first, by who takes them and where.
	execution *cluster.Execution
	values    rollout.Polls
}

// Part is one cluster's part of the rollout.
func (l *loop) Part(cluster string, wave int, wake func()) passes.Part {
	return &visit{loop: l, work: l.fp.works[cluster], wave: wave, start: l.now(), wake: wake, values: rollout.Polls{},
		row: &fleetplan.ClusterOutcome{Cluster: cluster, Result: fleetplan.Failed}}
}

// Visit goes on with a cluster's part: lock, look again, open the record, carry the plan out, close the record, unlock.
func (v *visit) Visit(ctx context.Context) (*fleetplan.ClusterOutcome, *rollout.Part) {
	if waits := v.loop.goOn(ctx, v); waits != nil {
		return nil, waits
	}
	return v.ended(), nil
}

// ended tells how a part ended.
func (v *visit) ended() *fleetplan.ClusterOutcome {
	l := v.loop
	v.row.Seconds = l.now().Sub(v.start).Seconds()
	l.emit(v.row.Ended(l.Redactor, l.out.Rollout, l.fp.Bundle, v.wave))
	return v.row
}

// Leave gives a cluster's part up that waits: its record stays open.
func (v *visit) Leave(waits rollout.Part) *fleetplan.ClusterOutcome {
	if v.execution != nil {
		v.execution.Close()
	}
	v.loop.unlock(context.Background(), v)
	v.row.Result, v.row.Reason = fleetplan.Interrupted, waits.Why
	return v.ended()
}

// upToDate is the row of a cluster on which there is nothing to do but what its record has to learn.
func (l *loop) upToDate(ctx context.Context, name string) *fleetplan.ClusterOutcome {
	row, w := &fleetplan.ClusterOutcome{Cluster: name, Result: fleetplan.UpToDate}, l.fp.works[name]
	row.Revision, row.Done.Unchanged = w.Revision, w.Plan.Unchanged
	if err := errors.Join(l.touch(ctx, w), l.unhold(ctx, w)); err != nil {
		row.Fail("record", err)
	}
	return row
}

// goOn does of a visit what can be done now, and returns what it waits for then, nil when it has ended.
func (l *loop) goOn(ctx context.Context, v *visit) *rollout.Part {
	if v.lease == nil && !l.enter(ctx, v) {
		return nil
	}
	under, cancel := v.lease.Under(ctx)
	defer cancel()
	if v.record != nil || l.begin(under, v) {
		if waits := l.steps(under, v); waits != nil {
			return waits
		}
		l.close(under, v)
	}
	l.unlock(ctx, v)
	return nil
}

// enter takes the lock of a cluster. Without it the row says why.
func (l *loop) enter(ctx context.Context, v *visit) bool {
	row, w := v.row, v.work
	if w == nil {
		row.Result, row.Reason = fleetplan.Unreachable, l.fp.Cluster(row.Cluster).Unreachable
		return false
	}
	if w.settled() {
		*row = *l.upToDate(ctx, row.Cluster)
		return false
	}
	row.Revision = w.Revision
	if fs := diag.From(w.target.session.Verify(ctx), "access"); len(fs) > 0 {
		row.Refuse(fs)
		return false
	}
	l.emit(fleetplan.Event{Type: fleetplan.EventClusterStart, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Wave: w.Wave, Cluster: w.Cluster,
		Total: w.Plan.Writes()})
	v.lease = &lease.Lease{Store: w.target.Store, Owner: w.set.Owner, Holder: cmp.Or(l.req.Author, "hawser"), TTL: lockTTL, OnLost: v.wake}
	former, err := v.lease.Take(ctx)
	if err != nil {
		if row.Fail("lock", err); errors.Is(err, release.ErrLocked) {
			row.Refuse(release.Locked(err))
		}
		return false
	}
	if former != nil {
		l.emit(fleetplan.Event{Type: fleetplan.EventNotice, Rollout: l.out.Rollout, Cluster: w.Cluster,
			Message: "took over the expired lock of " + former.Holder})
	}
	if l.held(ctx, w, row) {
		l.unlock(ctx, v)
		return false
	}
	return true
}

// unlock gives the lock of a cluster back.
func (l *loop) unlock(ctx context.Context, v *visit) {
	if v.lease == nil {
		return
	}
	c, cancel := background(ctx)
	defer cancel()
	if err := v.row.Lost(v.lease.Give(c)); err != nil {
		l.emit(fleetplan.Event{Type: fleetplan.EventNotice, Cluster: v.Cluster, Message: "the lock was not given back: " + err.Error()})
	}
}

// begin looks again and opens the record. Else the row says why not. ctx ends when the lock may be lost.
func (l *loop) begin(ctx context.Context, v *visit) bool {
	row, w := v.row, v.work
	if fs := l.fp.run.recheck(ctx, w); fs.HasErrors() {
		row.Refuse(fs)
		return false
	}
	if err := w.target.Keep(ctx, w.set.Owner); err != nil {
		row.Fail("made-up values", err)
		row.Refused = errors.Is(err, release.ErrConflict)
		return false
	}
	record, err := l.open(ctx, w)
	if err != nil {
		row.Fail("record", err)
		return false
	}
	row.Revision = record.Revision
	v.record, v.now = record, w.Plan
	refs := l.fp.run.refs(w.target, w.set)
	late := refs.Late()
	v.late, v.end = refs.Sources(), l.now().Add(l.req.timeout())
	v.levels = latevalues.Levels(w.set.Placed(), w.set.Depends, v.late, late)
	maps.DeleteFunc(v.late, func(name string, _ []latevalues.Source) bool { return late[name] == "" })
	return true
}

// steps carries a cluster's plan out: at once, or, where values are known only when others have been written, in as
// many steps as they need. Each step does at most what was shown, and leaves out what stands on instances that have failed.
func (l *loop) steps(ctx context.Context, v *visit) *rollout.Part {
	for ; v.step < max(len(v.levels), 1); v.step++ {
		if v.execution == nil {
			if waits := l.ready(ctx, v); waits != nil {
				return waits
			}
		}
		next := v.step
		if v.execution != nil {
			done, waits := v.execution.Pass(ctx)
			if len(waits) > 0 {
				return cluster.Waits(waits, l.Redactor.Said)
			}
			v.did(done)
			next++
		}
		if next == v.step || !v.total.GoesOn() || l.stopped() || len(v.total.Problems) > 0 && !l.now().Before(v.end) {
			v.total.Cancelled = v.total.Cancelled || next < len(v.levels) && (l.stopped() || ctx.Err() != nil)
			v.total.LeaveOut(latevalues.Later(v.Plan, v.levels, v.late, next)...)
			break
		}
	}
	v.total.Inventory, v.total.HookStates = v.record.Inventory, v.record.Hooks
	return nil
}

// behind are the instances of which nothing is begun any more.
func (v *visit) behind() map[string]bool {
	_, failed := v.total.Ended().Undone()
	return latevalues.Behind(failed, v.set.Depends, v.late)
}

// next are the instances of the step that is next, but for those that are behind; which they are may change while values are waited for.
func (v *visit) next(behind map[string]bool) []string {
	return slices.DeleteFunc(slices.Clone(v.levels[v.step]), func(name string) bool { return behind[name] })
}

// ready readies the execution of the step that is next, but for the instances that something stands against; there is none where that is all of it.
func (l *loop) ready(ctx context.Context, v *visit) *rollout.Part {
	behind := v.behind()
	if v.step > 0 {
		waits, problem := l.advance(ctx, v, behind)
		switch {
		case waits != nil || problem == interrupted:
			return waits
		case problem != nil:
			v.total.Problems = append(v.total.Problems, *problem)
			if problem.Instance == "" || behind[problem.Instance] || ctx.Err() != nil || l.stopped() || !l.now().Before(v.end) {
				return nil
			}
			return l.ready(ctx, v) // nothing is known to stand against the others
		}
	}
	step, left := latevalues.Without(latevalues.Step(v.now, v.levels, v.late, v.step, v.step > 0), behind)
	v.total.LeaveOut(left...)
	w := v.work
	v.execution = w.target.session.Begin(cluster.ExecuteRequest{
		Plan: step, Bodies: w.bodies(), Inventory: v.record.Inventory, HookStates: v.record.Hooks, Checkpoint: w.checkpoint(v.record),
		Schema: w.observed.Schema, Depends: w.set.Depends, Wait: l.req.Wait, Timeout: max(v.end.Sub(l.now()), time.Second), StalledAfter: l.req.StalledAfter,
		Rules: w.set.Rules(l.Checker), Parallel: l.req.Parallel, Deleting: fleetplan.Ends(l.fp.Verb), OnEvent: l.forward(w, v.total.Done.Writes()), OnWake: v.wake, Stop: l.req.Stop,
	})
	return nil
}

// did takes in what a step has done.
func (v *visit) did(done cluster.ExecuteResult) {
	v.execution = nil
	v.total = v.total.Then(done)
	if len(v.levels) > 0 {
		v.lives = plan.Merge(v.Plan.Staying(v.known(plan.Options{}).HookStates), done.HookStates, v.levels[v.step])
	}
	v.record.Inventory, v.record.Hooks, v.inventory = done.Inventory, done.HookStates, done.Inventory
}

func (l *loop) stopped() bool { return passes.Closed(l.req.Stop) }

// advance goes on to the next step: what is known then is in the record before the first write. Else what was shown stays as it was.
func (l *loop) advance(ctx context.Context, v *visit, behind map[string]bool) (*rollout.Part, *cluster.Problem) {
	if len(v.next(behind)) == 0 {
		return nil, nil
	}
	w, shown := v.work, v.set.Copy()
	waits, problem := l.anew(ctx, v, behind)
	if waits != nil || problem != nil {
		w.set = shown
		return waits, problem
	}
	w.describe(v.record)
	v.record.Hooks = plan.Merge(v.record.Hooks, v.now.HookStates, v.next(behind))
	hooks, err := w.removalHooks(ctx, v.record.Hooks)
	if err == nil {
		err = w.target.put(ctx, v.record, hooks)
	}
	if err != nil {
		return nil, cluster.ProblemOf(diag.From(err, "record")[0], object.Ref{}, false)
	}
	return nil, nil
}

// anew makes the plan of the next step: the values are put in, the instances rendered, and what is to be done is
// compared with what was shown. Those that are behind keep their stand-ins.
func (l *loop) anew(ctx context.Context, v *visit, behind map[string]bool) (*rollout.Part, *cluster.Problem) {
	r, w := l.fp.run, v.work
	late, waits, problem := l.come(ctx, v, behind)
	if waits != nil || problem != nil {
		return waits, problem
	}
	var findings diag.Findings
	for _, p := range late { // when nothing is waited for any more: it ends their being late
		findings = append(findings, r.desired(w.target).Bind(ctx, w.set, p, false)...)
	}
	if i := slices.IndexFunc(late, func(p *desired.InstanceRender) bool { return len(p.Open) > 0 }); i >= 0 && !findings.HasErrors() {
		return l.wanting(ctx, v, late[i], late[i].Open[0], nil) // it was taken away meanwhile
	}
	if !findings.HasErrors() {
		w.set.Behind = behind
		findings = append(findings, r.desired(w.target).Render(ctx, w.set)...)
	}
	if err := findings.Errors(); len(err) > 0 {
		return nil, cluster.ProblemOf(err[0], object.Ref{}, false)
	}
	o := w.input.Options // what was decided with the plan holds for what comes late, too
	o.Diff = false
	p, findings := r.compute(ctx, w, o)
	findings = slices.DeleteFunc(append(findings, p.Findings...), func(f diag.Finding) bool { return behind[f.Instance] }) // it is left out
	r.refs(w.target, w.set).Mark(p)
	step, _ := latevalues.Without(latevalues.Step(p, v.levels, v.late, v.step, true), behind)
	shown := plan.RedactFindings(staleplan.Allows(w.Plan, step), r.Redactor)
	if err := slices.Concat(findings, shown, r.remade(w, p, v.next(behind)...)).Errors(); len(err) > 0 {
		return nil, cluster.ProblemOf(err[0], object.Ref{}, false)
	}
	if err := w.target.Keep(ctx, w.set.Owner); err != nil {
		return nil, cluster.ProblemOf(diag.From(err, "kept")[0], object.Ref{}, false)
	}
	v.now = p
	return nil, nil
}

// come are the late instances of the step that is next, when their values have come. Where some have not for long, others go ahead, whose have.
func (l *loop) come(ctx context.Context, v *visit, behind map[string]bool) (late []*desired.InstanceRender, waits *rollout.Part, problem *cluster.Problem) {
	var waiting []string
	var parts []rollout.Part
	for levels := v.levels; ; {
		late = slices.DeleteFunc(slices.Clone(v.set.Renders), func(p *desired.InstanceRender) bool {
			return len(p.Open) == 0 || behind[p.Placed.Name] || !slices.Contains(levels[v.step], p.Placed.Name)
		})
		now, of, problem := l.awaited(ctx, v, late)
		if problem != nil {
			return nil, nil, problem
		}
		if len(now) == 0 {
			v.levels = levels
			return late, nil, nil
		}
		waiting, parts = append(waiting, now...), append(parts, of...)
		ahead, apart := latevalues.PutOff(v.levels, v.step, waiting, v.set.Depends, v.late, behind)
		if !apart || !v.values.Overdue(l.now(), waiting) {
			return nil, rollout.Joint(parts), nil
		}
		levels = ahead
	}
}

// awaited are those of the late instances whose values have not all come, and what they wait for.
func (l *loop) awaited(ctx context.Context, v *visit, late []*desired.InstanceRender) (waiting []string, parts []rollout.Part, problem *cluster.Problem) {
	of, names := map[string]*desired.InstanceRender{}, make([]string, len(late))
	for i, p := range late {
		of[p.Placed.Name], names[i] = p, p.Placed.Name
	}
	waiting = latevalues.Waiting(names, v.set.Depends, v.late, func(name string) (waits, stop bool) {
		var part *rollout.Part
		if part, problem = l.awaitAll(ctx, v, of[name]); part != nil {
			parts = append(parts, *part)
		}
		return part != nil, problem != nil
	})
	return waiting, parts, problem
}

// awaitAll reads the values that an instance takes, as far as the first one that has not come.
func (l *loop) awaitAll(ctx context.Context, v *visit, p *desired.InstanceRender) (*rollout.Part, *cluster.Problem) {
	for _, f := range v.set.Takes[p.Placed.Name] {
		if waits, problem := l.await(ctx, v, p, f); waits != nil || problem != nil {
			return waits, problem
		}
	}
	return nil, nil
}

// await reads a value that another instance gives, and is nil where it has come.
func (l *loop) await(ctx context.Context, v *visit, p *desired.InstanceRender, f bind.From) (*rollout.Part, *cluster.Problem) {
	refs := l.fp.run.desired(v.target).Givers(v.set)
	v.target.Forget(f, refs.Object(f))
	poll := v.values.Of(p.Placed.Name, f.At, l.now(), v.end, p.Placed.Timeout.Duration)
	bounded, cancel := context.WithTimeout(ctx, max(poll.Until.Sub(l.now()), time.Second))
	defer cancel()
	x, n := refs.Known(bounded, p.Placed.Name, f)
	if x != nil {
		v.values.Came(p.Placed.Name, f.At)
		return nil, nil
	}
	return l.wanting(ctx, v, p, f, n)
}

// interrupted says that nothing is known to stand against an instance whose value has not come: somebody ended the run.
var interrupted = new(cluster.Problem)

// wanting waits for a value that somebody has yet to make, until the run's end, and at most for the instance's own time; else it says why the value
// is not there, n where that is known.
func (l *loop) wanting(ctx context.Context, v *visit, p *desired.InstanceRender, f bind.From, n *diag.Finding) (*rollout.Part, *cluster.Problem) {
	refs := l.fp.run.desired(v.target).Givers(v.set)
	at, poll, helps := refs.Object(f), v.values.Of(p.Placed.Name, f.At, l.now(), v.end, p.Placed.Timeout.Duration), refs.Awaits(f, n)
	switch {
	case ctx.Err() != nil || helps && l.stopped():
		return nil, interrupted
	case helps && l.now().Before(poll.Until):
		why := refs.Waits(p.Placed.Name, f, n)
		waits, first := poll.Next(l.now(), at.String()+": "+why)
		if first {
			l.emit(fleetplan.Event{Type: fleetplan.EventWaiting, Rollout: l.out.Rollout, Bundle: l.fp.Bundle, Wave: v.Wave, Cluster: v.Cluster,
				Instance: p.Placed.Name, Object: &at, Message: why})
		}
		return waits, nil
	case n == nil:
		n = refs.Absent(ctx, p.Placed.Name, f)
	}
	n.Instance, n.Cluster, n.Path = p.Placed.Name, v.Cluster, "values."+n.Path
	return nil, cluster.ProblemOf(*n, at, helps)
}

// close closes the record and says in the row what came of it. ctx ends when the lock may be lost.
func (l *loop) close(ctx context.Context, v *visit) {
	row, w, result := v.row, v.work, v.total
	result.Row(row)
	row.Done.Unchanged = w.Plan.Unchanged
	if result.OK() { // with the values that came, some needed nothing
		row.Done.Unchanged += max(0, w.Plan.Writes()-result.Done.Writes())
	}
	waited := !slices.ContainsFunc(result.Problems, func(p cluster.Problem) bool { return p.Err != nil })
	row.NotBegun = latevalues.NotBegun(v.Plan, result.Ended(), v.set.Depends, v.late, v.values.Waiting())
	row.Close(result.OK(), !l.req.Wait && !fleetplan.Ends(l.fp.Verb), context.Cause(ctx), l.stopped() && waited, result.Reason())
	row.Redact(l.Redactor)
	v.record.NotBegun = row.NotBegun
	c, cancel := background(ctx)
	defer cancel()
	err := row.Lost(l.shut(c, w, v.record, result))
	switch {
	case err != nil && row.Result == fleetplan.Succeeded:
		row.Fail("record", err)
	case err != nil: // why it failed says more; the record stays open
		l.emit(fleetplan.Event{Type: fleetplan.EventNotice, Rollout: l.out.Rollout, Cluster: w.Cluster, Message: "the record was not closed: " + err.Error()})
	}
}
