// Package passes carries a rollout out one pass at a time: a pass starts what may start now, takes in what ends, judges
// what has soaked, and ends when nothing runs any more: because the rollout is over, or with what it waits for. It never
// waits for a time or for somebody's word; whoever drives it does, and calls for the next pass.
//
// passes must not know clusters, plans, or how anything is carried out: that is what its Steps do.
package passes

import (
	"context"
	"time"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/rollout"
)

// Interrupted is why a rollout stopped that somebody ended.
const Interrupted = "interrupted"

// Steps are what a rollout does: the engine.
type Steps interface {
	// Part is one cluster's part, which begins with its first visit. wake says, from any goroutine, that something has happened that it may
	// wait for.
	Part(cluster string, wave int, wake func()) Part
	// Check judges a cluster whose soak is over again, before being its row so far.
	Check(ctx context.Context, before fleetplan.ClusterOutcome, wave int) *fleetplan.ClusterOutcome
	// Finished is when the last run on a cluster ended, on which nothing was to be done; zero is never.
	Finished(cluster string) time.Time
	// Ask notes where a wave waits for an approval, or for its window, that it does. Heed gives the schedule the approvals that came since.
	Ask(ctx context.Context, w *rollout.Wait)
	Heed(ctx context.Context, s rollout.Schedule) rollout.Schedule
}

// Part is what a rollout does on one cluster.
type Part interface {
	// Visit goes on as far as can be gone now: the cluster's row when the part has ended, else what it waits for. It is visited again when that
	// is due or something has happened; also to be ended, when ctx or the run does.
	Visit(ctx context.Context) (*fleetplan.ClusterOutcome, *rollout.Part)
	// Leave gives it up while it waits, as a process does that ends here: another run goes on with it.
	Leave(waits rollout.Part) *fleetplan.ClusterOutcome
}

// Rollout is one that is under way. Out, and the Rows of the clusters that ended, are what it has brought about so far.
type Rollout struct {
	Steps Steps
	// Emit tells of progress, Clock the time.
	Emit     func(fleetplan.Event)
	Clock    func() time.Time
	Schedule rollout.Schedule
	Out      *fleetplan.Outcome
	Rows     map[string]*fleetplan.ClusterOutcome
	// State is that of the machine; the zero State is a rollout that begins.
	State rollout.State
	// Blocked is why it does not begin.
	Blocked diag.Findings

	said     fleetplan.Said
	waiting  *rollout.Wait
	inFlight int
	ended    chan visited
	parts    parts
	back     Back // what undoes the wave that failed, once that is over
	undone   bool // it was asked for
}

// visited is what came of a visit or a check.
type visited struct {
	cluster string
	row     *fleetplan.ClusterOutcome
	waits   *rollout.Part
}

// Pass goes on as far as can be gone now. It returns what the rollout waits for then, nil when it has ended. What is at work when stop is
// closed comes to its end, and nothing more starts; when ctx ends it is cut short.
func (r *Rollout) Pass(ctx context.Context, stop <-chan struct{}) *rollout.Wait {
	if len(r.Blocked) > 0 {
		return nil
	}
	if r.back == nil {
		if w := r.forth(ctx, stop); w != nil || ctx.Err() != nil {
			return w
		}
		r.undo(ctx, Closed(stop))
	}
	if r.back != nil {
		return r.back.Pass(ctx)
	}
	return nil
}

// Closed reports that somebody asked to stop.
func Closed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// forth is a pass of the rollout itself.
func (r *Rollout) forth(ctx context.Context, stop <-chan struct{}) *rollout.Wait {
	r.ended = make(chan visited)
	if w := r.waiting; w != nil && w.On == rollout.ForApproval && r.State.Stopped == "" {
		r.Schedule = r.Steps.Heed(ctx, r.Schedule)
	}
	if Closed(stop) {
		stop = nil
		r.interrupt()
	}
	if ctx.Err() != nil {
		r.cut(ctx)
		return nil
	}
	d := r.next(ctx, nil)
	for {
		r.revisit(ctx)
		if r.inFlight == 0 {
			if w := rollout.Objects(r.Schedule, r.parts.waits()); w != nil {
				return w
			}
			return r.wait(ctx, d)
		}
		select {
		case x := <-r.ended:
			if r.take(x) {
				arrival := x.row.Arrival(func() time.Time { return r.Steps.Finished(x.cluster) })
				d = r.next(ctx, []rollout.Outcome{arrival})
			}
		case <-r.parts.Changed():
		case <-stop:
			stop = nil
			r.interrupt()
			d = r.next(ctx, nil)
		case <-ctx.Done():
			r.cut(ctx)
			return nil
		}
	}
}

// next decides what is to be done, and begins it.
func (r *Rollout) next(ctx context.Context, arrived []rollout.Outcome) (d rollout.Decision) {
	r.State, d = rollout.Next(r.Schedule, r.State, arrived, r.Clock())
	r.tell(d)
	if len(d.Start) > 0 { // what was waited for has come
		r.waiting, r.Out.Unapproved, r.Out.Opens = nil, false, nil
	}
	for _, name := range d.Start {
		r.parts.begin(name, r.Steps.Part(name, d.Wave, func() { r.parts.wake(name) }))
		r.visit(ctx, name)
	}
	for _, name := range d.Check {
		before := *r.Rows[name]
		r.begin(func() visited { return visited{cluster: name, row: r.Steps.Check(ctx, before, d.Wave)} })
	}
	return d
}

// interrupt stops the rollout, and what waits comes to its end.
func (r *Rollout) interrupt() {
	r.Stop(Interrupted)
	r.parts.wakeAll()
}

// cut ends the rollout where it is: what is at work, or waits, tells how it ended.
func (r *Rollout) cut(ctx context.Context) {
	r.interrupt()
	for r.revisit(ctx); r.inFlight > 0; r.revisit(ctx) {
		r.take(<-r.ended)
	}
}

// Changed is told when the next pass of a rollout that waits may have something to do before that is due.
func (r *Rollout) Changed() <-chan struct{} {
	if r.back != nil {
		return r.back.Changed()
	}
	return r.parts.Changed()
}

// Stop ends the rollout from outside: the next pass starts nothing more. One that has stopped already keeps its reason.
func (r *Rollout) Stop(why string) {
	if r.State = rollout.Stop(r.State, why); r.back != nil {
		r.back.Stop(why)
	}
}

// tell says what was decided.
func (r *Rollout) tell(d rollout.Decision) {
	for _, ev := range r.said.Announce(d, r.Schedule, r.Out.Rollout, r.inFlight+r.parts.waiting()) {
		r.Emit(ev)
	}
	if d.Stop != "" && r.Out.Stopped == "" {
		r.Out.Stopped, r.Out.StoppedWave = d.Stop, d.Wave
	}
}

func (r *Rollout) begin(step func() visited) {
	r.inFlight++
	broke.Go(func() { r.ended <- step() })
}

// visit goes on with a cluster's part.
func (r *Rollout) visit(ctx context.Context, name string) {
	p := r.parts.visit(name)
	r.begin(func() visited {
		row, waits := p.Visit(ctx)
		return visited{name, row, waits}
	})
}

// revisit goes on with the parts that wait no more.
func (r *Rollout) revisit(ctx context.Context) {
	for _, name := range r.parts.due(r.Clock()) {
		r.visit(ctx, name)
	}
}

// take takes in what came of a visit or a check, and reports whether that has ended.
func (r *Rollout) take(x visited) bool {
	r.inFlight--
	if x.waits != nil {
		r.parts.wait(x.cluster, *x.waits)
		return false
	}
	r.parts.end(x.cluster)
	r.Rows[x.cluster] = x.row
	return true
}

// wait ends a pass with which nothing is at work; the outcome says what a rollout that was ended while it waits waited for.
func (r *Rollout) wait(ctx context.Context, d rollout.Decision) *rollout.Wait {
	r.parts.still()
	w := rollout.WaitsFor(r.Schedule, r.State, d, r.Clock())
	if r.State.Stopped == "" {
		r.waiting, r.Out.Unapproved, r.Out.Opens = w, false, nil
	}
	switch {
	case w == nil:
	case w.On == rollout.ForWindow:
		r.Out.Opens = &w.Wake
		r.Steps.Ask(ctx, w)
	case w.On == rollout.ForApproval:
		r.Out.Unapproved = true
		r.Steps.Ask(ctx, w)
	}
	return w
}
