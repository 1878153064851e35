package cluster

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/pathmask"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/staleplan"
)

// whole reads an object with everything in it, nil where it is not there.
func (s *Session) whole(ctx context.Context, k kubeapi.KindInfo, version string, r object.Ref) (live map[string]any, err error) {
	_, err = s.Do(ctx, kubeapi.Request{Method: http.MethodGet, Path: k.Path(version, r.Namespace, r.Name), Named: r.Name, Into: &live})
	return live, err
}

// Foreign reads what others have in the objects of changes that would undo it (staleplan.Overrides), one GET for each; what is
// gone has nothing. bodies are what is written; owner is the id of our bundle.
func (s *Session) Foreign(ctx context.Context, owner string, changes []plan.Change, bodies map[object.Ref]object.Object) (map[object.Ref][]object.ForeignField, error) {
	out := map[object.Ref][]object.ForeignField{}
	for _, ch := range changes {
		k, ok := s.ByGroupKind(ch.Ref.GroupKind())
		if !ok {
			continue // nothing can be done to it
		}
		body, version := bodies[ch.Ref], k.Preferred
		if !staleplan.Destroys(ch) {
			version = body.GVK().Version
		}
		live, err := s.whole(ctx, k, version, ch.Ref)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, s.describe(err, "get", ch.Ref)
		}
		out[ch.Ref] = staleplan.Undone(ch, body, live, object.Manager(owner))
	}
	return out, nil
}

// unforeseen is a *StaleError where others have written what a change would undo since the plan was made.
func (e *executor) unforeseen(ctx context.Context, ch plan.Change) error {
	if !staleplan.Overrides(ch) {
		return nil
	}
	now, err := e.s.Foreign(ctx, e.req.Plan.Owner, []plan.Change{ch}, e.req.Bodies)
	if f := object.Unforeseen(ch.Foreign, now[ch.Ref]); f != nil {
		return &StaleError{Ref: ch.Ref, Why: pathmask.Mask(f.Since(), e.s.Redact, object.AsNamed)}
	}
	return err
}

// same is a *StaleError where an object is another one than the plan saw, or our managed fields entry is not own.
func (e *executor) same(ch plan.Change, live metav1.Object, own string) error {
	have, _ := object.OwnEntry(live.GetManagedFields(), e.manager)
	switch {
	case string(live.GetUID()) != ch.UID:
		return &StaleError{Ref: ch.Ref, Why: "it is another object now (other uid)"}
	case have != own:
		return &StaleError{Ref: ch.Ref, Why: "fields we declared were changed since"}
	}
	return nil
}
