package render

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Memo renders every key once, also when asked in parallel: later callers wait for the first one and share its result
// (and its error). Results are shared, so callers must not change them. The zero value is ready to use; it lives as
// long as one run, since it keeps all results.
//
// No more renders run at once than there are processors: rendering is all computing, and each one under way holds
// memory that the garbage collector has to look through.
type Memo struct {
	once    sync.Once
	slots   chan struct{}
	mu      sync.Mutex
	entries map[string]*memoEntry
	renders atomic.Int64
	hits    atomic.Int64
}

type memoEntry struct {
	done chan struct{}
	res  Result
	err  error
}

// Render returns the result for the request's key, rendering it with r when nobody has yet. The key is returned too.
// A render that was cancelled with its own caller's context is not kept: the next caller renders again.
func (m *Memo) Render(ctx context.Context, r Renderer, req Request) (Result, string, error) {
	key, err := r.Key(ctx, req)
	if err != nil {
		return Result{}, "", err
	}
	id := r.Name() + "\x00" + key
	for {
		e, mine := m.entry(id)
		if mine {
			m.renders.Add(1)
			m.run(ctx, r, req, id, e)
			return e.res, key, e.err
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return Result{}, key, ctx.Err()
		}
		if !isCancelled(e.err) {
			m.hits.Add(1)
			return e.res, key, e.err
		}
	}
}

func (m *Memo) entry(id string) (e *memoEntry, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.entries[id]; ok {
		return e, false
	}
	if m.entries == nil {
		m.entries = map[string]*memoEntry{}
	}
	e = &memoEntry{done: make(chan struct{})}
	m.entries[id] = e
	return e, true
}

func (m *Memo) run(ctx context.Context, r Renderer, req Request, id string, e *memoEntry) {
	finished := false
	defer func() {
		// Also when the renderer panics or was cancelled, nobody may wait for ever.
		if !finished {
			e.err = context.Canceled
		}
		if isCancelled(e.err) {
			m.mu.Lock()
			delete(m.entries, id)
			m.mu.Unlock()
		}
		close(e.done)
	}()
	m.once.Do(func() { m.slots = make(chan struct{}, runtime.GOMAXPROCS(0)) })
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
		e.res, e.err = r.Render(ctx, req)
	case <-ctx.Done():
		e.err = ctx.Err()
	}
	finished = true
}

// Renders counts renders that really ran, Hits those answered from memory.
func (m *Memo) Renders() int { return int(m.renders.Load()) }

// Hits counts requests answered without rendering.
func (m *Memo) Hits() int { return int(m.hits.Load()) }
