package release

import "testing"

func TestContinues(t *testing.T) {
	rec := func(number int, head string, phase Phase) *Record {
		return &Record{Release: number, Head: head, Phase: phase, Rollout: "theirs"}
	}
	next := Record{Head: "new", Phase: Applying, Rollout: "own"}
	deleting := next
	deleting.Phase = Deleting
	back := func(to int) Record {
		r := next
		r.RollbackTo = &Name{Release: to}
		return r
	}
	backAt := func(number, to int) *Record {
		r := rec(number, "new", Succeeded)
		r.RollbackTo = &Name{Release: to}
		return r
	}
	for name, c := range map[string]struct {
		next           Record
		selected, left []*Record
		number         int
		rollout        string
	}{
		"first":                         {next, []*Record{nil, nil}, nil, 1, "own"},
		"all":                           {next, []*Record{rec(3, "old", Succeeded), nil}, nil, 4, "own"},
		"the next wave":                 {next, []*Record{rec(3, "old", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 4, "theirs"},
		"the next wave, first time":     {next, []*Record{nil}, []*Record{rec(1, "new", Written), nil}, 1, "theirs"},
		"changed meanwhile":             {next, []*Record{rec(3, "old", Succeeded)}, []*Record{rec(4, "other", Succeeded)}, 5, "own"},
		"the first wave failed":         {next, []*Record{rec(3, "old", Succeeded)}, []*Record{rec(4, "new", Failed)}, 5, "own"},
		"in it already":                 {next, []*Record{rec(4, "new", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 5, "own"},
		"one is in it already":          {next, []*Record{rec(4, "new", Failed), rec(3, "old", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 5, "own"},
		"the others are behind":         {next, []*Record{rec(6, "old", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 7, "own"},
		"the rollback's next wave":      {back(1), []*Record{rec(3, "old", Succeeded)}, []*Record{backAt(4, 1)}, 4, "theirs"},
		"applied after a rollback":      {next, []*Record{rec(3, "old", Succeeded)}, []*Record{backAt(4, 1)}, 5, "own"},
		"another rollback":              {back(2), []*Record{rec(3, "old", Succeeded)}, []*Record{backAt(4, 1)}, 5, "own"},
		"deleted":                       {deleting, []*Record{rec(3, "new", Succeeded)}, []*Record{rec(4, "new", Succeeded)}, 5, "own"},
		"records of before the numbers": {next, []*Record{{Revision: 2, Head: "old"}}, []*Record{{Revision: 9, Head: "x", Phase: Succeeded}}, 10, "own"},
	} {
		if number, rollout := Continues(c.next, c.selected, c.left); number != c.number || rollout != c.rollout {
			t.Errorf("%s: %d %s, want %d %s", name, number, rollout, c.number, c.rollout)
		}
	}
}
