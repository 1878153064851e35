package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/order"
	"hawser.dev/hawser/internal/plan"
)

// runs reports whether a change is the run of a hook, or the waiting for one that runs.
func runs(ch plan.Change) bool {
	return ch.Hook != nil && (ch.Action == plan.Create || ch.Action == plan.Recreate || ch.Action == plan.Unchanged)
}

// runOf is the step that runs a hook.
func runOf(ch plan.Change) order.Step {
	return order.Step{Kind: order.Run, Ref: ch.Ref, Instance: ch.Instance, Event: ch.Hook.Event}
}

// begin takes over what the record and the plan say of hooks.
func (e *executor) begin() {
	for _, r := range e.req.Plan.Forget {
		delete(e.inventory, r)
	}
	maps.Copy(e.lives, e.req.HookStates)
	for name, m := range e.req.Plan.Events {
		e.ends[name] = m.After()
	}
}

// runs are the hooks of a removal, or all others, in the plan's order.
func (e *executor) runs(removal bool) []order.Hook {
	var out []order.Hook
	for _, ch := range e.req.Plan.Changes {
		if runs(ch) && removes(ch.Hook.Event) == removal {
			out = append(out, order.Hook{Ref: ch.Ref, Instance: ch.Instance, Event: ch.Hook.Event, Discard: ch.Hook.IfSucceeded})
		}
	}
	return out
}

func removes(e object.HookPhase) bool { return e == object.PreDelete || e == object.PostDelete }

func (e *executor) endings(removal bool) map[string]object.HookPhase {
	out := map[string]object.HookPhase{}
	for name, end := range e.ends {
		if removes(end) == removal {
			out[name] = end
		}
	}
	return out
}

// snapshot is what is in the cluster from us, and how far instances with hooks have got.
func (e *executor) snapshot() ([]plan.InventoryEntry, map[string]plan.HookState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.SortedFunc(maps.Values(e.inventory), func(a, b plan.InventoryEntry) int { return a.Ref.Compare(b.Ref) }), maps.Clone(e.lives)
}

// runHook makes a hook's object, when the one of an earlier run is gone, and waits until it has done its work.
func (e *executor) runHook(ctx context.Context, st order.Step) error {
	ch := e.hooks[st]
	body := e.req.Bodies[ch.Ref]
	if body.Body == nil {
		return e.hookFailed(ctx, ch, "run", errors.New("the object to write is missing"))
	}
	k, err := e.kind(ctx, body)
	if err != nil {
		return e.hookFailed(ctx, ch, "run", err)
	}
	v := visitOf(ctx)
	switch {
	case v.undone != nil:
		return e.clearHook(ctx, ch, k, v.undone)
	case v.made:
	case ch.Action == plan.Unchanged:
		e.mu.Lock()
		o := e.inventory[ch.Ref]
		o.UID, o.ResourceVersion, o.ApplyHash, o.Digest, o.Hook = ch.UID, ch.ResourceVersion, ch.ApplyHash, ch.Digest, &plan.HookRun{Event: ch.Hook.Event}
		e.inventory[ch.Ref] = o
		e.mu.Unlock()
	default:
		if err := e.makeHook(ctx, ch, k, body); err != nil {
			return e.hookFailed(ctx, ch, "run", err)
		}
	}
	v.made = true
	return e.awaitHook(ctx, ch, k)
}

// makeHook deletes the predecessor (of an earlier run, or of another event of this one) and writes the object.
func (e *executor) makeHook(ctx context.Context, ch plan.Change, k kubeapi.KindInfo, body object.Object) error {
	e.mu.Lock()
	made := e.made[ch.Ref]
	e.mu.Unlock()
	switch {
	case made:
		if err := e.removeHook(ctx, ch, k); err != nil {
			return err
		}
	case ch.Action == plan.Recreate:
		if err := e.remove(ctx, ch, k, true); err != nil {
			return err
		}
	}
	w := &writing{executor: e, ch: ch, k: k, body: body.Body, version: body.GVK().Version}
	m, err := w.create(ctx)
	if err != nil {
		return err
	}
	e.wrote(ch, m)
	e.mu.Lock()
	e.made[ch.Ref] = true
	e.mu.Unlock()
	e.emit(Event{Type: Written, Ref: ch.Ref, Instance: ch.Instance, Action: ch.Action, Hook: ch.Hook.Event})
	return nil
}

// removeHook deletes the object that the inventory has, and waits until it is gone.
func (e *executor) removeHook(ctx context.Context, ch plan.Change, k kubeapi.KindInfo) error {
	e.mu.Lock()
	o, ok := e.inventory[ch.Ref]
	e.mu.Unlock()
	if !ok || o.UID == "" || o.Keep {
		return nil
	}
	ch.UID, ch.ResourceVersion, ch.ApplyHash, ch.Seen = o.UID, o.ResourceVersion, o.ApplyHash, nil
	if err := e.remove(ctx, ch, k, true); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.inventory, ch.Ref)
	return nil
}

// awaitHook waits until a hook has done its work.
func (e *executor) awaitHook(ctx context.Context, ch plan.Change, k kubeapi.KindInfo) error {
	if health.WaitsAsHook(ch.Ref) {
		v := visitOf(ctx)
		if v.await == nil {
			v.await = e.watching(ctx, ch.Ref, k, ch.Timeout)
			v.await.hook = ch.Hook.Event
		}
		st, cause, err := v.await.look(ctx)
		if err != nil {
			return e.hookFailed(ctx, ch, "wait for", err)
		}
		if st.State != health.Ready {
			return e.hookUndone(ctx, v.await, ch, st, cause)
		}
		if ch.Ref.IsCRD() {
			e.s.Learn(e.req.Bodies[ch.Ref])
		}
		e.emit(Event{Type: Ready, Ref: ch.Ref, Instance: ch.Instance, Message: st.Reason, Hook: ch.Hook.Event})
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if o, ok := e.inventory[ch.Ref]; ok {
		o.Hook = &plan.HookRun{Event: ch.Hook.Event, Done: true}
		e.inventory[ch.Ref] = o
	}
	return nil
}

// hookUndone ends a hook that has failed, or has not done its work when waiting was over. An interrupted one is left
// alone: the next run waits for it.
func (e *executor) hookUndone(ctx context.Context, w *watching, ch plan.Change, st health.Status, cause error) error {
	if cause != nil && !errors.Is(cause, errTimeUp) {
		return cause
	}
	e.timedOut(cause)
	p := Problem{Ref: ch.Ref, Instance: ch.Instance, Status: st, After: e.s.Now().Sub(w.start), Written: st.State != health.Failed, Hook: ch.Hook.Event}
	if p.Written {
		p.Status.Reason = fmt.Sprintf("the %s hook is not done: %s", ch.Hook.Event, st.Reason)
	} else {
		p.Status.Reason = fmt.Sprintf("the %s hook failed: %s", ch.Hook.Event, st.Reason)
	}
	err := e.fail(ctx, p)
	if !ch.Hook.IfFailed || st.State != health.Failed {
		return err
	}
	v := visitOf(ctx)
	v.end()
	v.undone = err
	return e.clearHook(ctx, ch, w.k, err)
}

// clearHook deletes the object of a hook that has failed, why being the answer of its step.
func (e *executor) clearHook(ctx context.Context, ch plan.Change, k kubeapi.KindInfo, why error) error {
	err := e.removeHook(ctx, ch, k)
	if waits(err) {
		return err
	}
	if err != nil {
		e.emit(Event{Type: Notice, Ref: ch.Ref, Instance: ch.Instance, Message: "the failed hook could not be deleted: " + e.s.text(err, ch.Ref)})
	}
	return why
}

// hookFailed is fail for an error about a hook's object.
func (e *executor) hookFailed(ctx context.Context, ch plan.Change, verb string, err error) error {
	if waits(err) {
		return err
	}
	p := e.problem(ch.Ref, verb, err)
	p.Instance, p.Hook = ch.Instance, ch.Hook.Event
	return e.fail(ctx, p)
}

// passEvent notes that all hooks of an event have run, and with the last event that what happened to the instance is
// over. It is kept before anything else happens, so that hooks do not run twice.
func (e *executor) passEvent(ctx context.Context, st order.Step) error {
	hooked := false
	for run := range e.hooks {
		hooked = hooked || run.Instance == st.Instance && run.Event == st.Event
	}
	e.keeping.Lock()
	defer e.keeping.Unlock()
	e.mu.Lock()
	if l, ok := e.lives[st.Instance]; ok && st.Event != object.Test {
		l = l.Passed(st.Event)
		e.lives[st.Instance] = l
		if st.Event == e.ends[st.Instance] {
			delete(e.lives, st.Instance)
			if over, stays := l.Completed(); stays {
				e.lives[st.Instance] = over
			}
		}
	}
	e.mu.Unlock()
	if !hooked || st.Event == object.Test || e.req.Checkpoint == nil {
		return nil
	}
	inventory, lives := e.snapshot()
	if err := e.req.Checkpoint(ctx, inventory, lives); err != nil {
		return e.fail(ctx, Problem{Instance: st.Instance, Err: err, Hook: st.Event, Unrecorded: true,
			Status: health.Status{State: health.Failed, Reason: "the record cannot be written: " + err.Error()}})
	}
	return nil
}

// discardHook deletes the object of a hook that has succeeded.
func (e *executor) discardHook(ctx context.Context, st order.Step) error {
	st.Kind = order.Run
	ch := e.hooks[st]
	k, ok := e.s.ByGroupKind(ch.Ref.GroupKind())
	if !ok {
		return nil
	}
	if err := e.removeHook(ctx, ch, k); err != nil {
		return e.hookFailed(ctx, ch, "delete", err)
	}
	return nil
}
