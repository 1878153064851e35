package kubeapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"hawser.dev/hawser/internal/answer"
)

// RESTClient is a Client for rooms that keep records: plain requests by path, sent again as all others are. Errors are
// apimachinery status errors where the server answered.
type RESTClient struct{ c *Client }

// REST returns the Client's plain requests.
func (c *Client) REST() *RESTClient { return &RESTClient{c} }

// Cluster is the cluster's name.
func (r *RESTClient) Cluster() string { return r.c.cfg.Name }

// Get reads a path ("/api/v1/namespaces/x/secrets") into a value; a nil into reads nothing.
func (r *RESTClient) Get(ctx context.Context, path string, query url.Values, into any) error {
	return r.send(ctx, http.MethodGet, path, query, nil, into)
}

// Post creates. Creating again after a lost answer is refused by the server as "already exists"; it is the caller's to
// find out whether it was its own.
func (r *RESTClient) Post(ctx context.Context, path string, query url.Values, body, into any) error {
	return r.send(ctx, http.MethodPost, path, query, body, into)
}

// Put replaces; the body's metadata.resourceVersion makes it compare-and-swap.
func (r *RESTClient) Put(ctx context.Context, path string, query url.Values, body, into any) error {
	return r.send(ctx, http.MethodPut, path, query, body, into)
}

// Delete deletes; body may be a metav1.DeleteOptions with preconditions.
func (r *RESTClient) Delete(ctx context.Context, path string, query url.Values, body, into any) error {
	return r.send(ctx, http.MethodDelete, path, query, body, into)
}

func (r *RESTClient) send(ctx context.Context, method, path string, query url.Values, body, into any) error {
	req := Request{Method: method, Path: "/" + strings.TrimPrefix(path, "/"), Query: query, Body: body, Into: into}
	if query.Has("limit") {
		req.Limits = answer.Page
	}
	req.Named = answer.Named(method, req.Path, body, into)
	if _, err := r.c.Do(ctx, req); err != nil {
		return err
	}
	if what := answer.Doubt(query, into); what != "" {
		return r.c.WrongAnswer("%s", what)
	}
	return nil
}
