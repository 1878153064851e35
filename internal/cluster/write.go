package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/dag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// How often a write looks again after its object moved (with pauses that grow from firstLook, two seconds in all: a
// controller that follows a change writes several times at once), and how long a kind may take to be served after its CRD was.
const (
	maxLooks      = 8
	firstLook     = 10 * time.Millisecond
	lastLook      = 500 * time.Millisecond
	servedWithin  = 20 * time.Second
	servedBackoff = 100 * time.Millisecond
	// redefinedWithin is how long a server may go by a definition or a policy that was written over.
	redefinedWithin = 5 * time.Second
)

// writeOne does what the plan says about one object; for one that stays as it is that is nothing.
func (e *executor) writeOne(ctx context.Context, ref object.Ref) error {
	ch, ok := e.changes[ref]
	if !ok || !ch.Action.Writes() {
		return nil
	}
	body, ok := e.req.Bodies[ref]
	if !ok {
		return e.failed(ctx, ref, string(ch.Action), errors.New("the object to write is missing"))
	}
	k, err := e.kind(ctx, body)
	if err != nil {
		return e.failed(ctx, ref, string(ch.Action), err)
	}
	w := &writing{executor: e, ch: *ch, k: k, body: object.WithoutPaths(body.Body, ch.OmitFields), version: body.GVK().Version}
	if err := w.cede(ctx); err != nil {
		return e.failed(ctx, ref, string(ch.Action), err)
	}
	m, err := w.write(ctx)
	if err != nil {
		return e.failed(ctx, ref, string(ch.Action), err)
	}
	e.wrote(*ch, m)
	e.emit(Event{Type: Written, Ref: ref, Instance: ch.Instance, Action: ch.Action})
	return nil
}

// kind finds out how the object's kind is served; a kind not known yet is looked for once more.
func (e *executor) kind(ctx context.Context, body object.Object) (kubeapi.KindInfo, error) {
	gvk := body.GVK()
	if k, ok := e.s.Kind(gvk); ok {
		return k, nil
	}
	if err := e.s.Refresh(ctx); err != nil {
		return kubeapi.KindInfo{}, err
	}
	if k, ok := e.s.Kind(gvk); ok {
		return k, nil
	}
	return kubeapi.KindInfo{}, &kubeapi.NoKindError{GVK: gvk, Cluster: e.s.Name()}
}

// writing is one object on its way to the API server.
type writing struct {
	*executor
	ch      plan.Change
	k       kubeapi.KindInfo
	body    map[string]any
	version string
}

func (w *writing) write(ctx context.Context) (meta, error) {
	switch w.ch.Action {
	case plan.Create:
		if w.ch.Code == plan.CodeTerminating {
			if err := w.gone(ctx, w.ch.Ref, w.k, w.ch.UID); err != nil {
				return meta{}, err
			}
		}
		return w.create(ctx)
	case plan.Recreate:
		if err := w.remove(ctx, w.ch, w.k, true); err != nil {
			return meta{}, err
		}
		return w.create(ctx)
	case plan.Adopt:
		return w.adopt(ctx)
	}
	return w.update(ctx)
}

// cede takes what is left to others out of the object to write, as the live object has it now. While our entry is as the
// plan saw it, so are the fields that it owns: a value of those that moved would not be ours any more.
func (w *writing) cede(ctx context.Context) error {
	if w.ch.Ignore == nil || w.ch.Action != plan.Update && w.ch.Action != plan.Adopt {
		return nil
	}
	live, err := w.s.whole(ctx, w.k, w.version, w.ch.Ref)
	if apierrors.IsNotFound(err) {
		return &StaleError{Ref: w.ch.Ref, Why: "it was deleted since"}
	}
	if err != nil {
		return err
	}
	w.body = w.ch.Written(w.body, live, w.manager)
	return w.same(w.ch, &unstructured.Unstructured{Object: live}, w.ch.ApplyHash)
}

// pre are the preconditions of a write.
type pre struct{ uid, rv string }

// apply sends one server-side apply with preconditions; its attempt is finished even when ctx ends meanwhile.
func (w *writing) apply(ctx context.Context, p pre, force bool, manager string, body map[string]any) (meta, kubeapi.Reply, error) {
	if p.uid != "" || p.rv != "" {
		u := (&unstructured.Unstructured{Object: body}).DeepCopy()
		if p.uid != "" {
			_ = unstructured.SetNestedField(u.Object, p.uid, "metadata", "uid")
		}
		u.SetResourceVersion(p.rv)
		body = u.Object
	}
	deadline := w.s.Now().Add(redefinedWithin)
	for wait := servedBackoff; ; wait = min(2*wait, time.Second) {
		var m meta
		rep, err := w.send(ctx, kubeapi.Request{Method: http.MethodPatch, Path: w.k.Path(w.version, w.ch.Ref.Namespace, w.ch.Ref.Name), Named: w.ch.Ref.Name,
			Query: url.Values{"fieldManager": {manager}, "force": {strconv.FormatBool(force)}, "fieldValidation": {"Strict"}},
			Body:  body, ContentType: kubeapi.ApplyType, Accept: kubeapi.MetadataType, Into: &m})
		if !answer.IsSchema(err) || answer.IsUIDMismatch(err) || !w.redefined() || w.s.Now().After(deadline) || kubeapi.Sleep(ctx, wait) != nil {
			return m, rep, err
		}
	}
}

// redefined reports whether this run has written the definition of the object's kind: a handler may go by the old one for
// a moment still.
func (w *writing) redefined() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.defined[w.ch.Ref.GroupKind()]
}

// create applies an object that must not be there, without force. An apply cannot ask for that, so the answer tells:
// 201 created it. 200 means that somebody else did meanwhile; then what our apply added is taken out again.
func (w *writing) create(ctx context.Context) (meta, error) {
	v := visitOf(ctx)
	if v.served.IsZero() {
		v.served, v.pause = w.s.Now().Add(servedWithin), servedBackoff
	}
	m, rep, err := w.apply(ctx, pre{}, w.ch.Action == plan.Unknown && w.ch.Force, w.manager, w.body)
	switch {
	case err == nil && (rep.Code == http.StatusCreated || w.ch.Action == plan.Unknown):
		return m, nil
	case err == nil && rep.Unsure && object.OwnTime(m.ManagedFields, w.manager).Equal(m.CreationTimestamp.Time):
		return m, nil // an attempt without an answer had created it
	case err == nil:
		w.withdraw(ctx, m)
		return m, &StaleError{Ref: w.ch.Ref, Why: "it has appeared since" + by(plan.LiveOf(m.ObjectMeta, w.manager).Foreign)}
	case answer.IsFieldConflict(err):
		return m, &StaleError{Ref: w.ch.Ref, Why: "it has appeared since, with other values: " + w.s.text(err, w.ch.Ref)}
	case answer.IsConversion(err):
		return m, err
	case rep.Code == http.StatusNotFound && w.k.Custom && w.s.Now().Before(v.served):
		// the definition is established and the kind is not served by every handler yet
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		wait := v.pause
		v.pause = min(2*wait, time.Second)
		return m, w.park(ctx, Wait{Ref: w.ch.Ref, Instance: w.ch.Instance, Since: v.served.Add(-servedWithin), Why: "its kind is not served yet"}, wait, dag.ErrPauses)
	default:
		return m, err
	}
}

func by(owner string) string {
	if owner == "" {
		return ""
	}
	return ", managed by " + owner
}

// withdraw takes back what an apply added to somebody else's object: applying nothing gives up every field of ours,
// and no value of theirs was changed because there was no force.
func (w *writing) withdraw(ctx context.Context, m meta) {
	if _, _, err := w.apply(ctx, pre{string(m.UID), m.ResourceVersion}, false, w.manager, w.bare()); err != nil {
		w.emit(Event{Type: Notice, Ref: w.ch.Ref, Instance: w.ch.Instance,
			Message: "what was added to it could not be taken back: " + w.s.text(err, w.ch.Ref)})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if o, ok := w.inventory[w.ch.Ref]; ok && o.UID == "" {
		delete(w.inventory, w.ch.Ref)
	}
}

// bare is the object with nothing but what names it.
func (w *writing) bare() map[string]any {
	named := map[string]any{"name": w.ch.Ref.Name}
	if w.ch.Ref.Namespace != "" {
		named["namespace"] = w.ch.Ref.Namespace
	}
	return map[string]any{"apiVersion": w.body["apiVersion"], "kind": w.body["kind"], "metadata": named}
}

// update applies over what the plan saw. When something else of the object moved meanwhile (status, other fields) it
// looks again and goes on as long as our own entry is as the plan saw it.
func (w *writing) update(ctx context.Context) (meta, error) {
	p := pre{w.ch.UID, w.ch.ResourceVersion}
	if w.ch.Handover {
		var err error
		if p, err = w.handover(ctx, p); err != nil {
			return meta{}, err
		}
	}
	m, err := w.over(ctx, p, w.ch.Force, w.ch.ApplyHash)
	if err != nil || w.ch.Reclaim == "" {
		return m, err
	}
	return w.refold(ctx, m, func(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool, error) {
		return object.Reclaim(entries, w.manager, w.ch.Reclaim)
	})
}

// over applies with preconditions, looking again as update says. own is what our entry must be.
func (w *writing) over(ctx context.Context, p pre, force bool, own string) (meta, error) {
	unsure, repaired := false, false
	for look := 1; ; look++ {
		m, rep, err := w.apply(ctx, p, force, w.manager, w.body)
		unsure = unsure || rep.Unsure
		switch {
		case err == nil:
			return m, nil
		case answer.IsConversion(err) && !repaired:
			repaired = true
			if p, err = w.repair(ctx, p); err != nil {
				return m, err
			}
			continue
		case !apierrors.IsConflict(err) && !answer.IsUIDMismatch(err), look > maxLooks:
			return m, err
		}
		if err := settle(ctx, look); err != nil {
			return m, err
		}
		now, lookErr := w.s.getMeta(ctx, w.k, w.ch.Ref)
		if lookErr != nil {
			if apierrors.IsNotFound(lookErr) {
				return m, &StaleError{Ref: w.ch.Ref, Why: "it was deleted since"}
			}
			return m, lookErr
		}
		have, _ := object.OwnEntry(now.ManagedFields, w.manager)
		switch {
		case string(now.UID) != w.ch.UID:
			return m, &StaleError{Ref: w.ch.Ref, Why: "it is another object now (other uid)"}
		case have == own && answer.IsFieldConflict(err):
			return m, err // fields that others had when the plan was made
		case have == own:
		case unsure && !answer.IsFieldConflict(err):
			force = false // our own lost answer, or somebody else: without force the server tells them apart
		default:
			return m, &StaleError{Ref: w.ch.Ref, Why: "fields we declared were changed since"}
		}
		if err := w.unforeseen(ctx, w.ch); err != nil {
			return m, err
		}
		p.rv = now.ResourceVersion
	}
}

// settle waits before a write looks again for the n-th time; the first time it does not. The error is that of ctx's end.
func settle(ctx context.Context, n int) error {
	if n <= 1 {
		return nil
	}
	return kubeapi.Sleep(ctx, min(firstLook<<n, lastLook))
}

// again does something, and once more while an object that was read for it has moved.
func again(ctx context.Context, do func() error) error {
	for look := 1; ; look++ {
		err := do()
		if !apierrors.IsConflict(err) || look > maxLooks {
			return err
		}
		if err := settle(ctx, look); err != nil {
			return err
		}
	}
}

// handover lets a second manager own the live spec.replicas before we drop the field: dropped by its only owner it
// would fall to 1.
func (w *writing) handover(ctx context.Context, p pre) (pre, error) {
	live, err := w.s.whole(ctx, w.k, w.version, w.ch.Ref)
	if err != nil {
		return p, err
	}
	u := unstructured.Unstructured{Object: live}
	if string(u.GetUID()) != p.uid {
		return p, &StaleError{Ref: w.ch.Ref, Why: "it is another object now (other uid)"}
	}
	replicas, ok, _ := unstructured.NestedFieldNoCopy(live, "spec", "replicas")
	if !ok {
		return p, nil
	}
	body := w.bare()
	body["spec"] = map[string]any{"replicas": replicas}
	m, _, err := w.apply(ctx, pre{uid: p.uid}, false, object.HandoverManager, body)
	if err != nil {
		return p, fmt.Errorf("handing spec.replicas over: %w", err)
	}
	if own, _ := object.OwnEntry(m.ManagedFields, w.manager); own != w.ch.ApplyHash {
		return p, &StaleError{Ref: w.ch.Ref, Why: "fields we declared were changed since"}
	}
	p.rv = m.ResourceVersion
	return p, nil
}

// repair rewrites managed fields entries that name a version the kind no longer has: with one of those every apply,
// forced or not, fails.
func (w *writing) repair(ctx context.Context, p pre) (pre, error) {
	m, err := w.s.getMeta(ctx, w.k, w.ch.Ref)
	if err != nil {
		return p, err
	}
	if string(m.UID) != p.uid {
		return p, &StaleError{Ref: w.ch.Ref, Why: "it is another object now (other uid)"}
	}
	apiVersion, _ := w.body["apiVersion"].(string)
	out, err := w.patch(ctx, m, object.WithEntries(m.ObjectMeta, object.Served(m.ManagedFields, w.k.Versions, apiVersion)))
	if err != nil {
		return p, fmt.Errorf("repairing managed fields that name a removed version: %w", err)
	}
	w.emit(Event{Type: Notice, Ref: w.ch.Ref, Instance: w.ch.Instance, Message: "repaired managed fields that named a removed version"})
	p.rv = out.ResourceVersion
	return p, nil
}
