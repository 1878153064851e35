package rollout

import (
	"testing"
	"time"
)

// A poll is overdue when half of its time has gone by, its own limit counted.
func TestPollOverdue(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		limit, gone time.Duration
		want        bool
	}{
		{0, 149 * time.Second, false},
		{0, 150 * time.Second, true},
		{10 * time.Second, 4999 * time.Millisecond, false},
		{10 * time.Second, 5 * time.Second, true},
		{time.Hour, 149 * time.Second, false},
	} {
		p := NewPoll(begin, begin.Add(5*time.Minute), c.limit)
		if got := p.Overdue(begin.Add(c.gone)); got != c.want {
			t.Errorf("limit %s, after %s: %t", c.limit, c.gone, got)
		}
	}
}
