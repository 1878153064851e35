package openapi

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/once"
)

// Root is where an API server lists its documents.
const Root = "/openapi/v3"

// Published are the documents of one cluster.
type Published struct {
	Library *Library
	// Cluster is its name: documents that have no hash, or not the one that the index claims, are known by it.
	Cluster string
	// Index says where they are; it is asked once. Load reads one.
	Index func(ctx context.Context) (map[string]Location, error)
	Load  func(ctx context.Context, at Location) ([]byte, error)

	index once.Value[map[string]Location]
}

// Documents reads those of some groups and versions, all at once. One that is not in the index is not there; the errors
// name those that could not be read, in order. It may be called by several goroutines.
func (p *Published) Documents(ctx context.Context, versions []schema.GroupVersion) (map[schema.GroupVersion]*Document, []error) {
	index, err := p.index.Get(ctx, func() (map[string]Location, error) { return p.Index(ctx) })
	if err != nil {
		return nil, []error{err}
	}
	docs, errs := make([]*Document, len(versions)), make([]error, len(versions))
	var wg broke.Group
	for i, gv := range versions {
		at, ok := index[IndexKey(gv)]
		if !ok {
			continue
		}
		own := p.Cluster + " " + at.URL + " " + at.Hash
		wg.Go(func() {
			var err error
			if docs[i], err = p.Library.Document(ctx, at.Hash, own, func() ([]byte, error) { return p.Load(ctx, at) }); err != nil {
				docs[i], errs[i] = nil, fmt.Errorf("%s: %w", gv, err)
			}
		})
	}
	wg.Wait()
	out := map[schema.GroupVersion]*Document{}
	for i, gv := range versions {
		if docs[i] != nil {
			out[gv] = docs[i]
		}
	}
	return out, slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}
