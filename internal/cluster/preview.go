package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/leftover"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/order"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/rights"
)

// Preview asks the API server what it would do with each change: a server-side apply in a dry run, unforced, with
// strict field validation. What cannot be asked (the namespace or kind comes with this plan, a webhook refuses dry
// runs) is said in Deferred, what cannot work in Finding. all are the changes of the plan, bodies its objects. Nothing is
// stored.
func (s *Session) Preview(ctx context.Context, reqs []PreviewRequest, all []plan.Change, bodies map[object.Ref]object.Object) map[object.Ref]plan.Preview {
	p := &previewer{s: s, new: map[object.Ref]bool{}, changed: map[object.Ref]bool{}}
	var written []object.Object
	for _, ch := range all {
		if p.new[ch.Ref] = ch.Action == plan.Create; ch.Action.Writes() && ch.Action != plan.Delete {
			p.changed[ch.Ref], written = true, append(written, bodies[ch.Ref])
		}
	}
	p.kinds = object.DefinedKinds(written)
	out := make(map[object.Ref]plan.Preview, len(reqs))
	var mu sync.Mutex
	var wg broke.Group
	for _, r := range reqs {
		wg.Go(func() {
			one := p.preview(ctx, r)
			if f := one.Finding; f != nil {
				f.Object, f.Instance, f.Pos, f.Cluster = r.Change.Ref.String(), r.Change.Instance, r.Change.Pos, s.Name()
			}
			mu.Lock()
			defer mu.Unlock()
			out[r.Change.Ref] = one
		})
	}
	wg.Wait()
	rights.Lacking(s.Name(), all, out, s.resource, func(all []rights.Right) []rights.Right { return s.without(ctx, all) })
	return out
}

type previewer struct {
	s *Session
	// new are the objects this plan creates, changed all that it writes; kinds those its CRDs bring.
	new, changed map[object.Ref]bool
	kinds        map[schema.GroupKind]object.DefinedKind
}

func (p *previewer) preview(ctx context.Context, r PreviewRequest) plan.Preview {
	if d := p.deferred(r.Change.Ref, r.Body.GVK().Version); d != "" {
		return plan.Preview{Deferred: d, Fields: p.fields(r.Body, nil, r.Body.Body, object.Setters{})}
	}
	k, ok := p.s.ByGroupKind(r.Change.Ref.GroupKind())
	if !ok {
		f := diag.Errorf(object.CodeUnknownKind, "the cluster does not know the kind %s of %s", r.Change.Ref.Kind, r.Body.GVK().GroupVersion())
		return plan.Preview{Finding: &f}
	}
	for look := 1; ; look++ {
		out, moved := p.ask(ctx, k, r)
		if !moved || look > maxLooks || settle(ctx, look) != nil {
			return out
		}
	}
}

// ask reads the live object where it is needed, and asks for the change. What somebody else writes between the two would
// look like a change of ours: moved says that they speak of two versions of the object.
func (p *previewer) ask(ctx context.Context, k kubeapi.KindInfo, r PreviewRequest) (out plan.Preview, moved bool) {
	// Only the live object tells what is lost and who set what; a declaration that changed on an unmoved object is
	// compared with the recorded one, without a read, unless fields of it are or were left to others or are taken back.
	live, rerr := map[string]any(nil), error(nil)
	needLive := r.Change.Action != plan.Create && (r.Base == nil || r.Live || r.Change.Code != plan.CodeChanged || r.Change.Ignore != nil || r.Change.Was != nil || r.Change.Force)
	if needLive {
		if live, rerr = p.read(ctx, k, r); rerr != nil {
			return p.failed(r, rerr), false
		}
		r.live = live
		defer func() { out.Foreign = r.Body.Overwritten(live, written(r), managerOf(r.Body)) }()
	}
	if r.Change.Action == plan.Adopt && live != nil {
		return p.adoption(ctx, k, r)
	}
	after, code, err := p.dryRun(ctx, k, r)
	switch {
	case err == nil:
	case answer.IsFieldConflict(err), code == http.StatusUnprocessableEntity && r.Change.Action != plan.Create:
		if live == nil && r.Change.Action != plan.Create { // it was not unmoved: show what they made of it
			if live, rerr = p.read(ctx, k, r); rerr != nil {
				return p.failed(r, rerr), false
			}
		}
		if answer.IsFieldConflict(err) {
			return p.conflicts(r, live, err), false
		}
		return p.refused(ctx, k, r, live, err), false
	default:
		return p.unasked(r, err), false
	}
	out = plan.Preview{Checked: true, Force: r.Change.Force, OmitFields: r.Change.OmitFields, Reclaim: object.Left((&unstructured.Unstructured{Object: after}).GetManagedFields(), r.Base, written(r))}
	out.Stays = leftover.Fields(after, r.Base, r.Body.Body, managerOf(r.Body), r.Change)
	if live == nil && r.Base != nil && (out.Stays != "" || leftover.Shared(p.fields(r.Body, r.Base, written(r), settersOf(after, r)))) { // declaration against declaration would say that they go, or are new
		if live, rerr = p.read(ctx, k, r); rerr != nil {
			return p.failed(r, rerr), false
		}
	}
	before, now := live, object.WithoutFields(after, out.Reclaim)
	if live == nil {
		if before = object.WithoutPaths(r.Base, r.Change.OmitFields); r.Base != nil {
			now = written(r) // declaration against declaration
		}
	}
	stay, warning := leftover.Told(r.Body, after, out.Stays, p.s.Redact, settersOf(after, r))
	out.Fields, out.Finding = p.dropped(r, append(p.fields(r.Body, before, now, settersOf(live, r)), stay...), object.WithoutFields(after, out.Reclaim)), warning
	out.AgainstLive = live != nil
	out.NoOp = live != nil && object.SameContent(live, after) && ownOf(live, r) == ownOf(after, r)
	return out, differ(live, after)
}

// dropped are fields with what becomes of those that are declared no longer, as the server answered: it may keep them, or fill them in.
func (p *previewer) dropped(r PreviewRequest, told []plan.FieldChange, after map[string]any) []plan.FieldChange {
	if r.Base == nil {
		return told
	}
	base := object.WithoutPaths(r.Base, r.Change.OmitFields)
	a := leftover.Answer{Told: told, Declared: p.fields(r.Body, base, object.WithoutPaths(r.Body.Body, r.Change.OmitFields), object.Setters{}), Real: p.fields(r.Body, base, after, object.Setters{})}
	if r.Change.Handover {
		a.Handed = plan.ReplicasPath
	}
	return a.Fields()
}

// read is the live object, nil where there is none.
func (p *previewer) read(ctx context.Context, k kubeapi.KindInfo, r PreviewRequest) (live map[string]any, err error) {
	if live, err = p.s.whole(ctx, k, r.Body.GVK().Version, r.Change.Ref); apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// differ reports whether two answers are of different versions of one object.
func differ(live, after map[string]any) bool {
	version := func(o map[string]any) string { return (&unstructured.Unstructured{Object: o}).GetResourceVersion() }
	return live != nil && version(live) != version(after)
}

// written is the object as it would be written: without what is ceded.
func written(r PreviewRequest) map[string]any {
	return r.Change.Written(r.Body.Body, r.live, managerOf(r.Body))
}

// dryRun applies without storing. The answer's status code comes beside the error.
func (p *previewer) dryRun(ctx context.Context, k kubeapi.KindInfo, r PreviewRequest) (map[string]any, int, error) {
	var after map[string]any
	rep, err := p.s.Do(ctx, kubeapi.Request{Method: http.MethodPatch, Path: k.Path(r.Body.GVK().Version, r.Change.Ref.Namespace, r.Change.Ref.Name), Named: r.Change.Ref.Name,
		Query: url.Values{"fieldManager": {managerOf(r.Body)}, "fieldValidation": {"Strict"}, "dryRun": {"All"},
			"force": {fmt.Sprint(r.Change.Force || r.Change.Action == plan.Adopt)}},
		ContentType: kubeapi.ApplyType, Body: written(r), Into: &after, WebhooksFinal: true})
	return after, rep.Code, err
}

// managerOf is the field manager of the bundle that the object is marked with.
func managerOf(o object.Object) string {
	return object.Manager(o.Unstructured().GetLabels()[object.LabelOwner])
}

// deferred says why the server cannot be asked yet, "" when it can.
func (p *previewer) deferred(ref object.Ref, version string) string {
	if p.new[object.Ref{Kind: "Namespace", Name: ref.Namespace}] && ref.Namespace != "" {
		return "namespace " + ref.Namespace + " is new"
	}
	d := p.kinds[ref.GroupKind()]
	k, _ := p.s.ByGroupKind(ref.GroupKind())
	return d.Brings(version, p.new[d.CRD], k.Versions)
}

// refused tells an immutable field from an invalid object, and from one that is invalid together with what others or defaults have
// in the live one, by asking the server for new ones in dry runs: it has no machine-readable "immutable".
func (p *previewer) refused(ctx context.Context, k kubeapi.KindInfo, r PreviewRequest, live map[string]any, cause error) plan.Preview {
	out, manager := p.failed(r, cause), managerOf(r.Body)
	out.Fields = p.declared(r, orBase(live, r), settersOf(live, r)) // what was to change is told all the same
	switch {
	case crdNamed(r.Change.Ref) || !answer.OfFields(cause) || !p.accepted(ctx, k, r, written(r)): // a CRD cannot have another name
	case answer.SaysImmutable(cause), live != nil && answer.MayBeImmutable(cause) && p.accepted(ctx, k, r, leftover.Together(live, written(r), manager)):
		return plan.Preview{Immutable: true, Says: p.s.text(cause, r.Change.Ref), Checked: true, Fields: out.Fields}
	case out.Finding != nil:
		answer.Combined(out.Finding, leftover.Setters(live, manager, answer.Fields(cause)))
	}
	return out
}

// accepted reports whether the server would take an object as a new one.
func (p *previewer) accepted(ctx context.Context, k kubeapi.KindInfo, r PreviewRequest, body map[string]any) bool {
	_, err := p.s.Do(ctx, kubeapi.Request{Method: http.MethodPost, Path: k.Path(r.Body.GVK().Version, r.Change.Ref.Namespace, ""),
		Query: url.Values{"dryRun": {"All"}, "fieldManager": {managerOf(r.Body)}}, Body: leftover.AsNew(body), WebhooksFinal: true})
	return err == nil || apierrors.IsAlreadyExists(err) || answer.OnlyTaken(err)
}

// crdNamed kinds cannot be tried under another name.
func crdNamed(r object.Ref) bool { return r.IsCRD() || r.IsAPIService() }

// conflicts are the fields that other managers own with other values.
func (p *previewer) conflicts(r PreviewRequest, live map[string]any, err error) plan.Preview {
	out := plan.Preview{Checked: true}
	for _, c := range answer.Causes(err) {
		if c.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		manager, sub := answer.ConflictManager(c.Message)
		fc := plan.FieldConflict{Path: strings.TrimPrefix(c.Field, "."), Manager: manager, Subresource: sub}
		if fields := object.FieldsNamed(r.Body.Body, c.Field); len(fields) > 0 {
			fc.Path = fields[0].String()
			fc.Ours = !slices.ContainsFunc(fields, func(f object.Field) bool { return !f.In(r.Base) })
		}
		fc.Path = pathmask.Mask(fc.Path, p.s.Redact, object.AsNamed)
		out.Conflicts = append(out.Conflicts, fc)
	}
	out.Fields = p.declared(r, orBase(live, r), settersOf(live, r))
	return out
}

// orBase is the live object, else the recorded one.
func orBase(live map[string]any, r PreviewRequest) map[string]any {
	if live == nil {
		return r.Base
	}
	return live
}

// declared compares only what we declare and declared before, when the server gave no result to compare with.
func (p *previewer) declared(r PreviewRequest, before map[string]any, by object.Setters) []plan.FieldChange {
	was, now := object.Restrict(before, object.WithoutPaths(r.Base, r.Change.OmitFields)), object.WithoutPaths(r.Body.Body, r.Change.OmitFields) // with what is left to others
	return rights.Told(p.fields(r.Body, object.Restrict(before, written(r)), written(r), by), p.fields(r.Body, was, now, by))
}

// failed turns a refusal into a Deferred or a Finding.
func (p *previewer) failed(r PreviewRequest, err error) plan.Preview {
	if d := p.kinds[r.Change.Ref.GroupKind()]; p.changed[d.CRD] && answer.IsSchema(err) {
		// by the definition as it is now; the one of this plan was checked before
		return plan.Preview{Deferred: "CRD " + d.CRD.Name + " changes with this plan", Fields: p.declared(r, r.Base, object.Setters{})}
	}
	f, later := answer.Refusal(err, answer.Tried{New: r.Change.Action == plan.Create, Update: r.Change.Action == plan.Update, Namespaced: r.Change.Ref.Namespace != "", Without: order.NewRole(r.Change.Ref, r.Body.Body, p.new)})
	if later != "" {
		return plan.Preview{Deferred: later, Fields: p.declared(r, r.Base, object.Setters{})}
	}
	f.Why = p.s.text(err, r.Change.Ref)
	return plan.Preview{Finding: &f}
}

// unasked is failed for the dry run itself: one that may be forbidden for want of a right comes with what can be told without.
func (p *previewer) unasked(r PreviewRequest, err error) plan.Preview {
	out := p.failed(r, err)
	if out.Lacks = out.Finding != nil && out.Finding.Code == answer.CodeForbidden; out.Lacks {
		out.Fields = p.declared(r, orBase(r.live, r), settersOf(r.live, r))
	}
	return out
}

// fields are the differences as the plan shows them: compact JSON, secrets hidden, who set what is there now.
func (p *previewer) fields(o object.Object, before, after map[string]any, by object.Setters) []plan.FieldChange {
	return plan.FieldChanges(o, before, after, p.s.Redact, by)
}

// settersOf reads who set what in a live object.
func settersOf(live map[string]any, r PreviewRequest) object.Setters {
	return object.SettersOf((&unstructured.Unstructured{Object: live}).GetManagedFields(), managerOf(r.Body))
}

// ownOf is the hash of our managed fields entry.
func ownOf(obj map[string]any, r PreviewRequest) string {
	own, _ := object.OwnEntry((&unstructured.Unstructured{Object: obj}).GetManagedFields(), managerOf(r.Body))
	return own
}
