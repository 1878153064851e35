package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A run is short and starts with an empty heap, which the garbage collector by default walks each time it has doubled:
// a fifth of the processor time of a render. While little memory is in use it may grow further first. A big fleet gets
// the opposite: collections come early enough to stay below the limit, unless what is really in use comes near it.
const (
	eagerPercent = 400
	usualPercent = 100
	// little is the live heap up to which eagerPercent holds: a collection comes at five times that, at the latest.
	little = 24 << 20
	// limit is for all memory of the Go runtime; the program's own pages come on top.
	limit = 240 << 20
)

// tuneCollector sets the collector for small heaps, back to the usual once the heap is no longer small, and lifts the
// limit before it costs time. GOGC and GOMEMLIMIT win.
func tuneCollector() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(eagerPercent)
	debug.SetMemoryLimit(limit)
	watchHeap()
}

// watchHeap looks at the heap after every collection: a finalizer runs after each one that finds its object unused.
func watchHeap() {
	runtime.SetFinalizer(&struct{ _ [16]byte }{}, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() != metrics.KindUint64 {
			return
		}
		switch n := live[0].Value.Uint64(); {
		case n > limit/2:
			debug.SetGCPercent(usualPercent)
			debug.SetMemoryLimit(math.MaxInt64)
			return
		case n > little:
			debug.SetGCPercent(usualPercent)
		}
		watchHeap()
	})
}
