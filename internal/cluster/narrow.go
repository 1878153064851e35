package cluster

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"hawser.dev/hawser/internal/answer"
)

// Narrow is a Session's client for rooms that keep records: plain requests by path, sent again as all others are.
// Errors are apimachinery status errors where the server answered.
type Narrow struct{ s *Session }

// Narrow returns the Session's narrow client.
func (s *Session) Narrow() *Narrow { return &Narrow{s} }

// Cluster is the cluster's name.
func (n *Narrow) Cluster() string { return n.s.cfg.Name }

// Get reads a path ("/api/v1/namespaces/x/secrets") into a value; a nil into reads nothing.
func (n *Narrow) Get(ctx context.Context, path string, query url.Values, into any) error {
	return n.send(ctx, http.MethodGet, path, query, nil, into)
}

// Post creates. Creating again after a lost answer is refused by the server as "already exists"; it is the caller's to
// find out whether it was its own.
func (n *Narrow) Post(ctx context.Context, path string, query url.Values, body, into any) error {
	return n.send(ctx, http.MethodPost, path, query, body, into)
}

// Put replaces; the body's metadata.resourceVersion makes it compare-and-swap.
func (n *Narrow) Put(ctx context.Context, path string, query url.Values, body, into any) error {
	return n.send(ctx, http.MethodPut, path, query, body, into)
}

// Delete deletes; body may be a metav1.DeleteOptions with preconditions.
func (n *Narrow) Delete(ctx context.Context, path string, query url.Values, body, into any) error {
	return n.send(ctx, http.MethodDelete, path, query, body, into)
}

func (n *Narrow) send(ctx context.Context, method, path string, query url.Values, body, into any) error {
	c := call{method: method, path: "/" + strings.TrimPrefix(path, "/"), query: query, body: body, into: into}
	if query.Has("limit") {
		c.limits = answer.Page
	}
	c.named = answer.Named(method, c.path, body, into)
	if _, err := n.s.do(ctx, c); err != nil {
		return err
	}
	if what := answer.Doubt(query, into); what != "" {
		return n.s.wrongAnswer("%s", what)
	}
	return nil
}
