package cluster

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/staleplan"
)

// removeOne deletes one object, as the plan saw it, and waits until it is really gone, unless waiting is not wanted; one that
// stays loses our marks.
func (e *executor) removeOne(ctx context.Context, ref object.Ref) error {
	ch := *e.changes[ref]
	k, ok := e.s.ByGroupKind(ref.GroupKind())
	switch {
	case ch.Action == plan.Release:
		if err := e.unmark(ctx, ch, k); err != nil {
			return e.failed(ctx, ref, "patch", err)
		}
		return e.ended(ch)
	case ok:
		// custom resources are always waited for: what is deleted after them serves them and runs their finalizers
		if err := e.remove(ctx, ch, k, e.req.Wait || ref.Custom()); err != nil {
			return e.failed(ctx, ref, "delete", err)
		}
	case !e.s.undefined(ctx, ref.GroupKind(), e.known(ref), e.s.definitions()):
		return e.failed(ctx, ref, "delete", &StaleError{Ref: ref, Why: "the cluster does not serve its kind any more, so that nobody knows whether it is there"})
	}
	e.s.removed.Store(ref, true)
	if ref.IsCRD() && e.req.Wait {
		e.s.Unlearn(ref)
	}
	return e.ended(ch)
}

// ended drops an object from the inventory.
func (e *executor) ended(ch plan.Change) error {
	e.mu.Lock()
	delete(e.inventory, ch.Ref)
	e.count(ch)
	e.mu.Unlock()
	e.emit(Event{Type: Written, Ref: ch.Ref, Instance: ch.Instance, Action: ch.Action})
	return nil
}

// unmark takes our marks off an object that stays, if it is still as the plan saw it.
func (e *executor) unmark(ctx context.Context, ch plan.Change, k kubeapi.KindInfo) error {
	w := &writing{executor: e, ch: ch, k: k, version: k.Preferred}
	return again(ctx, func() error {
		m, err := e.s.getMeta(ctx, k, ch.Ref)
		if e.s.notThere(ctx, err, ch.Ref, e.known(ch.Ref), e.s.definitions()) {
			return nil
		}
		ops := object.Unmarked(m.ObjectMeta, e.req.Plan.Bundle, e.manager)
		if err != nil || ops == nil { // somebody has done it, or this run whose answer was lost
			return err
		}
		if why := staleplan.Changed(ch, plan.LiveOf(m.ObjectMeta, e.manager)); why != "" {
			return &StaleError{Ref: ch.Ref, Why: why}
		}
		for patches := 0; ops != nil && patches < 2 && err == nil; patches++ { // a field that the server sets instead of what went is counted as ours
			m, err = w.patch(ctx, m, ops)
			ops = object.Unmarked(m.ObjectMeta, e.req.Plan.Bundle, e.manager)
		}
		if err == nil && ops != nil {
			return &StaleError{Ref: ch.Ref, Why: "our marks are still on it after they were taken off: a webhook or a policy of the cluster puts them back"}
		}
		return err
	})
}

// known is the inventory entry of an object.
func (e *executor) known(ref object.Ref) plan.InventoryEntry {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.inventory[ref]
}

// timedOut notes that the time was over, when it was.
func (e *executor) timedOut(err error) {
	if errors.Is(err, errTimeUp) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.result.TimedOut = true
	}
}

// remove deletes with both preconditions and, with wait, waits until the object is gone. When something else of it moved (status)
// it looks again and goes on as long as our own entry is as the plan saw it. What a Namespace or a definition holds is asked
// right before.
func (e *executor) remove(ctx context.Context, ch plan.Change, k kubeapi.KindInfo, wait bool) error {
	if v := visitOf(ctx); slices.Contains(v.left, ch.UID) || v.stream != nil && v.leaving == ch.UID {
		return e.gone(ctx, ch.Ref, k, ch.UID) // it was deleted on an earlier visit
	}
	contents := func(r []object.Ref) map[object.Ref]plan.Contents { return e.s.Contents(ctx, e.req.Plan.Owner, r) }
	if f := plan.StillInUse(e.req.Plan, ch, contents); f != nil {
		return &StaleError{Ref: ch.Ref, Why: f.What + ": " + f.Why}
	}
	p := pre{ch.UID, ch.ResourceVersion}
	for look := 1; ; look++ {
		var m answer.Deletion
		_, err := e.send(ctx, kubeapi.Request{Method: http.MethodDelete, Path: k.Path(k.Preferred, ch.Ref.Namespace, ch.Ref.Name), Body: object.DeleteOptions(ch.Ref, p.uid, p.rv), Accept: kubeapi.MetadataType, Into: &m})
		switch {
		case e.s.notThere(ctx, err, ch.Ref, e.known(ch.Ref), e.s.definitions()):
			return nil
		case err == nil && !m.Of(ch.UID):
			return e.unsaid(ctx, ch, k, wait)
		case err == nil && (m.Kind == "Status" || !wait): // gone at once: nothing holds it
			return nil
		case err == nil:
			return e.gone(ctx, ch.Ref, k, ch.UID)
		case !apierrors.IsConflict(err), look > maxLooks:
			return err
		}
		if err := settle(ctx, look); err != nil {
			return err
		}
		now, err := e.s.getMeta(ctx, k, ch.Ref)
		if e.s.notThere(ctx, err, ch.Ref, e.known(ch.Ref), e.s.definitions()) {
			return nil
		}
		goes, why := string(now.UID) == ch.UID && now.DeletionTimestamp != nil, staleplan.Removable(ch, e.req.Plan.Owner, plan.LiveOf(now.ObjectMeta, e.manager))
		switch {
		case err != nil:
			return err
		case goes && !wait:
			return nil
		case goes:
			return e.gone(ctx, ch.Ref, k, ch.UID)
		case why != "":
			return &StaleError{Ref: ch.Ref, Why: why}
		}
		if err := e.unforeseen(ctx, ch); err != nil {
			return err
		}
		p.rv = now.ResourceVersion
	}
}

// unsaid looks what became of an object whose deletion was answered with something else.
func (e *executor) unsaid(ctx context.Context, ch plan.Change, k kubeapi.KindInfo, wait bool) error {
	now, err := e.s.getMeta(ctx, k, ch.Ref)
	switch {
	case e.s.notThere(ctx, err, ch.Ref, e.known(ch.Ref), e.s.definitions()), err == nil && string(now.UID) != ch.UID:
		return nil
	case err != nil:
		return err
	case now.DeletionTimestamp == nil:
		return e.s.WrongAnswer("did not delete what it was asked to, and did not say why")
	case wait:
		return e.gone(ctx, ch.Ref, k, ch.UID)
	}
	return nil
}

// resistError is an object that is still there when the time is over, and why; after is how long it was waited for.
type resistError struct {
	status health.Status
	after  time.Duration
	err    error
}

func (e *resistError) Error() string { return e.status.Reason }

func (e *resistError) Unwrap() error { return e.err }

// gone waits until the object with this uid is not there any more.
func (e *executor) gone(ctx context.Context, ref object.Ref, k kubeapi.KindInfo, uid string) error {
	v := visitOf(ctx)
	if slices.Contains(v.left, uid) {
		return nil
	}
	if v.stream == nil {
		e.emit(Event{Type: Waiting, Ref: ref, Instance: e.instanceOf(ref), Action: plan.Delete, Message: "is being deleted"})
		v.wait = Wait{Ref: ref, Instance: e.instanceOf(ref), Since: e.s.Now(), Why: "is being deleted"}
		v.polls, v.leaving, v.stream = 0, uid, e.join(ctx, ref, k, true)
	}
	err := e.leaves(ctx, ref, k, uid, e.known(ref))
	if waits(err) {
		return err
	}
	v.end()
	cause := e.patience(ctx, e.deadline)
	if v.stream = nil; err == nil {
		v.left = append(v.left, uid)
	}
	if err == nil || cause == nil {
		return err
	}
	return &resistError{e.resists(context.WithoutCancel(ctx), ref, k), e.s.Now().Sub(v.wait.Since), cause}
}

// resists finds out what holds an object that does not go.
func (e *executor) resists(ctx context.Context, ref object.Ref, k kubeapi.KindInfo) health.Status {
	st := health.Status{State: health.Terminating, Reason: "is still there"}
	var live map[string]any
	if _, err := e.s.Do(ctx, kubeapi.Request{Method: http.MethodGet, Path: k.Path(k.Preferred, ref.Namespace, ref.Name), Named: ref.Name, Into: &live, Attempts: 1}); err != nil {
		return st
	}
	now := health.Leaving(live)
	st.Reason, st.Details = strings.Replace(now.Reason, "is being deleted", st.Reason, 1), now.Details
	return st
}

// Leaving is the state of an object that is being deleted, as it was observed: what holds it, and for a Namespace, which
// is asked for that, what is left in it and who does not let go.
func (s *Session) Leaving(ctx context.Context, ref object.Ref, seen plan.Live) health.Status {
	st := health.Status{State: health.Terminating, Reason: "is being deleted"}
	if seen.Held != "" {
		st.Reason += ", " + seen.Held
	}
	k, ok := s.ByGroupKind(ref.GroupKind())
	if !ok || ref.Group != "" || ref.Kind != "Namespace" {
		return st
	}
	var live map[string]any
	if _, err := s.Do(ctx, kubeapi.Request{Method: http.MethodGet, Path: k.Path(k.Preferred, "", ref.Name), Named: ref.Name, Into: &live, Attempts: 1}); err == nil {
		st = health.Leaving(live)
	}
	return st
}
