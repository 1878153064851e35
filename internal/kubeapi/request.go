package kubeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/permit"
)

// How often and how long a request is sent again.
const (
	maxAttempts   = 5
	firstBackoff  = 200 * time.Millisecond
	maxBackoff    = 5 * time.Second
	maxRetryAfter = 15 * time.Second
	maxRetrying   = 60 * time.Second
)

// Media types of requests and answers.
const (
	JSONType         = "application/json"
	ApplyType        = "application/apply-patch+yaml" // JSON is YAML
	JSONPatchType    = "application/json-patch+json"
	MetadataType     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + JSONType
	MetadataListType = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," + JSONType
)

// Request is one request. The zero values are a GET without query that is answered in JSON.
type Request struct {
	// Method and Path ("/api/v1/namespaces/x/secrets") of the request; the server's own path comes before it.
	Method, Path string
	Query        url.Values
	// Body is sent as JSON.
	Body        any
	ContentType string
	Accept      string
	// Into receives the answer: a value to decode it into, or a func([]byte) error, whose bytes are valid meanwhile. nil
	// reads nothing.
	Into any
	// Named is the object's name that the answer must have; "" is not looked at.
	Named string
	// Limits of the answer; the zero value is that of one object.
	Limits answer.Limits
	// Attempts at most; 0 is five, 1 never sends again.
	Attempts int
	// WebhooksFinal: a webhook that does not answer is the answer (previews); else it is asked again.
	WebhooksFinal bool
	// Finish: an attempt under way is not given up when the context ends, so that its answer is known (writes).
	Finish bool
	// Timeout of one attempt, also on the server; 0 is the client's.
	Timeout time.Duration
	// OnConn is called when the request has a connection.
	OnConn func()

	permit permit.Func // asked before it is sent; nil: nobody
}

// writes reports whether the request may change something.
func (r Request) writes() bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && !r.Query.Has("dryRun")
}

// Reply is how a request was answered.
type Reply struct {
	// Code is the HTTP status code, 0 when there was no answer.
	Code int
	// Unsure: an earlier attempt may have been carried out although it was not answered.
	Unsure bool
}

// Do sends a request until it is answered for good: too many requests, unavailable servers, broken connections and
// time-outs are sent again with growing pauses (Retry-After is honoured within bounds), at most Attempts times. The
// error is a *apierrors.StatusError when the server answered. Sending again is safe for reads and for what carries
// preconditions (applies, deletes); Reply.Unsure tells the caller to look before believing a conflict. The context's permit
// is asked before each attempt of a write.
func (c *Client) Do(ctx context.Context, r Request) (Reply, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return Reply{}, err
		}
	}
	if r.Timeout == 0 {
		r.Timeout = c.requestTimeout()
	}
	attempts := r.Attempts
	if attempts == 0 {
		attempts = maxAttempts
	}
	var out Reply
	renewed := false
	start := c.Now()
	for attempt := 1; ; attempt++ {
		code, err := c.once(ctx, r, body)
		out.Code = code
		if err == nil {
			return out, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			if !errors.Is(err, cause) {
				err = fmt.Errorf("%w: %w", cause, err)
			}
			return out, err
		}
		if c.renews && !renewed && apierrors.IsUnauthorized(err) {
			renewed = true
			continue
		}
		if attempt >= attempts || !r.again(err) || c.Now().Sub(start) > maxRetrying {
			return out, err
		}
		out.Unsure = out.Unsure || maybeDone(err)
		if Sleep(ctx, pause(attempt, err)) != nil {
			return out, err
		}
	}
}

// once sends one attempt.
func (c *Client) once(ctx context.Context, r Request, body []byte) (int, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	if r.permit = permit.Of(ctx); r.permit != nil && r.writes() {
		left, err := r.permit()
		if err != nil {
			return 0, err
		}
		r.Timeout = min(r.Timeout, left)
	} else {
		r.permit = nil
	}
	if r.Finish {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout+time.Second) // the server gives up first and says so
	defer cancel()
	req, err := c.newRequest(ctx, r, body)
	if err != nil {
		return 0, err
	}
	c.requests.Add(1)
	if r.writes() {
		c.wrote.Store(true)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, unwrapURL(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, c.refused(c.answer(ctx, r, resp))
}

func (c *Client) newRequest(ctx context.Context, r Request, body []byte) (*http.Request, error) {
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, "/") + r.Path
	q := url.Values{}
	for k, v := range r.Query {
		q[k] = v
	}
	if q.Get("timeout") == "" {
		q.Set("timeout", r.Timeout.String())
	}
	u.RawQuery = q.Encode()
	if r.OnConn != nil {
		ctx = traceConn(ctx, r.OnConn)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return &sent{Reader: bytes.NewReader(body), permit: r.permit}, nil }
		req.Body, _ = req.GetBody()
	}
	accept := r.Accept
	if accept == "" {
		accept = JSONType
	}
	req.Header.Set("Accept", accept)
	c.as.head(req.Header)
	if !r.Limits.Packed {
		req.Header.Set("Accept-Encoding", "identity")
	}
	if body != nil {
		contentType := r.ContentType
		if contentType == "" {
			contentType = JSONType
		}
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

// sent is the body of a request on its way: the permit is asked once more when it leaves, which is later than the request
// where a connection was waited for.
type sent struct {
	*bytes.Reader
	permit permit.Func
}

// Read gives nothing out that may not be written any more: a request whose body ends early is none to the server.
func (s *sent) Read(b []byte) (int, error) {
	if s.permit != nil {
		if _, err := s.permit(); err != nil {
			return 0, err
		}
	}
	return s.Reader.Read(b)
}

// Close does nothing.
func (s *sent) Close() error { return nil }

// unwrapURL drops net/http's `Patch "https://...": ` prefix: callers name the object.
func unwrapURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// again reports whether a failed attempt is worth another one.
func (r Request) again(err error) bool {
	if isWrong(err) {
		return false
	}
	st, ok := answer.StatusOf(err)
	if !ok {
		return isNetwork(err)
	}
	if answer.IsTerminal(err) {
		return false
	}
	switch st.Code {
	case http.StatusTooManyRequests:
		// an eviction or a webhook may answer 429 too; without a hint when to come back it is still only "not now"
		return true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusInternalServerError:
		_, webhook := answer.Webhook(err)
		return !webhook || !r.WebhooksFinal
	}
	return false
}

// isNetwork reports an error on the way: refused, reset or closed connections, time-outs, GOAWAY.
func isNetwork(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EPIPE) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return true
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	text := err.Error()
	for _, t := range []string{"http2: server sent GOAWAY", "http2: client connection lost", "http2: timeout awaiting",
		"stream error:", "connection reset", "broken pipe", "use of closed network connection",
		"http: server closed idle connection", "unexpected EOF", "INTERNAL_ERROR", "client connection force closed"} {
		if strings.Contains(text, t) {
			return true
		}
	}
	return false
}

// maybeDone reports whether a failed attempt may have been carried out: everything but answers that say it was not,
// and connections that were never made.
func maybeDone(err error) bool {
	if st, ok := answer.StatusOf(err); ok {
		return st.Code != http.StatusTooManyRequests
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return false
	}
	return !errors.Is(err, syscall.ECONNREFUSED)
}

// pause before the next attempt: what the server asked for within bounds, else doubling from firstBackoff; jittered.
func pause(attempt int, err error) time.Duration {
	d := min(firstBackoff<<(attempt-1), maxBackoff)
	if st, ok := answer.StatusOf(err); ok && st.Details != nil {
		if asked := time.Duration(st.Details.RetryAfterSeconds) * time.Second; asked > 0 {
			d = min(asked, maxRetryAfter)
		}
	}
	return d + rand.N(d/4+1) //nolint:gosec // jitter
}
