package cluster

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// undefined reports whether it is certain that a kind has no objects: it is a custom one, and no definition makes it. A
// definition that serves no version keeps its objects, and so does a group that Kubernetes no longer serves.
// An object that an API server of its own served when it was recorded is not certain to be gone with its APIService.
func (s *Session) undefined(ctx context.Context, gk schema.GroupKind, known plan.Owned) bool {
	if known.Aggregated() || s.Stale(gk.Group) || !(object.Ref{Group: gk.Group, Kind: gk.Kind}).Custom() {
		return false
	}
	var names []string
	err := s.ListMeta(ctx, crdPath, nil, func() { names = nil }, func(m meta) {
		if strings.HasSuffix(m.Name, "."+gk.Group) {
			names = append(names, m.Name)
		}
	})
	for _, name := range names {
		var crd map[string]any
		_, gone := s.Do(ctx, kubeapi.Request{Method: http.MethodGet, Path: crdPath + "/" + url.PathEscape(name), Named: name, Into: &crd})
		kind, _, _ := unstructured.NestedString(crd, "spec", "names", "kind")
		if !apierrors.IsNotFound(gone) && (gone != nil || kind == gk.Kind) {
			return false
		}
	}
	return err == nil
}

// notThere reports whether an error says that the object itself is not there. A server that knows its kind names it; one
// that does not serve the path (any more) tells nothing of the object. known is its inventory entry.
func (s *Session) notThere(ctx context.Context, err error, r object.Ref, known plan.Owned) bool {
	if !apierrors.IsNotFound(err) {
		return false
	}
	status, ok := answer.StatusOf(err)
	return ok && status.Details != nil && status.Details.Name != "" || s.undefined(ctx, r.GroupKind(), known)
}
