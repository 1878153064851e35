package kube_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"hawser.dev/hawser/internal/release/kube"
)

// client is a kube.Client over plain HTTP that can be hurt at every request.
type client struct {
	http *http.Client
	base string

	mu  sync.Mutex
	log []string
	// dieAt is the request, from 1, at which the process "dies": from then on nothing is sent any more. With answered
	// that request is still sent and its answer lost.
	dieAt    int
	answered bool
	// twice sends every write again, as a connection that loses answers makes a client do.
	twice bool
	// before fails a request that is not sent any more.
	before func() error
}

var _ kube.Client = (*client)(nil)

var errDead = errors.New("the process is dead")

func newClient(t testing.TB, cfg *rest.Config) *client {
	t.Helper()
	h, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &client{http: h, base: strings.TrimSuffix(cfg.Host, "/")}
}

func (c *client) Get(ctx context.Context, path string, query url.Values, into any) error {
	return c.do(ctx, http.MethodGet, path, query, nil, into)
}

func (c *client) Post(ctx context.Context, path string, query url.Values, body, into any) error {
	return c.do(ctx, http.MethodPost, path, query, body, into)
}

func (c *client) Put(ctx context.Context, path string, query url.Values, body, into any) error {
	return c.do(ctx, http.MethodPut, path, query, body, into)
}

func (c *client) Delete(ctx context.Context, path string, body any) error {
	return c.do(ctx, http.MethodDelete, path, nil, body, nil)
}

func (c *client) do(ctx context.Context, method, path string, query url.Values, body, into any) error {
	c.mu.Lock()
	c.log = append(c.log, method+" "+path)
	n := len(c.log)
	c.mu.Unlock()
	if c.before != nil {
		if err := c.before(); err != nil {
			return err
		}
	}
	if c.dieAt > 0 && (n > c.dieAt || n == c.dieAt && !c.answered) {
		return errDead
	}
	err := c.send(ctx, method, path, query, body, into)
	if c.dieAt == n {
		return errDead
	}
	if c.twice && method != http.MethodGet {
		err = c.send(ctx, method, path, query, body, into)
	}
	return err
}

func (c *client) send(ctx context.Context, method, path string, query url.Values, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path+"?"+query.Encode(), bytes.NewReader(data))
	if err != nil {
		return err
	}
	if body == nil {
		req.Body = http.NoBody
		req.ContentLength = 0
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		var status metav1.Status
		if err := json.Unmarshal(answer, &status); err != nil {
			return fmt.Errorf("%s: %s", resp.Status, answer)
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// requests returns what was asked since the last call.
func (c *client) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.log
	c.log = nil
	return out
}
