package release

import "testing"

// A cluster has what a rollout brought while its record is of it, and while it is on its way back from it; nothing else is undone.
func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rec  *Record
		want bool
	}{
		"it ended well":         {&Record{Rollout: "A", Phase: Succeeded}, true},
		"it failed":             {&Record{Rollout: "A", Phase: Failed}, true},
		"it is under way":       {&Record{Rollout: "A", Phase: Applying}, true},
		"on its way back":       {&Record{Rollout: "B", Undoes: "A", Phase: Applying}, true},
		"back":                  {&Record{Rollout: "B", Undoes: "A", Phase: Succeeded}, false},
		"another release":       {&Record{Rollout: "C", Phase: Succeeded}, false},
		"back from another one": {&Record{Rollout: "C", Undoes: "B", Phase: Applying}, false},
		"nothing":               {nil, false},
	} {
		if got, found := c.rec.Of("A"), c.rec.NotOf("A"); got != c.want || (len(found) == 0) != c.want || !got && found[0].Fix == "" {
			t.Errorf("%s: %t, %v", name, got, found)
		}
		if c.rec.Of("") {
			t.Errorf("%s: it is of a rollout that there is not", name)
		}
	}
}
