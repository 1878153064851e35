package validation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
	"hawser.dev/hawser/internal/openapi"
)

// Server publishes schemas: a session with a cluster.
type Server interface {
	// OpenAPI reads a document: openapi.Root, or a relative URL that stands there.
	OpenAPI(ctx context.Context, at string) ([]byte, error)
	// Definition is the live CustomResourceDefinition of a kind, nil where there is none or it cannot be read.
	Definition(ctx context.Context, gk schema.GroupKind) map[string]any
}

// Schemas are those of one cluster. They are used by one goroutine at a time.
type Schemas struct {
	// Cluster is its name.
	Cluster string
	// Server is nil where nobody is asked: then Facts has the documents' hashes by path, and Unpack their content by hash.
	Server Server
	Facts  map[string]string
	Unpack func(hash string) ([]byte, error)
	// Keep keeps what was read, by the SHA-512 of the content; nil asks the server each time.
	Keep func(ctx context.Context, hash string, fetch func(context.Context) ([]byte, error)) ([]byte, error)
	// Library has the documents that are parsed already, of all clusters.
	Library *openapi.Library
	// Redact hides secrets in texts. Locate finds a value in the file that its object came from; nil leaves a problem at its
	// object.
	Redact func(string) string
	Locate func(at diag.Pos, path []string) diag.Pos

	ahead *openapi.Published // asked for ahead; nil once it was used
}

// Foresee asks for documents that will probably be needed. After end, nothing of it is under way; those that nobody wanted
// are given up.
func (s *Schemas) Foresee(ctx context.Context, versions []schema.GroupVersion) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	published := s.published()
	s.ahead = published
	var reading broke.Group
	reading.Go(func() { _, _ = published.Documents(ctx, versions) }) // what could not be read is asked for again
	return func() {
		cancel()
		reading.Wait()
	}
}

// documents reads those of some groups and versions. One that is not published is not there; one that cannot be read is a
// finding, and its objects are left to the server.
func (s *Schemas) documents(ctx context.Context, versions []schema.GroupVersion) (map[schema.GroupVersion]*openapi.Document, diag.Findings) {
	if len(versions) == 0 {
		return nil, nil
	}
	published := s.ahead
	if s.ahead = nil; published == nil {
		published = s.published()
	}
	out, errs := published.Documents(ctx, versions)
	var findings diag.Findings
	for _, err := range errs {
		findings = append(findings, s.unread(err))
	}
	return out, findings.Sorted()
}

func (s *Schemas) published() *openapi.Published {
	return &openapi.Published{Library: s.Library, Cluster: s.Cluster, Index: s.index, Load: s.document}
}

// index says where the documents are; those of a snapshot have a hash alone.
func (s *Schemas) index(ctx context.Context) (map[string]openapi.Location, error) {
	if s.Server == nil {
		out := map[string]openapi.Location{}
		for path, hash := range s.Facts {
			out[path] = openapi.Location{Hash: hash}
		}
		return out, nil
	}
	data, err := s.Server.OpenAPI(ctx, openapi.Root)
	if err != nil {
		return nil, err
	}
	return openapi.Index(data)
}

// document is one of them: from the snapshot, from what is kept, or asked for.
func (s *Schemas) document(ctx context.Context, at openapi.Location) ([]byte, error) {
	if s.Server == nil {
		return s.Unpack(at.Hash)
	}
	fetch := func(ctx context.Context) ([]byte, error) { return s.Server.OpenAPI(ctx, at.URL) }
	if s.Keep == nil || at.Hash == "" {
		return fetch(ctx)
	}
	return s.Keep(ctx, at.Hash, fetch)
}

// Pack puts the documents into a snapshot, those with the same hash once, and their hashes into the cluster's facts: those that they
// have, where the server claims others. A cluster whose documents cannot be read is saved without, which a finding says.
func (s *Schemas) Pack(ctx context.Context, facts *fleet.Facts, snap *fleet.Snapshot) diag.Findings {
	index, err := s.index(ctx)
	if err != nil {
		return diag.Findings{s.unread(err)}
	}
	facts.Schemas = map[string]string{}
	for path, at := range index {
		if at.Hash == "" {
			continue
		}
		hash := at.Hash
		if snap.Documents[hash] == nil {
			data, err := s.document(ctx, at)
			if err == nil {
				hash, err = snap.Pack(data)
			}
			if err != nil {
				return diag.Findings{s.unread(fmt.Errorf("%s: %w", path, err))}
			}
		}
		facts.Schemas[path] = hash
	}
	return nil
}

func (s *Schemas) unread(err error) diag.Finding {
	return diag.Finding{Severity: diag.Info, Code: "no-schemas", Cluster: s.Cluster,
		What: "objects are not checked against the cluster's schemas, which cannot be read", Why: s.Redact(err.Error())}
}
