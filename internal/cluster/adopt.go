package cluster

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/object"
)

// adopt takes an object over: the former owner's managed fields entries are folded into ours and kubectl's copy of the
// object goes, so that fields we do not declare really disappear with the forced apply that follows.
func (w *writing) adopt(ctx context.Context) (meta, error) {
	m, err := w.s.getMeta(ctx, w.k, w.ch.Ref)
	if err != nil {
		if IsNotFound(err) {
			return meta{}, &StaleError{Ref: w.ch.Ref, Why: "it was deleted since"}
		}
		return meta{}, err
	}
	own, _ := object.OwnEntry(m.ManagedFields, w.manager)
	switch {
	case string(m.UID) != w.ch.UID:
		return meta{}, &StaleError{Ref: w.ch.Ref, Why: "it is another object now (other uid)"}
	case own != w.ch.Own:
		return meta{}, &StaleError{Ref: w.ch.Ref, Why: "fields we declared were changed since"}
	}
	apiVersion, _ := w.body["apiVersion"].(string)
	folded, changed, err := object.FoldManagers(m.ManagedFields, w.ch.FromManagers, w.manager, apiVersion)
	if err != nil {
		return meta{}, err
	}
	p := pre{w.ch.UID, m.ResourceVersion}
	if _, ok := m.Annotations[object.LastApplied]; ok || changed {
		if m, err = w.patchFields(ctx, m, folded); err != nil {
			return meta{}, err
		}
		p.rv = m.ResourceVersion
		own, _ = object.OwnEntry(m.ManagedFields, w.manager)
	}
	return w.over(ctx, p, true, own)
}

// patchFields replaces an object's managed fields and drops kubectl's copy, provided that the object did not move.
func (w *writing) patchFields(ctx context.Context, m meta, entries []metav1.ManagedFieldsEntry) (meta, error) {
	type op struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	ops := []op{
		{"test", "/metadata/uid", string(m.UID)},
		{"replace", "/metadata/resourceVersion", m.ResourceVersion},
		{"replace", "/metadata/managedFields", entries},
	}
	if _, ok := m.Annotations[object.LastApplied]; ok {
		ops = append(ops, op{Op: "remove", Path: "/metadata/annotations/" + strings.ReplaceAll(object.LastApplied, "/", "~1")})
	}
	var out meta
	_, err := w.send(ctx, call{method: http.MethodPatch, path: w.k.path(w.version, w.ch.Ref.Namespace, w.ch.Ref.Name), named: w.ch.Ref.Name,
		query: url.Values{"fieldManager": {w.manager}}, body: ops, contentType: jsonPatchType, accept: metadataType,
		into: &out})
	return out, err
}

func lastSegment(apiVersion string) string { return apiVersion[strings.LastIndex(apiVersion, "/")+1:] }
