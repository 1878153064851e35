package kube_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
)

// What is left of a bundle whose current record was deleted by hand names it, for one and among all; a bundle that has its record, one
// that was deleted, and what a run left that never ended do not.
func TestRemnants(t *testing.T) {
	c := &shelf{secrets: map[string]corev1.Secret{}}
	store := kube.New(c, "c")
	put := func(bundle string, phase release.Phase) (release.Record, release.RecordVersion) {
		r := storetest.Record(t, 1)
		r.Bundle, r.Owner, r.Phase = bundle, object.OwnerID("", "", bundle), phase
		h, err := store.Put(t.Context(), r, storetest.Objects(1, "x"), "")
		if err != nil {
			t.Fatal(err)
		}
		return r, h
	}
	lose := func(r release.Record) { delete(c.secrets, "hawser-"+r.Owner) }
	lost := func() []string {
		left, err := release.Each(t.Context(), kube.New(c, "c"), func(release.Record) {})
		if err != nil {
			t.Fatal(err)
		}
		return left.Lost
	}
	shop, _ := put("shop", release.Succeeded)
	gone, h := put("gone", release.Succeeded)
	died, _ := put("died", release.Applying)
	put("stays", release.Succeeded)
	if err := store.Delete(t.Context(), gone.Owner, h); err != nil {
		t.Fatal(err)
	}
	lose(died)
	if got := lost(); got != nil {
		t.Errorf("nothing is lost: %v", got)
	}
	of := storetest.Record(t, 1)
	of.Bundle, of.Owner = "of-hub", object.OwnerID("hub-uid", "team-a", "of-hub")
	if _, err := store.Put(t.Context(), of, storetest.Objects(1, "x"), ""); err != nil {
		t.Fatal(err)
	}
	lose(of)
	if got := lost(); !slices.Equal(got, []string{"of-hub"}) || release.LostOf(t.Context(), store, of.Owner) == nil {
		t.Errorf("a bundle of another scope than files': %v", got)
	}
	for name := range c.secrets {
		if strings.HasPrefix(name, "hawser-"+of.Owner) {
			delete(c.secrets, name)
		}
	}
	lose(shop)
	if got := lost(); !slices.Equal(got, []string{"shop"}) {
		t.Errorf("%v", got)
	}
	if err := release.LostOf(t.Context(), store, shop.Owner); err == nil {
		t.Error("one that is asked for by its name")
	}
	for _, r := range []release.Record{gone, died} {
		if err := release.LostOf(t.Context(), store, r.Owner); err != nil {
			t.Error(err)
		}
	}
}
