package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

// crdKey is the schema key of a kind that a CRD defines: new defaults in it change live objects without moving
// anything else.
func crdKey(m meta) string { return fmt.Sprintf("%s:%d", m.UID, m.Generation) }

// Definition is the definition of a custom kind as it stands in the cluster, nil where there is none or it cannot be read.
func (s *Session) Definition(ctx context.Context, gk schema.GroupKind) map[string]any {
	k, ok := s.ByGroupKind(gk)
	if !ok {
		return nil
	}
	body, _ := s.CustomResourceDefinition(ctx, k.Resource+"."+gk.Group)
	return body
}

// schemas fills the schema key of every kind in use. CRDs are listed (metadata only) when a custom kind is among them,
// and read one by one where listing is forbidden.
func (o *observer) schemas() {
	custom := map[string]schema.GroupKind{} // by CRD name
	keys := map[string]string{}
	use := func(r object.Ref) {
		k, ok := o.s.ByGroupKind(r.GroupKind())
		switch {
		case !r.Custom():
			keys[plan.SchemaKey(r)] = plan.ServerSchema(o.s.version())
		case ok:
			keys[plan.SchemaKey(r)] = plan.ServerSchema(o.s.version()) // of an aggregated API, unless a CRD turns up
			custom[k.Resource+"."+r.Group] = r.GroupKind()
		default: // its definition may be there although discovery does not show it yet
			if d, comes := o.req.Defined[r.GroupKind()]; comes {
				custom[d.CRD.Name] = r.GroupKind()
			}
		}
	}
	for _, d := range o.req.Desired {
		use(d.Ref)
	}
	for r := range o.owned {
		use(r)
	}
	if len(custom) > 0 {
		for name, m := range o.crds(custom) {
			if gk, ok := custom[name]; ok {
				keys[plan.SchemaKey(object.Ref{Group: gk.Group, Kind: gk.Kind})] = crdKey(m)
			}
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Schema = keys
}

func (o *observer) crds(wanted map[string]schema.GroupKind) map[string]meta {
	out := map[string]meta{}
	all, err := o.definitions.Names(o.ctx)
	switch {
	case err == nil:
		return all
	case !apierrors.IsForbidden(err):
		o.find(o.failed(object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "*"}, err))
		return out
	}
	var mu sync.Mutex
	var wg broke.Group
	forbidden := 0
	for name := range wanted {
		wg.Go(func() {
			var m meta
			_, err := o.s.Do(o.ctx, kubeapi.Request{Method: http.MethodGet, Path: kubeapi.DefinitionsPath + "/" + url.PathEscape(name), Named: name, Accept: kubeapi.MetadataType, Into: &m})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				out[name] = m
			case apierrors.IsForbidden(err):
				forbidden++
			}
		})
	}
	wg.Wait()
	if forbidden > 0 {
		o.find(diag.Finding{Severity: diag.Info, Code: "no-crds",
			What: "custom resource definitions may not be read: a changed default in one of them is not noticed",
			Fix:  "grant get and list on customresourcedefinitions"})
	}
	return out
}
