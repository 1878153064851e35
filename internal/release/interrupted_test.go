package release

import (
	"fmt"
	"testing"
	"time"
)

// A run that died stays known in the records of those after it, each once and not more than Retention; one that is gone on with, a
// correction of a release that had ended, and one that ended do not count.
func TestInterrupted(t *testing.T) {
	open := Record{Revision: 2, Release: 7, Rollout: "A", Phase: Applying, Author: "ada", Started: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		before, next Record
		want         string
	}{
		"died":            {open, Record{Revision: 3, Rollout: "B"}, "[2]"},
		"a delete":        {Record{Revision: 2, Rollout: "A", Phase: Deleting}, Record{Revision: 3, Rollout: "B"}, "[2]"},
		"it goes on":      {open, Record{Revision: 3, Rollout: "A"}, "[]"},
		"written again":   {open, Record{Revision: 2, Rollout: "B"}, "[]"},
		"it failed":       {Record{Revision: 2, Rollout: "A", Phase: Failed}, Record{Revision: 3, Rollout: "B"}, "[]"},
		"a correction":    {Record{Revision: 2, Rollout: "A", Phase: Applying, Corrections: []Correction{{}}}, Record{Revision: 3, Rollout: "B"}, "[]"},
		"one before":      {Record{Revision: 2, Rollout: "A", Phase: Succeeded, Interrupted: []Interruption{{Revision: 1}}}, Record{Revision: 3, Rollout: "B"}, "[1]"},
		"one after other": {Record{Revision: 2, Rollout: "A", Phase: Applying, Interrupted: []Interruption{{Revision: 1}}}, Record{Revision: 3, Rollout: "B"}, "[2 1]"},
	} {
		c.next.Carry(c.before)
		numbers := []int{}
		for _, r := range c.next.Died() {
			numbers = append(numbers, r.Revision)
			if r.Phase != Interrupted || r.Phase.Open() || r.Phase.Complete() || r.Phase.Known() {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if got := fmt.Sprint(numbers); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	next := Record{Revision: 3, Rollout: "B"}
	next.Carry(open)
	if r := next.Died()[0]; r.Release != 7 || r.Author != "ada" || !r.Started.Equal(open.Started) || r.Rollout != "A" {
		t.Errorf("%+v", r)
	}
	r := Record{}
	for n := 1; n < 3*Retention; n++ {
		before := r
		before.Revision, before.Rollout, before.Phase = n, fmt.Sprint(n), Applying
		r = Record{Revision: n + 1, Rollout: fmt.Sprint(n + 1)}
		r.Carry(before)
	}
	if len(r.Interrupted) != Retention || r.Died()[0].Revision != 3*Retention-1 {
		t.Errorf("%+v", r.Interrupted)
	}
}
