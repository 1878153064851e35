package cluster

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
	jsonType      = "application/json"
	applyType     = "application/apply-patch+yaml" // JSON is YAML
	jsonPatchType = "application/json-patch+json"
	metadataType  = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1," + jsonType
	metadataList  = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," + jsonType
)

// client sends requests to one API server.
type client struct {
	http  *http.Client
	base  *url.URL
	slots chan struct{}
	// large is held while an answer of many bytes is read and understood.
	large chan struct{}
	close func()
	// renews: the credentials are made anew after an answer 401, so it is asked once more.
	renews bool
}

// call is one request. The zero values are a GET without query that is answered in JSON.
type call struct {
	method, path string
	query        url.Values
	body         any
	contentType  string
	accept       string
	// into receives the answer: a value for decode, or a func([]byte) error.
	into any
	// named is the object's name that the answer must have; "" is not looked at.
	named string
	// limits of the answer; the zero value is that of one object.
	limits answer.Limits
	// attempts at most; 0 is maxAttempts, 1 never sends again.
	attempts int
	// webhooksFinal: a webhook that does not answer is the answer (previews); else it is asked again.
	webhooksFinal bool
	// finish: an attempt under way is not given up when ctx ends, so that its answer is known (writes).
	finish bool
	// timeout of one attempt, also on the server; 0 is the session's.
	timeout time.Duration
	// onConn is called when the request has a connection.
	onConn func()
}

// reply is how a request was answered.
type reply struct {
	code int
	// unsure: an earlier attempt may have been carried out although it was not answered.
	unsure bool
}

// do sends a request until it is answered for good: too many requests, unavailable servers, broken connections and
// time-outs are sent again with growing pauses (Retry-After is honoured within bounds), at most maxAttempts times. The
// error is a *apierrors.StatusError when the server answered. Sending again is safe for what Session sends: applies
// and deletes carry preconditions, and reply.unsure tells the caller to look before believing a conflict.
func (s *Session) do(ctx context.Context, c call) (reply, error) {
	var body []byte
	if c.body != nil {
		var err error
		if body, err = json.Marshal(c.body); err != nil {
			return reply{}, err
		}
	}
	if c.timeout == 0 {
		c.timeout = s.requestTimeout()
	}
	attempts := c.attempts
	if attempts == 0 {
		attempts = maxAttempts
	}
	var out reply
	renewed := false
	start := s.now()
	for attempt := 1; ; attempt++ {
		code, err := s.once(ctx, c, body)
		out.code = code
		if err == nil {
			return out, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			if !errors.Is(err, cause) {
				err = fmt.Errorf("%w: %w", cause, err)
			}
			return out, err
		}
		if s.rest.renews && !renewed && apierrors.IsUnauthorized(err) {
			renewed = true
			continue
		}
		if attempt >= attempts || !c.again(err) || s.now().Sub(start) > maxRetrying {
			return out, err
		}
		out.unsure = out.unsure || maybeDone(err)
		if waitOr(ctx, pause(attempt, err)) != nil {
			return out, err
		}
	}
}

// once sends one attempt.
func (s *Session) once(ctx context.Context, c call, body []byte) (int, error) {
	select {
	case s.rest.slots <- struct{}{}:
		defer func() { <-s.rest.slots }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	if c.finish {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout+time.Second) // the server gives up first and says so
	defer cancel()
	req, err := s.newRequest(ctx, c, body)
	if err != nil {
		return 0, err
	}
	s.requests.Add(1)
	resp, err := s.rest.http.Do(req)
	if err != nil {
		return 0, unwrapURL(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, s.answer(ctx, c, resp)
}

func (s *Session) newRequest(ctx context.Context, c call, body []byte) (*http.Request, error) {
	u := *s.rest.base
	u.Path = strings.TrimSuffix(u.Path, "/") + c.path
	q := url.Values{}
	for k, v := range c.query {
		q[k] = v
	}
	if q.Get("timeout") == "" {
		q.Set("timeout", c.timeout.String())
	}
	u.RawQuery = q.Encode()
	var r io.Reader
	if body != nil {
		r = bytes.NewReader(body)
	}
	if c.onConn != nil {
		ctx = traceConn(ctx, c.onConn)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, u.String(), r)
	if err != nil {
		return nil, err
	}
	accept := c.accept
	if accept == "" {
		accept = jsonType
	}
	req.Header.Set("Accept", accept)
	if !c.limits.Packed {
		req.Header.Set("Accept-Encoding", "identity")
	}
	if body != nil {
		contentType := c.contentType
		if contentType == "" {
			contentType = jsonType
		}
		req.Header.Set("Content-Type", contentType)
	}
	return req, nil
}

func (s *Session) requestTimeout() time.Duration {
	if s.cfg.RequestTimeout > 0 {
		return s.cfg.RequestTimeout
	}
	return 30 * time.Second
}

func (s *Session) now() time.Time {
	if s.cfg.Now != nil {
		return s.cfg.Now()
	}
	return time.Now()
}

// unwrapURL drops net/http's `Patch "https://...": ` prefix: callers name the object.
func unwrapURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// again reports whether a failed attempt is worth another one.
func (c call) again(err error) bool {
	if _, ok := errors.AsType[*AnswerError](err); ok {
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
		return !webhook || !c.webhooksFinal
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
