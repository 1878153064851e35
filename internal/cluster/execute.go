package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/latevalues"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/order"
	"hawser.dev/hawser/internal/plan"
)

// errTimeUp ends the work when its time is over.
var errTimeUp = errors.New("not done in time")

// errStopped ends waiting when somebody asked to stop.
var errStopped = errors.New("interrupted")

// Execution is a plan that is being carried out, pass by pass, in an order of its own and with as much in parallel as that
// allows. It decides nothing about objects: what the plan does not say is not done, and what is not as the plan saw it is
// left alone with a *StaleError. Pruning begins only when everything else succeeded, but for what the plan deletes first.
type Execution struct {
	e     *executor
	walks []func() *walk // those that have not begun
	walk  *walk
	over  bool
}

// Begin readies a plan to be carried out. Nothing is sent. Close ends it.
func (s *Session) Begin(req ExecuteRequest) *Execution {
	e := newExecutor(s, req)
	if e.wait = req.Timeout; e.wait <= 0 {
		e.wait = 5 * time.Minute
	}
	e.deadline = s.Now().Add(e.wait)
	if own := e.longest(); own > e.wait {
		e.deadline = e.deadline.Add(own)
	}
	return &Execution{e: e, walks: []func() *walk{e.write, e.prune}}
}

// Pass does what can be done now, and returns what is waited for then: the next pass goes on when the request's OnWake says so, and when the first
// of the waits is to be looked at again. Without waits it is over, and the result says what was done. When ctx ends nothing more is sent, and nothing more is waited for; what is in
// flight is, so that the result says what is stored.
func (x *Execution) Pass(ctx context.Context) (ExecuteResult, []Wait) {
	e := x.e
	if x.over {
		return e.result, nil
	}
	bounded, cancel := context.WithTimeoutCause(ctx, e.deadline.Sub(e.s.Now()), errTimeUp)
	defer cancel()
	if e.streams == nil {
		e.streams = e.s.Streams(context.WithoutCancel(ctx), object.LabelOwner+"="+e.req.Plan.Owner)
	}
	for len(x.walks) > 0 || x.walk != nil {
		if x.walk == nil {
			x.walk, x.walks = x.walks[0](), x.walks[1:]
		}
		if x.walk != nil {
			if e.pass(bounded, x.walk); len(x.walk.Waiting()) > 0 {
				return ExecuteResult{}, x.walk.waitsFor()
			}
		}
		if !e.account(bounded, x.walk) {
			x.walks = nil
		}
		x.walk = nil
	}
	x.over = true
	x.Close()
	e.result.Cancelled = (ctx.Err() != nil || e.stopped()) && !e.finished()
	e.result.Inventory, e.result.HookStates = e.snapshot()
	slices.SortFunc(e.result.Problems, func(a, b Problem) int { return a.Ref.Compare(b.Ref) })
	return e.result, nil
}

// Close lets go of what is watched, whatever has come of the execution.
func (x *Execution) Close() {
	if x.walk != nil {
		for _, v := range x.walk.visits {
			v.end()
		}
	}
	if x.e.streams != nil {
		x.e.streams.Close()
	}
}

// suspended reports that an instance is left as it is: nothing of it is waited for.
func (e *executor) suspended(instance string) bool {
	return slices.Contains(e.req.Plan.Suspended, instance)
}

// timeout is how long an object itself says that it may take, 0 when it says nothing.
func (e *executor) timeout(ref object.Ref) time.Duration {
	if ch, ok := e.changes[ref]; ok {
		return ch.Timeout
	}
	return e.known(ref).Timeout
}

// longest is the longest time that one of the objects may take by itself.
func (e *executor) longest() time.Duration {
	var d time.Duration
	for _, ch := range e.req.Plan.Changes {
		d = max(d, ch.Timeout)
	}
	for _, o := range e.req.Plan.Kept {
		d = max(d, o.Timeout)
	}
	return d
}

// stopped reports that somebody asked to stop.
func (e *executor) stopped() bool {
	select {
	case <-e.req.Stop:
		return true
	default:
		return false
	}
}

type executor struct {
	s       *Session
	req     ExecuteRequest
	manager string
	changes map[object.Ref]*plan.Change
	hooks   map[order.Step]plan.Change  // by their run
	ends    map[string]object.HookPhase // by instance, with which what happens to it is over
	first   []object.Ref                // deleted before anything is written
	streams *kubeapi.Streams
	total   int
	wait    time.Duration // for one object that says nothing else
	// deadline is when the time is over.
	deadline time.Time
	slots    chan struct{} // writes at once; nil: as many as the session allows

	mu        sync.Mutex
	result    ExecuteResult
	inventory map[object.Ref]plan.InventoryEntry
	lives     map[string]plan.HookState
	made      map[object.Ref]bool // hooks' objects of this run
	schema    map[string]string
	defined   map[schema.GroupKind]bool // by definitions that this run wrote
	// generations are what was written: health of an older one is not health of ours.
	generations map[object.Ref]int64
	done        int
	guarded     time.Time // when this run changed an admission policy or a webhook configuration last
	emitting    sync.Mutex
	keeping     sync.Mutex // one checkpoint at a time
}

func newExecutor(s *Session, req ExecuteRequest) *executor {
	e := &executor{s: s, req: req, manager: object.Manager(req.Plan.Owner), first: req.Plan.First(), changes: map[object.Ref]*plan.Change{},
		hooks: map[order.Step]plan.Change{}, ends: map[string]object.HookPhase{}, lives: map[string]plan.HookState{}, made: map[object.Ref]bool{},
		inventory: map[object.Ref]plan.InventoryEntry{}, schema: maps.Collect(maps.All(req.Schema)), defined: map[schema.GroupKind]bool{}, generations: map[object.Ref]int64{}}
	if req.Parallel > 0 {
		e.slots = make(chan struct{}, req.Parallel)
	}
	for _, o := range req.Inventory {
		e.inventory[o.Ref] = o
	}
	for _, o := range req.Plan.Kept {
		e.inventory[o.Ref] = o
	}
	for i, ch := range req.Plan.Changes {
		if runs(ch) {
			e.hooks[runOf(ch)] = ch
		} else {
			e.changes[ch.Ref] = &req.Plan.Changes[i]
		}
		if ch.Action.Writes() || ch.Code == plan.CodeEjected {
			e.total++
		}
	}
	e.begin()
	return e
}

// send is the session's Do for writes, within the request's bound; again while an API server goes by a policy that this run
// has just written over or removed.
func (e *executor) send(ctx context.Context, r kubeapi.Request) (kubeapi.Reply, error) {
	if e.slots != nil {
		select {
		case e.slots <- struct{}{}:
			defer func() { <-e.slots }()
		case <-ctx.Done():
			return kubeapi.Reply{}, context.Cause(ctx)
		}
	}
	r.Finish = true
	out, err := e.s.Do(ctx, r)
	for look := 1; err != nil && e.refusedBefore(err) && settle(ctx, look) == nil; look++ {
		out, err = e.s.Do(ctx, r)
	}
	return out, err
}

// refusedBefore reports whether a refusal is that of a guard which this run has written over or removed a moment ago.
func (e *executor) refusedBefore(err error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.s.Now().Sub(e.guarded) < redefinedWithin && e.req.Plan.RefusedBy(err.Error()) != ""
}

// finished: nothing was left undone.
func (e *executor) finished() bool {
	return len(e.result.Problems) == 0 && len(e.result.NotStarted) == 0 && e.result.Ready && e.result.Pruned
}

// write is the first half: everything but most deletions, and readiness.
func (e *executor) write() *walk {
	o, err := order.Writes(order.Input{Items: e.items(), First: e.first, Depends: e.req.Depends, Wait: e.req.Wait, Plural: e.plural,
		Hooks: e.runs(false), Ends: e.endings(false)})
	return e.begun(o, err, "the objects cannot be ordered: %s", &e.result.Ready)
}

// items are the objects of the bundle as ordering sees them: those to write, and those that are there and stay.
func (e *executor) items() []order.Item {
	var out []order.Item
	seen := map[object.Ref]bool{}
	for _, ch := range e.req.Plan.Changes {
		if ch.Action == plan.Delete || ch.Action == plan.Release || ch.Action == plan.Conflict || ch.Hook != nil {
			continue
		}
		body := e.req.Bodies[ch.Ref].Body
		seen[ch.Ref] = true
		out = append(out, order.Item{Ref: ch.Ref, Instance: ch.Instance, Stage: ch.Stage, Body: body,
			Waits: !ch.NoWait && e.req.Rules[ch.Instance].Waits(ch.Ref, body)})
	}
	if e.req.Deleting {
		return out
	}
	for _, o := range e.req.Plan.Kept {
		if body := e.req.Bodies[o.Ref].Body; !seen[o.Ref] && o.Hook == nil {
			out = append(out, order.Item{Ref: o.Ref, Instance: o.Instance, Stage: o.Stage, Body: body,
				Waits: !o.NoWait && o.UID != "" && !e.suspended(o.Instance) && e.req.Rules[o.Instance].Waits(o.Ref, body)})
		}
	}
	return out
}

func (e *executor) plural(gk schema.GroupKind) string {
	k, _ := e.s.ByGroupKind(gk)
	return k.Resource
}

// prune is the second half: releases and deletions, only after everything else succeeded.
func (e *executor) prune() *walk {
	var items []order.Item
	for _, ch := range e.req.Plan.Changes {
		switch {
		case ch.Code == plan.CodeEjected, ch.Action == plan.Delete && !slices.Contains(e.first, ch.Ref):
			items = append(items, order.Item{Ref: ch.Ref, Instance: ch.Instance, Stage: ch.Stage, Left: ch.Hook != nil, Aggregates: ch.Aggregates})
		case ch.Action == plan.Release:
			delete(e.inventory, ch.Ref)
			e.result.Done.Release++
		}
	}
	o, err := order.Removals(order.Input{Items: items, Depends: e.req.Depends, Plural: e.plural, Hooks: e.runs(true), Ends: e.endings(true)})
	return e.begun(o, err, "the deletions cannot be ordered: %s", &e.result.Pruned)
}

func (e *executor) notStarted(st order.Step, because object.Ref) {
	if ch := e.changes[st.Ref]; (st.Kind == order.Write || st.Kind == order.Remove) && ch != nil && (ch.Action.Writes() || ch.Code == plan.CodeEjected) ||
		st.Kind == order.Run && e.hooks[st].Action.Writes() {
		e.result.NotStarted = append(e.result.NotStarted, latevalues.Left{Ref: st.Ref, Because: because})
	}
}

// fail records a problem and returns it as the node's error. Work that was not sent because ctx ended is not a
// problem of the object.
func (e *executor) fail(ctx context.Context, p Problem) error {
	err := p.Err
	if err == nil {
		err = fmt.Errorf("%s: %s", p.Ref, p.Status.Line())
	}
	if ctx.Err() != nil && errors.Is(p.Err, context.Cause(ctx)) && !p.Written {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.result.NotStarted = append(e.result.NotStarted, latevalues.Left{Ref: p.Ref})
		return err
	}
	e.mu.Lock()
	e.result.Problems = append(e.result.Problems, p)
	e.mu.Unlock()
	e.emit(Event{Type: Failed, Ref: p.Ref, Instance: p.Instance, Message: p.Status.Line()})
	return err
}

// failed is fail for an error about writing or deleting an object; a step that waits has not failed.
func (e *executor) failed(ctx context.Context, ref object.Ref, verb string, err error) error {
	if waits(err) {
		return err
	}
	return e.fail(ctx, e.problem(ref, verb, err))
}

func (e *executor) problem(ref object.Ref, verb string, err error) Problem {
	if r, ok := errors.AsType[*resistError](err); ok {
		e.timedOut(r.err)
		return Problem{Ref: ref, Instance: e.instanceOf(ref), Written: true, After: r.after, Status: r.status}
	}
	reason := ""
	if st, ok := errors.AsType[*StaleError](err); ok {
		reason = strings.TrimPrefix(st.Error(), ref.String()+": ")
	} else {
		err = e.s.describe(err, verb, ref)
		reason = verb + ": " + e.s.text(errors.Unwrap(err), ref)
		if hook, ok := answer.Webhook(err); ok && !strings.Contains(reason, hook) {
			reason += " (webhook " + hook + ")"
		}
	}
	st := health.Status{State: health.Failed, Reason: reason, Details: answer.Details(err, verb)}
	return Problem{Ref: ref, Instance: e.instanceOf(ref), Err: err, Status: st}
}

// wrote records an object as the API server answered.
func (e *executor) wrote(ch plan.Change, m meta) {
	body := e.req.Bodies[ch.Ref]
	e.mu.Lock()
	defer e.mu.Unlock()
	o := plan.Wrote(ch, body, m.ObjectMeta, e.manager, e.req.Wait, e.inventory[ch.Ref])
	o.Schema = e.schema[plan.SchemaKey(ch.Ref)]
	e.inventory[ch.Ref] = o
	e.generations[ch.Ref] = m.Generation
	if ch.Ref.IsCRD() {
		for gk := range object.DefinedKinds([]object.Object{body}) {
			e.schema[plan.SchemaKey(object.Ref{Group: gk.Group, Kind: gk.Kind})] = crdKey(m)
			e.defined[gk] = true
		}
	}
	e.count(ch)
}

// count adds one done change; the caller holds mu.
func (e *executor) count(ch plan.Change) {
	if ch.Ref.Guards() != "" {
		e.guarded = e.s.Now()
	}
	e.done++
	e.result.Done.One(ch)
}

// emit sends one event; events never overlap.
func (e *executor) emit(ev Event) {
	if e.req.OnEvent == nil {
		return
	}
	e.mu.Lock()
	ev.Done, ev.Total = e.done, e.total
	e.mu.Unlock()
	e.emitting.Lock()
	defer e.emitting.Unlock()
	e.req.OnEvent(ev)
}
