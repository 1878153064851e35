package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/answer"
	"hawser.dev/hawser/internal/object"
)

// Times of a stream.
const (
	watchFor     = 4 * time.Minute // asked of the server; then the watch begins anew
	firstPoll    = time.Second
	maxPoll      = 10 * time.Second
	firstRestart = 200 * time.Millisecond
	maxRestart   = 5 * time.Second
)

// silentFor is how long a watch may say nothing: bookmarks come every minute, one that is silent longer is dead. Tests
// shorten it.
var silentFor = 90 * time.Second

// errForbiddenWatch makes a stream read again and again with growing pauses.
var errForbiddenWatch = errors.New("watching is forbidden")

// streamKey is one watch: a kind in a namespace ("" for cluster-scoped kinds), whole objects or metadata only.
type streamKey struct {
	group, kind, namespace string
	metadata               bool
}

// stream holds the state of one kind's objects of the bundle in one namespace, kept up by a watch while somebody
// waits for one of them.
type stream struct {
	s        *Session
	k        KindInfo
	key      streamKey
	selector string
	cancel   context.CancelFunc
	users    int

	mu sync.Mutex
	// synced: objs is what the server had at least once.
	synced bool
	err    error
	objs   map[string]map[string]any // by name
	ends   map[string]map[string]any // as they were deleted
	subs   map[string][]chan struct{}
}

func (st *stream) run(ctx context.Context) {
	restart := firstRestart
	poll := firstPoll
	for ctx.Err() == nil {
		rv, err := st.list(ctx)
		if err == nil {
			restart = firstRestart
			err = st.follow(ctx, rv)
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errForbiddenWatch):
			_ = waitOr(ctx, poll)
			poll = min(poll*3/2, maxPoll)
		case apierrors.IsForbidden(err):
			st.fail(err)
			return
		case err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			// the watch ended in order, or its place in history is gone: read anew at once
		default:
			_ = waitOr(ctx, restart)
			restart = min(2*restart, maxRestart)
		}
	}
}

// fail tells everybody that this stream cannot work; they read their objects one by one.
func (st *stream) fail(err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.err = err
	st.wakeAll()
}

// wakeAll wakes every waiter; the caller holds mu.
func (st *stream) wakeAll() {
	for _, list := range st.subs {
		for _, c := range list {
			wake(c)
		}
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (st *stream) accept(list bool) string {
	switch {
	case st.key.metadata && list:
		return metadataList
	case st.key.metadata:
		return metadataType
	}
	return jsonType
}

// list reads all objects and returns the place in history from which to follow.
func (st *stream) list(ctx context.Context) (string, error) {
	items, rv, err := st.s.listObjects(ctx, call{path: st.k.path(st.k.Preferred, st.key.namespace, ""),
		query: url.Values{"labelSelector": {st.selector}}, accept: st.accept(true)})
	if err != nil {
		return "", err
	}
	objs := make(map[string]map[string]any, len(items))
	for _, m := range items {
		st.typed(m)
		objs[(&unstructured.Unstructured{Object: m}).GetName()] = m
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.objs, st.synced = objs, true
	st.wakeAll()
	return rv, nil
}

// typed gives an item of a list the kind it has.
func (st *stream) typed(m map[string]any) {
	version := st.k.Preferred
	if st.k.Group != "" {
		version = st.k.Group + "/" + version
	}
	m["apiVersion"], m["kind"] = version, st.k.Kind
}

// follow watches from a place in history until the watch ends; silence beyond silentFor ends it too.
func (st *stream) follow(ctx context.Context, rv string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := st.s.newRequest(ctx, call{method: http.MethodGet, path: st.k.path(st.k.Preferred, st.key.namespace, ""),
		query: url.Values{"labelSelector": {st.selector}, "watch": {"1"}, "resourceVersion": {rv}, "allowWatchBookmarks": {"true"},
			"timeoutSeconds": {strconv.Itoa(int(watchFor.Seconds()))}, "timeout": {(watchFor + time.Minute).String()}}, accept: st.accept(false)}, nil)
	if err != nil {
		return err
	}
	alarm := time.AfterFunc(silentFor, cancel)
	defer alarm.Stop()
	st.s.requests.Add(1)
	resp, err := st.s.rest.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		err := st.s.answer(ctx, call{method: http.MethodGet, path: st.k.path(st.k.Preferred, st.key.namespace, "")}, resp)
		if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
			return errForbiddenWatch
		}
		return err
	}
	body := &eventReader{Reader: resp.Body}
	total := 0
	for dec := json.NewDecoder(bufio.NewReaderSize(body, 64<<10)); ; {
		var ev struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		body.left = answer.Object.Bytes
		if err := dec.Decode(&ev); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if total += len(ev.Object); total > maxListed || answer.Weight(ev.Object) > answer.Object.Weight {
			return st.s.wrongAnswer("tells more in a watch than there can be")
		}
		alarm.Reset(silentFor)
		if err := st.event(ev.Type, ev.Object); err != nil {
			return err
		}
	}
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

func (st *stream) event(kind string, raw []byte) error {
	switch kind {
	case "BOOKMARK":
		return nil
	case "ERROR":
		var status metav1.Status
		if err := json.Unmarshal(raw, &status); err != nil {
			return err
		}
		if st.key.group == "" && st.key.kind == "Secret" {
			answer.Withhold(&status)
		}
		status.Message = st.s.cut(status.Message, errorText)
		return &apierrors.StatusError{ErrStatus: status}
	}
	var m map[string]any
	if err := decode(raw, &m); err != nil {
		return err
	}
	st.typed(m)
	name := (&unstructured.Unstructured{Object: m}).GetName()
	st.mu.Lock()
	defer st.mu.Unlock()
	if kind == "DELETED" {
		delete(st.objs, name) // deleted, or without our label now: the waiter looks
		st.ends[name] = m
	} else {
		st.objs[name] = m
	}
	for _, c := range st.subs[name] {
		wake(c)
	}
	return nil
}

// look returns the object by name as last seen; ok is false before the first read.
func (st *stream) look(name string) (obj map[string]any, ok bool, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.objs[name], st.synced, st.err
}

// end is the object as the watch told of its deletion, nil when it did not.
func (st *stream) end(name string) map[string]any {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.ends[name]
}

// waiter shares streams among those who wait.
type waiter struct {
	ctx   context.Context
	s     *Session
	owner string
	mu    sync.Mutex
	open  map[streamKey]*stream
	all   sync.WaitGroup
}

func newWaiter(ctx context.Context, s *Session, owner string) *waiter {
	return &waiter{ctx: ctx, s: s, owner: owner, open: map[streamKey]*stream{}}
}

// close ends all streams and waits for them.
func (w *waiter) close() {
	w.mu.Lock()
	for _, st := range w.open {
		st.cancel()
	}
	w.mu.Unlock()
	w.all.Wait()
}

// join subscribes to an object; leave ends the stream when nobody is left.
func (w *waiter) join(ref object.Ref, k KindInfo, metadata bool) (st *stream, changed chan struct{}, leave func()) {
	key := streamKey{ref.Group, ref.Kind, ref.Namespace, metadata}
	w.mu.Lock()
	defer w.mu.Unlock()
	st = w.open[key]
	if st == nil {
		ctx, cancel := context.WithCancel(w.ctx)
		st = &stream{s: w.s, k: k, key: key, selector: object.LabelOwner + "=" + w.owner, cancel: cancel,
			objs: map[string]map[string]any{}, ends: map[string]map[string]any{}, subs: map[string][]chan struct{}{}}
		w.open[key] = st
		w.all.Go(func() { st.run(ctx) })
	}
	st.users++
	changed = make(chan struct{}, 1)
	st.mu.Lock()
	st.subs[ref.Name] = append(st.subs[ref.Name], changed)
	st.mu.Unlock()
	return st, changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if st.users--; st.users == 0 {
			st.cancel()
			delete(w.open, key)
		}
	}
}
