package release_test

import (
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/memory"
)

func held(names ...string) []plan.InventoryEntry {
	var out []plan.InventoryEntry
	for _, name := range names {
		out = append(out, plan.InventoryEntry{Ref: object.Ref{Kind: "ConfigMap", Namespace: "ns", Name: name}, Instance: "app", UID: "uid-" + name})
	}
	return out
}

func recordOf(bundle, path string, minute int, owned ...string) release.Record {
	return release.Record{V: 1, Bundle: bundle, Owner: object.OwnerID("", "", bundle), Revision: 1, Phase: release.Succeeded, Source: lineage.Source{Path: path},
		Started: time.Date(2026, 11, 1, 12, minute, 0, 0, time.UTC), Inventory: held(owned...)}
}

// TestMovedTo: an object moved to the bundle that has it when that is of the same place and its record names the object.
func TestMovedTo(t *testing.T) {
	store := memory.New("a")
	for _, rec := range []release.Record{recordOf("new", "/w", 2, "a"), recordOf("other", "/v", 2, "b")} {
		if _, err := store.Put(t.Context(), rec, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	by := func(bundle, uid string) plan.Live {
		return plan.Live{Found: true, UID: uid, ForeignBundle: true, Foreign: "Hawser bundle " + bundle, ForeignManagers: []string{object.Manager(object.OwnerID("", "", bundle))}}
	}
	old := recordOf("old", "/w", 1, "a", "b", "c", "d", "e")
	live := map[object.Ref]plan.Live{}
	for i, l := range []plan.Live{by("new", "uid-a"), by("other", "uid-b"), by("new", "uid-c"), {Found: true, UID: "uid-d", ApplyHash: "e"}, by("none", "uid-e")} {
		live[old.Inventory[i].Ref] = l
	}
	if given := release.Given(t.Context(), store, old, live); len(given) != 1 {
		t.Errorf("%v", given)
	}
	back, h, err := store.Current(t.Context(), object.OwnerID("", "", "new"))
	if err == nil {
		back.RollbackTo = &release.Name{Release: 1}
		_, err = store.Put(t.Context(), *back, nil, h)
	}
	if given := release.Given(t.Context(), store, old, live); err != nil || len(given) != 0 {
		t.Errorf("what a rollback took back was not given: %v %v", err, given)
	}
	got := release.MovedTo(t.Context(), store, old, live)
	if len(got) != 1 || got[old.Inventory[0].Ref] != "new" {
		t.Errorf("%v", got)
	}
}

// TestMoves: the records alone tell of a bundle that everything of it is in later ones of the same place.
func TestMoves(t *testing.T) {
	for _, c := range []struct {
		reason  string
		records []release.Record
		want    string
	}{
		{"renamed", []release.Record{recordOf("old", "/w", 1, "a", "b"), recordOf("new", "/w", 2, "a", "b", "c")}, "new"},
		{"to two", []release.Record{recordOf("new", "/w", 2, "a"), recordOf("old", "/w", 1, "a", "b"), recordOf("more", "/w", 3, "b")}, "more new"},
		{"something is left", []release.Record{recordOf("old", "/w", 1, "a", "b"), recordOf("new", "/w", 2, "a")}, ""},
		{"of another place", []release.Record{recordOf("old", "/w", 1, "a"), recordOf("new", "/v", 2, "a")}, ""},
		{"taken back since", []release.Record{recordOf("old", "/w", 3, "a"), recordOf("new", "/w", 2, "a")}, ""},
		{"nothing was there", []release.Record{recordOf("old", "/w", 1), recordOf("new", "/w", 2, "a")}, ""},
	} {
		var m release.Moves
		listed := []release.BundleListing{{Bundle: "old"}}
		for _, rec := range c.records {
			m.Add(rec)
		}
		if m.Mark(listed); strings.Join(listed[0].MovedTo, " ") != c.want {
			t.Errorf("%s: %v", c.reason, listed[0].MovedTo)
		}
	}
}
