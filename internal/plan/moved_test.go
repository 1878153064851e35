package plan

import "testing"

// What moved is told by our managed fields entry alone, wherever it is asked: the same answer for a plan, its dry runs, a status and a prune.
func TestMoved(t *testing.T) {
	for _, c := range []struct {
		name            string
		was, hash       string // what the record has
		live            Live
		moved, unmarked bool
	}{
		{"nothing happened", "1", "a", Live{ResourceVersion: "1", ApplyHash: "a"}, false, false},
		{"somebody wrote what is theirs", "1", "a", Live{ResourceVersion: "2", ApplyHash: "a"}, false, false},
		{"somebody wrote what is ours", "1", "a", Live{ResourceVersion: "2", ApplyHash: "b"}, true, false},
		{"our entry is gone", "1", "a", Live{ResourceVersion: "2"}, true, true},
		{"our entry is gone, and none was recorded", "1", "", Live{ResourceVersion: "2"}, true, true},
		{"none was recorded, and nothing happened", "1", "", Live{ResourceVersion: "1"}, false, true},
		{"what is left to others", "1", "a", Live{ResourceVersion: "2", ApplyHash: "b", LeftToOthers: true}, false, false},
	} {
		if got := Moved(InventoryEntry{ResourceVersion: c.was, ApplyHash: c.hash}, c.live); got != c.moved || Unmarked(c.live) != c.unmarked {
			t.Errorf("%s: moved %v, unmarked %v", c.name, got, Unmarked(c.live))
		}
	}
}

// A change is stale when what it saw of ours, or of who has what it adopts, is another one now; the resourceVersion alone says nothing.
func TestChangeMoved(t *testing.T) {
	for _, c := range []struct {
		action           Action
		rv, hash, former string
		want             bool
	}{
		{Update, "1", "a", "f", false}, {Update, "2", "a", "f", false}, {Update, "2", "b", "f", true}, {Update, "2", "", "f", true},
		{Update, "2", "a", "g", false}, {Adopt, "2", "a", "g", true}, {Adopt, "2", "a", "f", false}, {Delete, "2", "b", "", true},
	} {
		if got := (Change{Action: c.action, ResourceVersion: "1", ApplyHash: "a", FormerEntries: "f"}).Moved(c.rv, c.hash, c.former); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
