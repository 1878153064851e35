package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/chance"
	"hawser.dev/hawser/internal/release"
)

// testKept: what is made up is kept whole, by compare-and-swap, apart from records, and through everything they do.
func testKept(t *testing.T, open func(*testing.T) release.Store) {
	keeper := func() release.Keeper {
		k, ok := open(t).(release.Keeper)
		if !ok {
			t.Skip("the store keeps no made-up values")
		}
		return k
	}
	r := Record(t, 1)
	if k, h, err := keeper().Kept(t.Context(), r.Owner); k != nil || h != "" || err != nil {
		t.Fatalf("kept before anything was: %v %q %v", k, h, err)
	}
	first := release.Kept{"db": {Calls: []chance.Call{{Template: "a", Func: "f", Args: "1", Line: "2", Value: "päss\n"}},
		Secrets: map[string]map[string]string{"ns/x": {"p": "cA=="}}}}
	h, err := keeper().Keep(t.Context(), r.Owner, first, "")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t) // what a record's writer collects is not this
	rh := put(t, s, r, Objects(2, "x"), "")
	open1 := Record(t, 2)
	open1.Phase = release.Applying
	rh = put(t, open(t), open1, nil, rh)
	rh = put(t, open(t), open1, nil, rh)
	if _, err := keeper().Keep(t.Context(), r.Owner, release.Kept{}, ""); !errors.Is(err, release.ErrConflict) {
		t.Errorf("a second first one: %v", err)
	}
	second := release.Kept{"db": first["db"], "api": {Calls: []chance.Call{{Func: "g", Value: "v"}}}}
	if _, err := keeper().Keep(t.Context(), r.Owner, second, h); err != nil {
		t.Fatal(err)
	}
	if _, err := keeper().Keep(t.Context(), r.Owner, first, h); !errors.Is(err, release.ErrConflict) {
		t.Errorf("an old handle: %v", err)
	}
	got, _, err := keeper().Kept(t.Context(), r.Owner)
	if diff := cmp.Diff(second, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for range 2 {
		if err := keeper().Forget(t.Context(), r.Owner); err != nil {
			t.Fatal(err)
		}
	}
	if k, _, err := keeper().Kept(t.Context(), r.Owner); k != nil || err != nil {
		t.Errorf("still there: %v %v", k, err)
	}
	if err := open(t).Delete(t.Context(), r.Owner, rh); err != nil {
		t.Fatal(err)
	}
}
