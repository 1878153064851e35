package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"hawser.dev/hawser/internal/broke"
	"hawser.dev/hawser/internal/object"
)

// Times of a stream: how often a collection is read that cannot be watched, and when a watch that broke begins anew.
const (
	FirstPoll    = time.Second
	MaxPoll      = 10 * time.Second
	firstRestart = 200 * time.Millisecond
	maxRestart   = 5 * time.Second
	// wrongInARow answers that no API server gives end a stream: they may be those of a proxy that is being replaced. They are in a row
	// until a watch has lasted for maxRestart.
	wrongInARow = 5
)

// SilentFor is how long a watch may say nothing: bookmarks come every minute, one that is silent longer is dead. Tests
// shorten it.
var SilentFor = 90 * time.Second

// streamKey is one watch: a kind in a namespace ("" for cluster-scoped kinds), whole objects or metadata only.
type streamKey struct {
	group, kind, namespace string
	metadata               bool
}

// Stream holds the state of the selected objects of one kind in one namespace, kept up by a watch while somebody
// waits for one of them.
type Stream struct {
	c        *Client
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
	subs   map[string]map[*int]func()
}

func (st *Stream) run(ctx context.Context) {
	restart, wrong := firstRestart, 0
	poll := FirstPoll
	for ctx.Err() == nil {
		lasted := time.Duration(0)
		rv, err := st.list(ctx)
		if err == nil {
			begun := time.Now()
			err = st.follow(ctx, rv)
			lasted = time.Since(begun)
		}
		if lasted >= maxRestart {
			restart, wrong = firstRestart, 0
		}
		if isWrong(err) {
			wrong++
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrNoWatch):
			_ = Sleep(ctx, poll)
			poll = min(poll*3/2, MaxPoll)
		case apierrors.IsForbidden(err), wrong == wrongInARow:
			st.fail(err)
			return
		case lasted >= firstRestart && (err == nil || apierrors.IsResourceExpired(err) || apierrors.IsGone(err)):
			// the watch ended in order, or its place in history is gone: read anew at once
		default:
			_ = Sleep(ctx, restart)
			restart = min(2*restart, maxRestart)
		}
	}
}

// fail tells everybody that this stream cannot work; they read their objects one by one.
func (st *Stream) fail(err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.err = err
	st.wakeAll()
}

// wakeAll tells everybody who waits; the caller holds mu.
func (st *Stream) wakeAll() {
	for name := range st.subs {
		st.wake(name)
	}
}

// wake tells those who wait for one object; the caller holds mu.
func (st *Stream) wake(name string) {
	for _, changed := range st.subs[name] {
		changed()
	}
}

func (st *Stream) accept(list bool) string {
	switch {
	case st.key.metadata && list:
		return MetadataListType
	case st.key.metadata:
		return MetadataType
	}
	return JSONType
}

// list reads all objects and returns the place in history from which to follow.
func (st *Stream) list(ctx context.Context) (string, error) {
	items, rv, err := st.c.ListObjects(ctx, Request{Path: st.k.Path(st.k.Preferred, st.key.namespace, ""),
		Query: url.Values{"labelSelector": {st.selector}}, Accept: st.accept(true)})
	if err != nil {
		return "", err
	}
	objs := make(map[string]map[string]any, len(items))
	for _, m := range items {
		st.k.Typed(m)
		objs[(&unstructured.Unstructured{Object: m}).GetName()] = m
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.objs, st.synced = objs, true
	st.wakeAll()
	return rv, nil
}

// Typed gives an item of a list the kind it has.
func (k KindInfo) Typed(m map[string]any) {
	version := k.Preferred
	if k.Group != "" {
		version = k.Group + "/" + version
	}
	m["apiVersion"], m["kind"] = version, k.Kind
}

// follow watches from a place in history until the watch ends; silence beyond SilentFor ends it too.
func (st *Stream) follow(ctx context.Context, rv string) error {
	return st.c.Watch(ctx, Request{Path: st.k.Path(st.k.Preferred, st.key.namespace, ""),
		Query: url.Values{"labelSelector": {st.selector}}, Accept: st.accept(false)}, rv, SilentFor, st.event)
}

func (st *Stream) event(ev WatchEvent) error {
	var m map[string]any
	if err := Decode(ev.Object, &m); err != nil {
		return st.c.NotUnderstood(err)
	}
	if err := st.c.echoedBy(&m); err != nil {
		return err
	}
	st.k.Typed(m)
	name := (&unstructured.Unstructured{Object: m}).GetName()
	st.mu.Lock()
	defer st.mu.Unlock()
	if ev.Type == "DELETED" {
		delete(st.objs, name) // deleted, or without our label now: the waiter looks
		st.ends[name] = m
	} else {
		st.objs[name] = m
	}
	st.wake(name)
	return nil
}

// Look returns the object by name as last seen; ok is false before the first read. The error is why this stream cannot work.
func (st *Stream) Look(name string) (obj map[string]any, ok bool, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.objs[name], st.synced, st.err
}

// Told adds to what is told of an object why it is not watched, where that is a server's answers. A right that is missing is told by others.
func (st *Stream) Told(details []string) []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !isWrong(st.err) {
		return details
	}
	return append(slices.Clip(details), fmt.Sprintf("it cannot be watched, and is read every %s instead: %s", MaxPoll, st.err))
}

// End is the object as the watch told of its deletion, nil when it did not.
func (st *Stream) End(name string) map[string]any {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.ends[name]
}

// Streams shares streams among those who wait.
type Streams struct {
	ctx      context.Context
	c        *Client
	selector string
	end      context.CancelFunc
	mu       sync.Mutex
	open     map[streamKey]*Stream
	all      broke.Group
}

// Streams watches objects with a label selector until ctx ends, or it is closed.
func (c *Client) Streams(ctx context.Context, selector string) *Streams {
	ctx, end := context.WithCancel(ctx)
	return &Streams{ctx: ctx, c: c, selector: selector, end: end, open: map[streamKey]*Stream{}}
}

// Close ends all streams and waits for them.
func (w *Streams) Close() {
	w.end()
	w.all.Wait()
}

// Join subscribes to an object: changed is called, with a lock held, when there is something new of it. leave ends the stream when
// nobody is left.
func (w *Streams) Join(ref object.Ref, k KindInfo, metadata bool, changed func()) (st *Stream, leave func()) {
	key := streamKey{ref.Group, ref.Kind, ref.Namespace, metadata}
	w.mu.Lock()
	defer w.mu.Unlock()
	st = w.open[key]
	if st == nil {
		ctx, cancel := context.WithCancel(w.ctx)
		st = &Stream{c: w.c, k: k, key: key, selector: w.selector, cancel: cancel,
			objs: map[string]map[string]any{}, ends: map[string]map[string]any{}, subs: map[string]map[*int]func(){}}
		w.open[key] = st
		w.all.Go(func() { st.run(ctx) })
	}
	st.users++
	id := new(int)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.subs[ref.Name] == nil {
		st.subs[ref.Name] = map[*int]func(){}
	}
	st.subs[ref.Name][id] = changed
	return st, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		st.mu.Lock()
		delete(st.subs[ref.Name], id)
		st.mu.Unlock()
		if st.users--; st.users == 0 {
			st.cancel()
			delete(w.open, key)
		}
	}
}
