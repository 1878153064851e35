package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// Times of waiting for one object.
const (
	// reasonText is kept of why an object is not ready.
	reasonText      = 600
	defaultHopeless = 30 * time.Second
	unseenFor       = 500 * time.Millisecond
	podsAfter       = 3 * time.Second // a rollout that goes well never asks for pods
	podsEvery       = 5 * time.Second
)

// readyOne waits until an object is ready. What waiting cannot heal, and what its controller says has failed, fails it
// after StalledAfter; everything else when the time is over.
func (e *executor) readyOne(ctx context.Context, ref object.Ref) error {
	body, v := e.req.Bodies[ref], visitOf(ctx)
	if v.await == nil {
		k, err := e.readyKind(ctx, ref, body)
		if err != nil {
			return e.failed(ctx, ref, "wait for", err)
		}
		v.await = e.watching(ctx, ref, k, e.timeout(ref))
	}
	w := v.await
	st, cause, err := w.look(ctx)
	if err != nil {
		return e.failed(ctx, ref, "wait for", err)
	}
	e.awaited(ref, st)
	if st.State != health.Ready {
		if cause != nil && !errors.Is(cause, errTimeUp) {
			return cause // interrupted: nothing is known against the object
		}
		e.timedOut(cause)
		return e.fail(ctx, Problem{Ref: ref, Instance: w.instance, Status: st, Written: true, After: e.s.Now().Sub(w.start)})
	}
	if ref.IsCRD() && body.Body != nil {
		e.s.Learn(body)
	}
	e.emit(Event{Type: Ready, Ref: ref, Instance: w.instance, Message: st.Reason})
	return nil
}

// awaited notes of an object that goes by itself when it is done whether it was seen to be.
func (e *executor) awaited(ref object.Ref, st health.Status) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.inventory[ref]; o.Expires {
		o.Awaited = st.State != health.Ready
		e.inventory[ref] = o
	}
}

// watching begins the waiting of the step of ctx for an object as it was written, at most for a time; 0 is that of the run.
func (e *executor) watching(ctx context.Context, ref object.Ref, k kubeapi.KindInfo, limit time.Duration) *watching {
	if limit <= 0 {
		limit = e.wait
	}
	w := &watching{executor: e, ref: ref, k: k, instance: e.instanceOf(ref), start: e.s.Now(), hopeless: e.req.StalledAfter,
		last: health.Status{State: health.Progressing, Reason: "not seen yet"}, stream: e.join(ctx, ref, k, false)}
	w.until = w.start.Add(limit)
	if w.hopeless <= 0 {
		w.hopeless = defaultHopeless
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	w.generation = e.generations[ref]
	return w
}

func (e *executor) readyKind(ctx context.Context, ref object.Ref, body object.Object) (kubeapi.KindInfo, error) {
	if k, ok := e.s.ByGroupKind(ref.GroupKind()); ok {
		return k, nil
	}
	return e.kind(ctx, body)
}

func (e *executor) instanceOf(ref object.Ref) string {
	if ch, ok := e.changes[ref]; ok {
		return ch.Instance
	}
	return e.known(ref).Instance
}

// watching is one object that is waited for.
type watching struct {
	*executor
	ref        object.Ref
	k          kubeapi.KindInfo
	instance   string
	start      time.Time
	generation int64
	hopeless   time.Duration
	until      time.Time
	stream     *kubeapi.Stream
	last       health.Status
	hook       object.HookPhase // set: it is waited for until it has done its work

	badSince time.Time // since when its status has been hopeless or failed
	podsAt   time.Time // when pods were last asked for
	pods     func(health.Status) health.Status
	bare     health.Status  // what the object itself said last, without its pods
	seen     map[string]any // the object as it was seen last
	said     string
	polls    int
}

// look returns the last status: Ready, or what it was when waiting ended, and then why it did, where that was not because of the
// status. When the time is over what the watch has told until then still counts. The error is dag.ErrWaits, or the cluster's refusal to show the object.
func (w *watching) look(ctx context.Context) (health.Status, error, error) {
	if cause := w.patience(ctx, w.until); cause != nil && !errors.Is(cause, errTimeUp) {
		return w.lastWords(ctx, cause, w.last), cause, nil
	}
	obj, pause, err := w.see(ctx)
	if err != nil && ctx.Err() == nil {
		return w.last, nil, err
	}
	if err == nil && (obj != nil || pause >= 0) {
		if obj != nil {
			w.seen = obj
		}
		if now := w.judge(ctx, obj); now.State != "" {
			now.Details = w.stream.Told(now.Details)
			w.last = now
		}
		if w.last.State == health.Ready {
			return w.last, nil, nil
		}
		w.say(w.last)
		if w.over(w.last) {
			return w.last, nil, nil
		}
	}
	if cause := w.patience(ctx, w.until); cause != nil {
		return w.lastWords(ctx, cause, w.last), cause, nil
	}
	return w.last, nil, w.park(ctx, Wait{Ref: w.ref, Instance: w.instance, Since: w.start, Why: w.last.Line()}, min(w.next(w.last, pause), w.until.Sub(w.s.Now())), dag.ErrWaits)
}

// lastWords adds what the pods say of a workload when it is given up: what they said when they were asked before may be
// over, or they could not say it yet.
func (w *watching) lastWords(ctx context.Context, cause error, last health.Status) health.Status {
	if w.bare.State == "" || !w.ref.IsWorkload() || !errors.Is(cause, errTimeUp) {
		return last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), podsAfter)
	defer cancel()
	if now := w.s.podReasons(ctx, w.ref, w.seen)(w.bare); len(now.Details) > len(w.bare.Details) {
		return now
	}
	return last
}

// see returns the object from the stream, or by a GET where the stream cannot show it: it lost our label, it is gone,
// or listing is forbidden. pause is when to look by GET again, below 0 for "the stream tells"; obj nil with a pause is
// an object that is not there.
func (w *watching) see(ctx context.Context) (obj map[string]any, pause time.Duration, err error) {
	obj, synced, err := w.stream.Look(w.ref.Name)
	if err == nil && (!synced || obj != nil) {
		w.polls = 0
		return obj, -1, nil
	}
	if err == nil && w.polls == 0 && w.s.Now().Sub(w.start) < unseenFor {
		return nil, -1, nil // just written: the watch is about to tell
	}
	live, err := w.s.whole(ctx, w.k, w.k.Preferred, w.ref)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, -1, err
	}
	w.polls++
	return live, min(kubeapi.FirstPoll*time.Duration(w.polls), kubeapi.MaxPoll), nil
}

// judge tells the object's health; of an object older than what we wrote nothing is believed.
func (w *watching) judge(ctx context.Context, obj map[string]any) health.Status {
	if w.bare = (health.Status{}); obj == nil {
		return w.missing()
	}
	u := unstructured.Unstructured{Object: obj}
	if w.generation > 0 && u.GetGeneration() < w.generation {
		return health.Status{State: health.Progressing, Reason: "the change is not visible yet"}
	}
	st := w.verdict(ctx, obj)
	if st.State == "" {
		return st // the time was up before its turn
	}
	st = w.s.said(st)
	if st.State == health.Ready || !w.ref.IsWorkload() {
		return st
	}
	st.Details = slices.Clip(st.Details)
	w.bare = st
	now := w.s.Now()
	if now.Sub(w.start) >= w.podsAfter() && now.Sub(w.podsAt) >= podsEvery && ctx.Err() == nil {
		w.podsAt = now
		w.pods = w.s.podReasons(ctx, w.ref, obj)
	}
	if w.pods != nil {
		st = w.pods(st)
	}
	return st
}

// missing tells of an object that is not there whether it was done: of its end the watch may have told.
func (w *watching) missing() health.Status {
	o := w.known(w.ref)
	last, whole := w.stream.End(w.ref.Name), true
	if last == nil || string((&unstructured.Unstructured{Object: last}).GetUID()) != o.UID {
		last, whole = w.seen, false
	}
	return health.Gone(last, whole, o.Expires)
}

func (w *watching) podsAfter() time.Duration { return min(podsAfter, w.hopeless/2) }

func (w *watching) verdict(ctx context.Context, obj map[string]any) health.Status {
	if w.hook != "" {
		return health.Finished(obj)
	}
	st, _ := w.s.judged(ctx, w.ref, obj, w.req.Rules[w.instance])
	return st
}

// over reports whether waiting makes no sense any more.
func (w *watching) over(st health.Status) bool {
	if !st.Stalled && st.State != health.Failed && st.State != health.Missing {
		w.badSince = time.Time{}
		return false
	}
	now := w.s.Now()
	if w.badSince.IsZero() {
		w.badSince = now
	}
	// a failed Job stays failed; everything else gets its grace
	return (w.hook != "" || w.ref.IsJob()) && st.State == health.Failed || now.Sub(w.badSince) >= w.hopeless
}

// say tells the reason when it changed.
func (w *watching) say(st health.Status) {
	if text := st.Line(); text != w.said {
		w.said = text
		w.emit(Event{Type: Waiting, Ref: w.ref, Instance: w.instance, Message: text, Hook: w.hook})
	}
}

// next is when to look again although nothing changed.
func (w *watching) next(st health.Status, pause time.Duration) time.Duration {
	d := time.Minute
	now := w.s.Now()
	if since := now.Sub(w.start); since < unseenFor {
		d = unseenFor - since
	}
	if pause >= 0 {
		d = pause
	}
	if w.ref.IsWorkload() {
		if w.podsAt.IsZero() {
			d = min(d, w.start.Add(w.podsAfter()).Sub(now))
		} else {
			d = min(d, w.podsAt.Add(podsEvery).Sub(now))
		}
	}
	if !w.badSince.IsZero() {
		d = min(d, w.badSince.Add(w.hopeless).Sub(now))
	}
	return max(d, 20*time.Millisecond)
}

// leaves reports whether the object with this uid is not there any more; known is its inventory entry. A watch that loses it has lost the
// label or the object: a GET tells. The error is dag.ErrWaits, or why it cannot be told.
func (e *executor) leaves(ctx context.Context, ref object.Ref, k kubeapi.KindInfo, uid string, known plan.InventoryEntry) error {
	v := visitOf(ctx)
	obj, synced, err := v.stream.Look(ref.Name)
	pause := time.Minute
	if err != nil || synced && (obj == nil || string((&unstructured.Unstructured{Object: obj}).GetUID()) != uid) {
		m, err := e.s.getMeta(ctx, k, ref)
		if e.s.notThere(ctx, err, ref, known, e.s.definitions()) || err == nil && uid != "" && string(m.UID) != uid {
			return nil
		}
		if err != nil {
			return err
		}
		v.polls++
		pause = min(kubeapi.FirstPoll/4*time.Duration(v.polls), kubeapi.MaxPoll)
	}
	if cause := e.patience(ctx, e.deadline); cause != nil {
		return cause
	}
	return e.park(ctx, v.wait, pause, dag.ErrWaits)
}
