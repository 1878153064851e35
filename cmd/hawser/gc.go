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
	tightPercent = 20
	// little is the live heap up to which eagerPercent holds: a collection comes at five times that, at the latest.
	little = 24 << 20
	// limit is for all memory of the Go runtime; the program's own pages, some 65 MiB, come on top.
	limit = 184 << 20
	// much is the live heap from which the limit would have the collector at work all the time: tightPercent holds in its
	// place.
	much = limit / 6 * 5
)

// tuneCollector sets the collector by what is alive, after every collection. GOGC and GOMEMLIMIT win.
func tuneCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		debug.SetGCPercent(usualPercent)
		return
	}
	set := collection(0)
	set.now()
	watchHeap(set)
}

// collector is how the garbage collector is set.
type collector struct {
	percent int
	limit   int64
}

func (c collector) now() {
	debug.SetGCPercent(c.percent)
	debug.SetMemoryLimit(c.limit)
}

// collection is how the collector is set while so much is alive.
func collection(live uint64) collector {
	switch {
	case live > much:
		return collector{tightPercent, math.MaxInt64}
	case live > little:
		return collector{usualPercent, limit}
	}
	return collector{eagerPercent, limit}
}

// watchHeap looks at the heap after every collection: a finalizer runs after each one that finds its object unused.
func watchHeap(set collector) {
	runtime.SetFinalizer(&struct{ _ [16]byte }{}, func(any) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() != metrics.KindUint64 {
			return
		}
		next := collection(live[0].Value.Uint64())
		if next != set { // setting it stops the world
			next.now()
		}
		watchHeap(next)
	})
}
