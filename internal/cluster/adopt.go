package cluster

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/plan"
)

const mergePatchType = "application/merge-patch+json"

// adoption asks what taking an object over would do: the forced apply that Execute sends, and when the former owner's
// other fields do not go together with ours, or go, the one write that replaces them.
func (p *previewer) adoption(ctx context.Context, k kubeapi.KindInfo, r PreviewRequest) (out plan.Preview, moved bool) {
	entries := (&unstructured.Unstructured{Object: r.live}).GetManagedFields()
	t := object.NewTakeover(entries, r.Change.FromManagers, managerOf(r.Body))
	after, code, err := p.dryRun(ctx, k, r)
	rest := t.Rest(after, written(r))
	// what goes may come back as the server's default: the whole is asked for in one write
	if invalid := code == http.StatusUnprocessableEntity; invalid || err == nil && !object.SameContent(rest, after) {
		var whole map[string]any
		_, perr := p.s.Do(ctx, kubeapi.Request{Method: http.MethodPatch, Path: k.Path(r.Body.GVK().Version, r.Change.Ref.Namespace, r.Change.Ref.Name),
			Query: url.Values{"fieldManager": {managerOf(r.Body)}, "fieldValidation": {"Strict"}, "dryRun": {"All"}},
			Body:  t.Patch(r.live, written(r)), ContentType: mergePatchType, Named: r.Change.Ref.Name, Into: &whole, WebhooksFinal: true})
		switch {
		case invalid && perr != nil:
			return p.refused(ctx, k, r, t.Rest(r.live, written(r)), answer.Rather(perr, err)), false
		case invalid:
			after, rest, err = whole, whole, nil
		case perr == nil:
			rest = whole
		}
	}
	if err != nil {
		return p.unasked(r, err), false
	}
	by := settersOf(r.live, r)
	out = plan.Preview{Checked: true, Force: r.Change.Force, OmitFields: r.Change.OmitFields}
	out.Fields = slices.DeleteFunc(p.fields(r.Body, r.live, rest, by), func(f plan.FieldChange) bool {
		return strings.HasPrefix(f.Path, `metadata.labels."hawser.dev/`) // that is what adopting means
	})
	for _, d := range object.Diff(r.live, after, r.Body.Mask()) {
		if third := t.Foreign(by, d, r.Change.FromManagers); third != "" {
			out.Conflicts = append(out.Conflicts, plan.FieldConflict{Path: pathmask.Mask(d.Path, p.s.Redact, object.AsNamed), Manager: third})
		}
	}
	return out, differ(r.live, after)
}

// adopt takes an object over. Ours is applied first, so that nothing of the former owner has changed when that is
// refused; then its managed fields entries are folded into ours and kubectl's copy of the object goes, and what it had
// and we do not declare goes with a second apply.
func (w *writing) adopt(ctx context.Context) (meta, error) {
	m, err := w.s.getMeta(ctx, w.k, w.ch.Ref)
	if err != nil {
		if kubeapi.IsNotFound(err) {
			return meta{}, &StaleError{Ref: w.ch.Ref, Why: "it was deleted since"}
		}
		return meta{}, err
	}
	own := w.ch.ApplyHash
	if err := w.same(w.ch, &m, own); err != nil {
		return meta{}, err
	}
	if m.ResourceVersion != w.ch.ResourceVersion {
		if err := w.third(ctx); err != nil {
			return meta{}, err
		}
		if w.ch.FormerEntries != "" && plan.LiveOf(m.ObjectMeta, w.manager).ForeignEntries != w.ch.FormerEntries {
			return meta{}, &StaleError{Ref: w.ch.Ref, Why: "its owner has changed it since"}
		}
		if err := w.unforeseen(ctx, w.ch); err != nil {
			return meta{}, err
		}
	}
	out, err := w.over(ctx, pre{w.ch.UID, m.ResourceVersion}, true, own)
	if apierrors.IsInvalid(err) && !answer.IsUIDMismatch(err) {
		var instead error
		if out, instead = w.replace(ctx, own); instead == nil {
			err = nil
		}
	}
	if err != nil {
		return out, err
	}
	return w.fold(ctx, out)
}

// third finds fields of ours that a third party has taken since the plan.
func (w *writing) third(ctx context.Context) error {
	_, err := w.s.Do(ctx, kubeapi.Request{Method: http.MethodPatch, Path: w.k.Path(w.version, w.ch.Ref.Namespace, w.ch.Ref.Name),
		Query:       url.Values{"fieldManager": {w.manager}, "dryRun": {"All"}, "force": {"false"}},
		ContentType: kubeapi.ApplyType, Body: w.body, WebhooksFinal: true})
	for _, c := range answer.Causes(err) {
		manager, _ := answer.ConflictManager(c.Message)
		if c.Type == metav1.CauseTypeFieldManagerConflict && !slices.Contains(w.ch.FromManagers, manager) && !object.ByHand(manager) &&
			manager != "before-first-apply" && manager != w.manager {
			return &StaleError{Ref: w.ch.Ref, Why: manager + " has taken " + pathmask.Mask(strings.TrimPrefix(c.Field, "."), w.s.Redact, object.AsNamed) + " since"}
		}
	}
	return nil // any other refusal comes again with the write
}

// replace makes the object ours in one write: without what only the former owner had, with what we declare. It looks
// again when something else of the object moved.
func (w *writing) replace(ctx context.Context, own string) (m meta, err error) {
	err = again(ctx, func() error { m, err = w.replaceOnce(ctx, own); return err })
	return m, err
}

func (w *writing) replaceOnce(ctx context.Context, own string) (meta, error) {
	live, err := w.s.whole(ctx, w.k, w.version, w.ch.Ref)
	if err != nil {
		return meta{}, err
	}
	u := unstructured.Unstructured{Object: live}
	if err := w.same(w.ch, &u, own); err != nil {
		return meta{}, err
	}
	body := object.NewTakeover(u.GetManagedFields(), w.ch.FromManagers, w.manager).Patch(live, w.body)
	_ = unstructured.SetNestedField(body, u.GetResourceVersion(), "metadata", "resourceVersion")
	var m meta
	_, err = w.send(ctx, kubeapi.Request{Method: http.MethodPatch, Path: w.k.Path(w.version, w.ch.Ref.Namespace, w.ch.Ref.Name),
		Query: url.Values{"fieldManager": {w.manager}, "fieldValidation": {"Strict"}},
		Body:  body, ContentType: mergePatchType, Accept: kubeapi.MetadataType, Named: w.ch.Ref.Name, Into: &m})
	return m, err
}

// fold makes the former owner's entries ours, and lets go what they had and we do not declare.
func (w *writing) fold(ctx context.Context, m meta) (meta, error) {
	apiVersion, _ := w.body["apiVersion"].(string)
	return w.refold(ctx, m, func(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool, error) {
		return object.FoldManagers(entries, w.ch.FromManagers, w.manager, apiVersion)
	})
}

// refold changes who owns what of an object that we have applied, and applies again when there is more of ours now, so
// that what we do not declare goes.
func (w *writing) refold(ctx context.Context, m meta,
	change func([]metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, bool, error)) (meta, error) {
	applied := object.EntryOf(m.ManagedFields, w.manager)
	moved, done := false, false
	err := again(ctx, func() (err error) {
		if moved {
			if m, err = w.s.getMeta(ctx, w.k, w.ch.Ref); err != nil {
				return err
			}
		}
		entries, changed, err := change(m.ManagedFields)
		if _, copied := m.Annotations[object.LastApplied]; err != nil || !changed && !(copied && w.ch.Action == plan.Adopt) {
			done = true
			return err
		}
		out, err := w.patch(ctx, m, object.WithEntries(m.ObjectMeta, entries))
		if moved = err != nil; !moved {
			m = out
		}
		return err
	})
	if err != nil || done {
		return m, err
	}
	if now := object.EntryOf(m.ManagedFields, w.manager); applied != nil && now != nil && now.Fields == applied.Fields {
		return m, nil // it had nothing that we do not declare
	}
	own, _ := object.OwnEntry(m.ManagedFields, w.manager)
	return w.over(ctx, pre{w.ch.UID, m.ResourceVersion}, true, own)
}

// patch changes metadata of an object, provided that it did not move.
func (w *writing) patch(ctx context.Context, m meta, ops []object.PatchOp) (meta, error) {
	ops = append([]object.PatchOp{{Op: "test", Path: "/metadata/uid", Value: string(m.UID)},
		{Op: "replace", Path: "/metadata/resourceVersion", Value: m.ResourceVersion}}, ops...)
	var out meta
	_, err := w.send(ctx, kubeapi.Request{Method: http.MethodPatch, Path: w.k.Path(w.version, w.ch.Ref.Namespace, w.ch.Ref.Name), Named: w.ch.Ref.Name,
		Query: url.Values{"fieldManager": {w.manager}}, Body: ops, ContentType: kubeapi.JSONPatchType, Accept: kubeapi.MetadataType,
		Into: &out})
	return out, err
}
