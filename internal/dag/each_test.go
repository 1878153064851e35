package dag

import (
	"sync/atomic"
	"testing"
)

// Every index has its turn once, and no more at once than the limit says; 0 is no limit.
func TestEach(t *testing.T) {
	for _, limit := range []int{0, 1, 3, 100} {
		var running, most atomic.Int32
		var did [10]atomic.Int32
		Each(len(did), limit, func(i int) {
			for n := running.Add(1); ; {
				if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			did[i].Add(1)
			running.Add(-1)
		})
		for i := range did {
			if did[i].Load() != 1 {
				t.Errorf("limit %d: %d ran %d times", limit, i, did[i].Load())
			}
		}
		if limit > 0 && most.Load() > int32(limit) {
			t.Errorf("limit %d: %d at once", limit, most.Load())
		}
	}
	Each(0, 0, func(int) { t.Error("ran") })
}
