package main

import (
	"math"
	"runtime/metrics"
	"testing"
)

// The collector lets a small heap grow, keeps a big one below the limit, and never works all the time to do so: the next
// collection comes after the heap has grown by a fifth at least.
func TestCollection(t *testing.T) {
	for live := uint64(0); live < 1<<30; live += 1 << 20 {
		c := collection(live)
		if c.limit != math.MaxInt64 && live > uint64(c.limit)/6*5 {
			t.Errorf("%d MiB alive: a limit of %d MiB", live>>20, c.limit>>20)
		}
		if live > little && c.percent > usualPercent || live > much && c.percent != tightPercent || c.percent < tightPercent {
			t.Errorf("%d MiB alive: %d percent", live>>20, c.percent)
		}
	}
}

// The tests' own process is collected, though package startup switches that off in every process with the product's packages.
func TestTestsAreCollected(t *testing.T) {
	percent := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	if metrics.Read(percent); percent[0].Value.Uint64() > 1000 {
		t.Errorf("a collection comes at %d %% of what is alive", percent[0].Value.Uint64())
	}
}
