package cluster

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
)

const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// crdKey is the schema key of a kind that a CRD defines: new defaults in it change live objects without moving
// anything else.
func crdKey(m meta) string { return fmt.Sprintf("%s:%d", m.UID, m.Generation) }

// serverKey is the schema key of Kubernetes' own kinds: the server's minor version.
func (s *Session) serverKey() string {
	parts := strings.SplitN(s.facts.Version, ".", 3)
	if len(parts) < 2 {
		return "v" + s.facts.Version
	}
	return "v" + parts[0] + "." + parts[1]
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
			keys[plan.SchemaKey(r)] = o.s.serverKey()
		case ok:
			keys[plan.SchemaKey(r)] = o.s.serverKey() // of an aggregated API, unless a CRD turns up
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
	err := o.s.listMeta(o.ctx, crdPath, nil, func() {}, func(m meta) {
		if _, ok := wanted[m.Name]; ok {
			out[m.Name] = m
		}
	})
	switch {
	case err == nil:
		return out
	case !apierrors.IsForbidden(err):
		o.find(o.failed(object.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "*"}, err))
		return out
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	forbidden := 0
	for name := range wanted {
		wg.Go(func() {
			var m meta
			_, err := o.s.do(o.ctx, call{method: http.MethodGet, path: crdPath + "/" + url.PathEscape(name), named: name, accept: metadataType, into: &m})
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
