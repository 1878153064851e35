package render

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"hawser.dev/hawser/internal/once"
)

// Memo renders every key once, also when asked in parallel: later callers wait for the first one and share its result
// (and its error). Results are shared, so callers must not change them. The zero value is ready to use; runs may share it,
// since of the results it keeps no more than so many bytes.
//
// No more renders run at once than there are processors: rendering is all computing, and each one under way holds
// memory that the garbage collector has to look through.
type Memo struct {
	// Most bounds the bytes of what is kept, as near as they can be told; 0 is 128 MiB. What nobody asked for longest goes first.
	Most int64

	once    sync.Once
	slots   chan struct{}
	results once.Map[string, Result]
	renders atomic.Int64
}

// Render returns the result for the request's key, rendering it with r when nobody has yet. The key is returned too.
// A renderer that panics is an error that shows where, and not what it said, which may be a value.
// A render that was cancelled with its own caller's context is not kept: the next caller renders again.
func (m *Memo) Render(ctx context.Context, r Renderer, req Request) (Result, string, error) {
	key, err := KeyOf(ctx, r, req)
	if err != nil {
		return Result{}, "", err
	}
	m.once.Do(func() {
		m.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
		m.results.Most, m.results.Weight = cmp.Or(max(m.Most, 0), 128<<20), Result.weight
	})
	res, err := m.results.Get(ctx, r.Name()+"\x00"+key, func() (Result, error) {
		m.renders.Add(1)
		return m.run(ctx, r, req)
	})
	return res, key, err
}

// run renders as soon as there is room for it.
func (m *Memo) run(ctx context.Context, r Renderer, req Request) (Result, error) {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
		res, err := Rendered(ctx, r, req)
		if fs := unresolved(req.Instance, res.Objects); err == nil && fs != nil {
			res.Findings = slices.Concat(res.Findings, fs)
		}
		return res, err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// Forgive forgets what failed, so that a run does not answer for those after it: what it met may be over.
func (m *Memo) Forgive() { m.results.Forgive() }

// Renders counts renders that really ran; all others were answered from memory.
func (m *Memo) Renders() int { return int(m.renders.Load()) }

// weight is about how many bytes of memory a result takes.
func (r Result) weight() int64 {
	n := int64(len(r.Digest))
	for _, o := range r.Objects {
		n += weigh(o.Body)
	}
	return n
}

// weigh adds up a tree of JSON: each value has a header, and each entry of a map some more.
func weigh(v any) int64 {
	n := int64(16)
	switch v := v.(type) {
	case string:
		n += int64(len(v))
	case map[string]any:
		for key, below := range v {
			n += 48 + int64(len(key)) + weigh(below)
		}
	case []any:
		for _, below := range v {
			n += weigh(below)
		}
	}
	return n
}
