package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// undefined reports whether it is certain that a kind has no objects: it is a custom one, and no definition makes it. A
// definition that serves no version keeps its objects, and so does a group that Kubernetes no longer serves.
// An object that an API server of its own served when it was recorded is not certain to be gone with its APIService. d are
// the definitions as they were listed since that is asked.
func (s *Session) undefined(ctx context.Context, gk schema.GroupKind, known plan.InventoryEntry, d *kubeapi.Definitions) bool {
	if known.Aggregated() || s.Stale(gk.Group) || !(object.Ref{Group: gk.Group, Kind: gk.Kind}).Custom() {
		return false
	}
	return d.None(ctx, gk)
}

// definitions are those of the cluster from now on.
func (s *Session) definitions() *kubeapi.Definitions { return &kubeapi.Definitions{Client: s.Client} }

// notThere reports whether an error says that the object itself is not there. A server that knows its kind names it; one
// that does not serve the path (any more) tells nothing of the object. known is its inventory entry.
func (s *Session) notThere(ctx context.Context, err error, r object.Ref, known plan.InventoryEntry, d *kubeapi.Definitions) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	status, ok := answer.StatusOf(err)
	return ok && status.Details != nil && status.Details.Name != "" || s.undefined(ctx, r.GroupKind(), known, d)
}
