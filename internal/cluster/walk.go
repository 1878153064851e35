package cluster

import (
	"context"
	"errors"
	"time"

	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/order"
)

// Wait is one object that is waited for.
type Wait struct {
	Ref      object.Ref
	Instance string
	// Since is when waiting began, Wake when it is looked at again at the latest. Why says it for people.
	Since, Wake time.Time
	Why         string
}

// walk is one order of steps on its way.
type walk struct {
	*dag.Walk[string] // nil: the steps cannot be ordered
	steps             map[string]order.Step
	visits            map[string]*visit
	ok                *bool
}

// visit is what a step keeps from one visit to the next. Only the step itself touches it.
type visit struct {
	node  string
	walk  *dag.Walk[string]
	wait  Wait
	timer *time.Timer
	leave func() // ends a subscription
	// await is the waiting for an object that gets ready; stream that for the one with the uid leaving to go, polls how often it was
	// asked for.
	await   *watching
	stream  *kubeapi.Stream
	leaving string
	polls   int
	// left are the uids of objects that have gone; made: a hook's object is there; undone is why its work is not done.
	left   []string
	made   bool
	undone error
	// served is until when a kind may be served by every handler, pause that of asking again.
	served time.Time
	pause  time.Duration
}

type visitKey struct{}

func visitOf(ctx context.Context) *visit { return ctx.Value(visitKey{}).(*visit) }

// begun is a walk whose result is noted in ok.
func (e *executor) begun(o *order.Order, err error, text string, ok *bool) *walk {
	w := &walk{visits: map[string]*visit{}, ok: ok}
	if err == nil {
		w.steps = o.Steps
		w.Walk, err = o.Graph.Walk()
	}
	if err != nil {
		e.result.Findings = append(e.result.Findings, diag.Errorf("cycle", text, err))
		return nil
	}
	w.OnWake = e.req.OnWake
	for node := range w.steps {
		w.visits[node] = &visit{node: node, walk: w.Walk}
	}
	return w
}

// pass goes on with a walk. Of what is at work a few times more than can be sent is under way: ten thousand bodies and stacks that
// queue would fill the memory.
func (e *executor) pass(ctx context.Context, w *walk) {
	w.Pass(ctx, e.req.Stop, 4*e.s.Parallel(), func(ctx context.Context, node string) error {
		v := w.visits[node]
		err := e.step(context.WithValue(ctx, visitKey{}, v), w.steps[node])
		if !waits(err) {
			v.end()
			v.await = nil // it holds the object
		}
		return err
	})
}

// waits reports that a step waits.
func waits(err error) bool { return errors.Is(err, dag.ErrWaits) || errors.Is(err, dag.ErrPauses) }

// step does a step, as far as that can be done now.
func (e *executor) step(ctx context.Context, st order.Step) error {
	switch st.Kind {
	case order.Write:
		return e.writeOne(ctx, st.Ref)
	case order.Ready:
		return e.readyOne(ctx, st.Ref)
	case order.Remove:
		return e.removeOne(ctx, st.Ref)
	case order.Run:
		return e.runHook(ctx, st)
	case order.Pass:
		return e.passEvent(ctx, st)
	case order.Discard:
		return e.discardHook(ctx, st)
	}
	return nil
}

// patience is why the step does not wait any longer, nil while it does: ctx or the time is over, or the run was asked to stop.
func (e *executor) patience(ctx context.Context, until time.Time) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case e.stopped():
		return errStopped
	case !e.s.Now().Before(until):
		return errTimeUp
	}
	return nil
}

// park lets the step of ctx be visited again after d, and when it is woken. how is the answer of the visit.
func (e *executor) park(ctx context.Context, wait Wait, d time.Duration, how error) error {
	v, now := visitOf(ctx), e.s.Now()
	d = max(min(d, e.deadline.Sub(now)), 0)
	if v.wait = wait; v.timer != nil {
		v.timer.Stop()
	}
	v.wait.Wake = now.Add(d)
	v.timer = time.AfterFunc(d, func() { v.walk.Wake(v.node) })
	return how
}

// end ends what the visits of a step have left: a timer and a subscription.
func (v *visit) end() {
	if v.timer != nil {
		v.timer.Stop()
	}
	if v.leave != nil {
		v.leave()
	}
	v.leave = nil
}

// join subscribes the step of ctx to an object.
func (e *executor) join(ctx context.Context, ref object.Ref, k kubeapi.KindInfo, metadata bool) *kubeapi.Stream {
	v := visitOf(ctx)
	st, leave := e.streams.Join(ref, k, metadata, func() { v.walk.Wake(v.node) })
	v.leave = leave
	return st
}

// waitsFor are what a walk waits for now.
func (w *walk) waitsFor() []Wait {
	var out []Wait
	for _, node := range w.Waiting() {
		out = append(out, w.visits[node].wait)
	}
	return out
}

// account reports what a walk did not do, and whether it did all. What failed was reported when it failed.
func (e *executor) account(ctx context.Context, w *walk) bool {
	if w == nil {
		return false
	}
	r := w.Result()
	if *w.ok = r.OK(); !*w.ok && errors.Is(context.Cause(ctx), errTimeUp) {
		e.result.TimedOut = true
	}
	for _, sk := range r.Skipped {
		e.notStarted(w.steps[sk.Node], w.steps[sk.Because].Ref)
	}
	for _, n := range r.NotStarted {
		e.notStarted(w.steps[n], object.Ref{})
	}
	return *w.ok
}
