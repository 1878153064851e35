package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A run is short and starts with an empty heap, which the garbage collector by default walks each time it has doubled:
// a fifth of the processor time of a render. While little memory is in use it may grow further first. docs/performance.md
// has the figures.
const (
	eagerPercent = 400
	usualPercent = 100
	// little is the live heap up to which eagerPercent holds: a collection comes at five times that, at the latest.
	little = 24 << 20
)

// tuneCollector sets the collector for small heaps, and back to the usual once the heap is no longer small. GOGC wins.
func tuneCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(eagerPercent)
	watchHeap()
}

// watchHeap looks at the heap after every collection: a finalizer runs after each one that finds its object unused.
func watchHeap() {
	runtime.SetFinalizer(&struct{ _ [16]byte }{}, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() == metrics.KindUint64 && live[0].Value.Uint64() > little {
			debug.SetGCPercent(usualPercent)
			return
		}
		watchHeap()
	})
}
