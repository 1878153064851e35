package rollout

import (
	"slices"
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

// The pauses of a poll end when half of its time is over, when others go on, and when all of it is.
func TestPollPauses(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := NewPoll(begin, begin.Add(20*time.Second), 0)
	var at []time.Duration
	for now := begin; now.Before(p.Until) && len(at) < 20; {
		w, _ := p.Next(now, "x")
		now = w.Wake
		at = append(at, now.Sub(begin).Round(time.Millisecond))
	}
	ms := time.Millisecond
	want := []time.Duration{100 * ms, 300 * ms, 700 * ms, 1500 * ms, 3100 * ms, 6300 * ms, 10000 * ms, 15000 * ms, 20000 * ms}
	if !slices.Equal(at, want) {
		t.Errorf("asked after %s, want %s", at, want)
	}
}

// Of the values of instances it is known what has not come, and whether all of some instances' are overdue.
func TestPolls(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := Polls{}
	p.Came("one", "a") // nobody waits for it
	p.Of("one", "a", begin, begin.Add(10*time.Second), 0).Next(begin, "first")
	p.Of("one", "b", begin, begin.Add(10*time.Second), 0).Next(begin, "second")
	p.Of("two", "a", begin.Add(4*time.Second), begin.Add(20*time.Second), 0).Next(begin, "third")
	if again := p.Of("one", "a", begin.Add(time.Second), begin.Add(time.Hour), 0); again.Since != begin {
		t.Errorf("it began at %s", again.Since)
	}
	p.Came("one", "b")
	if got := p.Waiting(); len(got) != 2 || got["one"] != "first" || got["two"] != "third" {
		t.Errorf("it waits for %v", got)
	}
	if p.Came("two", "a"); len(p.Waiting()) != 1 {
		t.Errorf("it waits for %v", p.Waiting())
	}
	for _, c := range []struct {
		after time.Duration
		of    []string
		want  bool
	}{{5 * time.Second, []string{"one"}, true}, {5 * time.Second, []string{"one", "two"}, false}, {12 * time.Second, []string{"two", "one"}, true}, {0, nil, true}} {
		if got := p.Overdue(begin.Add(c.after), c.of); got != c.want {
			t.Errorf("%v after %s: %t", c.of, c.after, got)
		}
	}
}
