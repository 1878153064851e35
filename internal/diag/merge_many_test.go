package diag

import (
	"fmt"
	"testing"
	"time"
)

// TestMergeMany: the same mistake in 60,000 documents is as many findings, in a time that grows with their number.
func TestMergeMany(t *testing.T) {
	var fs Findings
	for i := range 60_000 {
		f := Errorf("x", "missing")
		f.Pos, f.Cluster = Pos{File: "a.yaml", Line: i + 1}, fmt.Sprint("c", i%2)
		fs = append(fs, f)
	}
	began := time.Now()
	if got := len(fs.Merge()); got != 30_000 {
		t.Errorf("%d findings", got)
	}
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("it takes %s", took)
	}
}
