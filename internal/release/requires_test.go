package release_test

import (
	"slices"
	"testing"

	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/memory"
)

// TestRequiring: the bundles that require another one and have something there, and those that go with it apart.
func TestRequiring(t *testing.T) {
	store := memory.New("a")
	put := func(rec release.Record, requires ...string) {
		t.Helper()
		rec.Requires = requires
		if _, err := store.Put(t.Context(), rec, nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	put(recordOf("one", "/w", 1, "a"), "one")
	put(recordOf("two", "/w", 1, "b"), "one")
	put(recordOf("nothing", "/w", 1), "one")
	put(recordOf("other", "/w", 1, "c"), "two")
	going := recordOf("going", "/w", 1, "d")
	going.Phase = release.Deleting
	put(going, "one")
	put(recordOf("too", "/w", 1, "e"), "one")
	for but, want := range map[string][]string{"": {"too", "two"}, "too": {"two"}} {
		if got := release.Requiring(t.Context(), store, "one", []string{but, "one"}); !slices.Equal(got, want) {
			t.Errorf("but %q: %v, want %v", but, got, want)
		}
	}
}

// TestInOrder: who requires stands behind, whatever the names are.
func TestInOrder(t *testing.T) {
	var records []release.Record
	for _, r := range []struct {
		name     string
		requires []string
	}{{"app", []string{"zone", "gone"}}, {"zone", []string{"base"}}, {"base", nil}, {"m", nil}} {
		records = append(records, release.Record{Bundle: r.name, Requires: r.requires})
	}
	if got := release.InOrder(records); !slices.Equal(got, []string{"base", "m", "zone", "app"}) && !slices.Equal(got, []string{"base", "zone", "app", "m"}) {
		t.Errorf("%v", got)
	}
}
