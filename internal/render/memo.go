package render

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"hawser.dev/hawser/internal/once"
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
	results once.Map[string, Result]
	renders atomic.Int64
	hits    atomic.Int64
}

// Render returns the result for the request's key, rendering it with r when nobody has yet. The key is returned too.
// A renderer that panics is an error that shows where, and not what it said, which may be a value.
// A render that was cancelled with its own caller's context is not kept: the next caller renders again.
func (m *Memo) Render(ctx context.Context, r Renderer, req Request) (Result, string, error) {
	key, err := KeyOf(ctx, r, req)
	if err != nil {
		return Result{}, "", err
	}
	mine := false
	res, err := m.results.Get(ctx, r.Name()+"\x00"+key, func() (Result, error) {
		mine = true
		m.renders.Add(1)
		return m.run(ctx, r, req)
	})
	if !mine && ctx.Err() == nil {
		m.hits.Add(1)
	}
	return res, key, err
}

// run renders as soon as there is room for it.
func (m *Memo) run(ctx context.Context, r Renderer, req Request) (Result, error) {
	m.once.Do(func() { m.slots = make(chan struct{}, runtime.GOMAXPROCS(0)) })
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
		return Rendered(ctx, r, req)
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Renders counts renders that really ran, Hits those answered from memory.
func (m *Memo) Renders() int { return int(m.renders.Load()) }

// Hits counts requests answered without rendering.
func (m *Memo) Hits() int { return int(m.hits.Load()) }
