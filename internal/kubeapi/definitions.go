package kubeapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/once"
)

// DefinitionsPath is the path of the CustomResourceDefinitions.
const DefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// Definitions are a cluster's CustomResourceDefinitions, listed once and each read once at most: whoever asks of many kinds at
// once, such as a thousand that a record claims, shares them. They are as old as the first question.
type Definitions struct {
	*Client
	names once.Value[map[string]Metadata]
	kinds once.Map[string, string]
}

// Names are the definitions by their names, with UID and generation.
func (d *Definitions) Names(ctx context.Context) (map[string]Metadata, error) {
	return d.names.Get(ctx, func() (out map[string]Metadata, err error) {
		err = d.ListMeta(ctx, DefinitionsPath, nil, func() { out = map[string]Metadata{} }, func(m Metadata) {
			kept := Metadata{}
			kept.Name, kept.UID, kept.Generation = m.Name, m.UID, m.Generation
			out[m.Name] = kept
		})
		return out, err
	})
}

// None reports whether it is certain that no definition makes a kind: one that cannot be read may.
func (d *Definitions) None(ctx context.Context, gk schema.GroupKind) bool {
	names, err := d.Names(ctx)
	if err != nil {
		return false
	}
	for name := range names {
		if !strings.HasSuffix(name, "."+gk.Group) {
			continue
		}
		kind, err := d.kinds.Get(ctx, name, func() (string, error) {
			crd, err := d.CustomResourceDefinition(ctx, name)
			if apierrors.IsNotFound(err) {
				return "", nil
			}
			kind, _, _ := unstructured.NestedString(crd, "spec", "names", "kind")
			return kind, err
		})
		if err != nil || kind == gk.Kind {
			return false
		}
	}
	return true
}

// CustomResourceDefinition reads one definition, nil with an error.
func (c *Client) CustomResourceDefinition(ctx context.Context, name string) (map[string]any, error) {
	var crd map[string]any
	if _, err := c.Do(ctx, Request{Method: http.MethodGet, Path: DefinitionsPath + "/" + url.PathEscape(name), Named: name, Into: &crd}); err != nil {
		return nil, err
	}
	return crd, nil
}
