package cluster

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/kubeapi"
	"hawser.dev/hawser/internal/object"
)

// Times of a stream.
const (
	firstPoll    = time.Second
	maxPoll      = 10 * time.Second
	firstRestart = 200 * time.Millisecond
	maxRestart   = 5 * time.Second
)

// silentFor is how long a watch may say nothing: bookmarks come every minute, one that is silent longer is dead. Tests
// shorten it.
var silentFor = 90 * time.Second

// streamKey is one watch: a kind in a namespace ("" for cluster-scoped kinds), whole objects or metadata only.
type streamKey struct {
	group, kind, namespace string
	metadata               bool
}

// stream holds the state of one kind's objects of the bundle in one namespace, kept up by a watch while somebody
// waits for one of them.
type stream struct {
	s        *Session
	k        kubeapi.KindInfo
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
		case errors.Is(err, kubeapi.ErrNoWatch):
			_ = kubeapi.Sleep(ctx, poll)
			poll = min(poll*3/2, maxPoll)
		case apierrors.IsForbidden(err):
			st.fail(err)
			return
		case err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			// the watch ended in order, or its place in history is gone: read anew at once
		default:
			_ = kubeapi.Sleep(ctx, restart)
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
		return kubeapi.MetadataListType
	case st.key.metadata:
		return kubeapi.MetadataType
	}
	return kubeapi.JSONType
}

// list reads all objects and returns the place in history from which to follow.
func (st *stream) list(ctx context.Context) (string, error) {
	items, rv, err := st.s.ListObjects(ctx, kubeapi.Request{Path: st.k.Path(st.k.Preferred, st.key.namespace, ""),
		Query: url.Values{"labelSelector": {st.selector}}, Accept: st.accept(true)})
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
	return st.s.Watch(ctx, kubeapi.Request{Path: st.k.Path(st.k.Preferred, st.key.namespace, ""),
		Query: url.Values{"labelSelector": {st.selector}}, Accept: st.accept(false)}, rv, silentFor, st.event)
}

func (st *stream) event(ev kubeapi.WatchEvent) error {
	var m map[string]any
	if err := kubeapi.Decode(ev.Object, &m); err != nil {
		return err
	}
	st.typed(m)
	name := (&unstructured.Unstructured{Object: m}).GetName()
	st.mu.Lock()
	defer st.mu.Unlock()
	if ev.Type == "DELETED" {
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
func (w *waiter) join(ref object.Ref, k kubeapi.KindInfo, metadata bool) (st *stream, changed chan struct{}, leave func()) {
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
