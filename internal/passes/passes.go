// Package passes carries a rollout out one pass at a time: a pass starts what may start now, takes in what ends, judges
// what has soaked, and ends when nothing runs any more: because the rollout is over, or with what it waits for. It never
// waits for a time or for somebody's word; whoever drives it does, and calls for the next pass.
//
// passes must not know clusters, plans, or how anything is carried out: that is what its Steps do.
package passes

import (
	"context"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/rollout"
)

// Interrupted is why a rollout stopped that somebody ended.
const Interrupted = "interrupted"

// Steps are what a rollout does: the engine.
type Steps interface {
	// Start carries out one cluster's part; it ends with the cluster's row.
	Start(ctx context.Context, cluster string, wave int) *fleetplan.ClusterOutcome
	// Check judges a cluster whose soak is over again, before being its row so far.
	Check(ctx context.Context, before fleetplan.ClusterOutcome, wave int) *fleetplan.ClusterOutcome
	// Finished is when the last run on a cluster ended, on which nothing was to be done; zero is never.
	Finished(cluster string) time.Time
	// Ask notes where a wave waits for an approval, or for its window, that it does. Heed gives the schedule the approvals that came since.
	Ask(ctx context.Context, w *rollout.Wait)
	Heed(ctx context.Context, s rollout.Schedule) rollout.Schedule
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
	ended    chan *fleetplan.ClusterOutcome
	back     Back // what undoes the wave that failed, once that is over
	undone   bool // it was asked for
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
		r.undo(ctx, closed(stop))
	}
	if r.back != nil {
		return r.back.Pass(ctx)
	}
	return nil
}

func closed(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// forth is a pass of the rollout itself.
func (r *Rollout) forth(ctx context.Context, stop <-chan struct{}) *rollout.Wait {
	r.ended = make(chan *fleetplan.ClusterOutcome)
	if w := r.waiting; w != nil && w.On == rollout.ForApproval && r.State.Stopped == "" {
		r.Schedule = r.Steps.Heed(ctx, r.Schedule)
	}
	var arrived []rollout.Outcome
	for {
		var d rollout.Decision
		r.State, d = rollout.Next(r.Schedule, r.State, arrived, r.Clock())
		arrived = nil
		r.tell(d)
		for _, name := range d.Start {
			r.begin(func() *fleetplan.ClusterOutcome { return r.Steps.Start(ctx, name, d.Wave) })
		}
		for _, name := range d.Check {
			before := *r.Rows[name]
			r.begin(func() *fleetplan.ClusterOutcome { return r.Steps.Check(ctx, before, d.Wave) })
		}
		if r.inFlight == 0 {
			return r.wait(ctx, d)
		}
		select {
		case row := <-r.ended:
			r.end(row)
			arrived = append(arrived, row.Arrival(func() time.Time { return r.Steps.Finished(row.Cluster) }))
		case <-stop:
			stop = nil
			r.Stop(Interrupted)
		case <-ctx.Done():
			r.Stop(Interrupted)
			for r.inFlight > 0 {
				r.end(<-r.ended)
			}
			return nil
		}
	}
}

// Stop ends the rollout from outside: the next pass starts nothing more. One that has stopped already keeps its reason.
func (r *Rollout) Stop(why string) {
	if r.State = rollout.Stop(r.State, why); r.back != nil {
		r.back.Stop(why)
	}
}

// tell says what was decided.
func (r *Rollout) tell(d rollout.Decision) {
	for _, ev := range r.said.Announce(d, r.Schedule, r.Out.Rollout, r.inFlight) {
		r.Emit(ev)
	}
	if d.Stop != "" && r.Out.Stopped == "" {
		r.Out.Stopped, r.Out.StoppedWave = d.Stop, d.Wave
	}
}

func (r *Rollout) begin(step func() *fleetplan.ClusterOutcome) {
	r.inFlight++
	go func() { r.ended <- step() }()
}

func (r *Rollout) end(row *fleetplan.ClusterOutcome) {
	r.inFlight--
	r.Rows[row.Cluster] = row
}

// wait ends a pass; the outcome says what a rollout that was ended while it waits waited for.
func (r *Rollout) wait(ctx context.Context, d rollout.Decision) *rollout.Wait {
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
