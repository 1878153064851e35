package kubeapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"hawser.dev/hawser/internal/answer"
)

// watchFor is how long a watch is asked for; then it begins anew.
const watchFor = 4 * time.Minute

// ErrNoWatch: the server allows no watch of this collection; it can only be read again and again.
var ErrNoWatch = errors.New("watching is forbidden")

// WatchEvent is one event of a watch: ADDED, MODIFIED or DELETED, and the object's JSON, valid while it is handed over.
type WatchEvent struct {
	Type   string          `json:"type"`
	Object json.RawMessage `json:"object"`
}

// Watch follows a collection from a place in history (a list's resourceVersion) until the server ends the watch, which
// is no error; Path, Query and Accept are those of r. A watch that says nothing for longer than silent is dead and ends
// with the context's error. Events of type ERROR are the server's status error; bookmarks are not handed on.
func (c *Client) Watch(ctx context.Context, r Request, resourceVersion string, silent time.Duration, event func(WatchEvent) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	query := url.Values{"watch": {"1"}, "resourceVersion": {resourceVersion}, "allowWatchBookmarks": {"true"},
		"timeoutSeconds": {strconv.Itoa(int(watchFor.Seconds()))}, "timeout": {(watchFor + time.Minute).String()}}
	maps.Copy(query, r.Query)
	r.Method, r.Query = http.MethodGet, query
	req, err := c.newRequest(ctx, r, nil)
	if err != nil {
		return err
	}
	alarm := time.AfterFunc(silent, cancel)
	defer alarm.Stop()
	c.requests.Add(1)
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		err := c.refused(c.answer(ctx, Request{Method: r.Method, Path: r.Path}, resp))
		if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
			return ErrNoWatch
		}
		return err
	}
	return c.events(resp.Body, r.Path, func(ev WatchEvent) error {
		alarm.Reset(silent)
		if ev.Type == "BOOKMARK" {
			return nil
		}
		return event(ev)
	})
}

// events reads a watch's events, each and all together within limits.
func (c *Client) events(r io.Reader, path string, event func(WatchEvent) error) error {
	body := &eventReader{Reader: r}
	total := 0
	for dec := json.NewDecoder(bufio.NewReaderSize(body, 64<<10)); ; {
		var ev WatchEvent
		body.left = answer.Object.Bytes
		if err := dec.Decode(&ev); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return c.unreadable(err)
		}
		if total += len(ev.Object); total > maxListed || answer.Weight(ev.Object) > answer.Object.Weight {
			return c.WrongAnswer("tells more in a watch than there can be")
		}
		if ev.Type == "ERROR" {
			return c.watchError(ev.Object, path)
		}
		if err := c.echoedIn(path, ev.Object); err != nil {
			return err
		}
		if err := event(ev); err != nil {
			return err
		}
	}
}

// unreadable is the error of an event that is none: what the decoder says of it would quote it. Errors of the connection stay what they are.
func (c *Client) unreadable(err error) error {
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return c.NotUnderstood(err)
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return c.NotUnderstood(err)
	}
	return err
}

// watchError is the status that a watch ends with.
func (c *Client) watchError(raw []byte, path string) error {
	var status metav1.Status
	if err := json.Unmarshal(raw, &status); err != nil {
		return c.NotUnderstood(err)
	}
	if err := c.status(&status, path); err != nil {
		return err
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// eventReader ends a watch with an event that is larger than an object can be.
type eventReader struct {
	io.Reader
	left int64
}

func (r *eventReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errors.New("an event of the watch is larger than an object can be")
	}
	n, err := r.Reader.Read(p)
	r.left -= int64(n)
	return n, err
}
