package kube_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/blob"
	"hawser.dev/hawser/internal/release/kube"
	"hawser.dev/hawser/internal/release/storetest"
)

// shops is beside of the fleet shop.
func shops(c kube.Client, b blob.Bucket) release.Store {
	in := kube.Own(c, cluster)
	return blob.New(blob.Options{Bucket: b, Scope: func() (string, error) { return "uid-1", nil }, Cluster: cluster, Fleet: "shop", Key: in.Key, Own: in})
}

// TestListedElsewhere: who lists all bundles of a cluster is told of those whose records are in another store, or that their store has
// lost, and sees the others all the same. Those of other fleets are named, and are no matter of the run's.
func TestListedElsewhere(t *testing.T) {
	c := &shelf{secrets: map[string]corev1.Secret{}}
	path := t.TempDir()
	a, b := openDir(t, path), openDir(t, t.TempDir())
	put := func(s release.Store, bundles ...string) {
		for _, name := range bundles {
			r := storetest.Record(t, 1)
			r.Bundle, r.Owner = name, object.OwnerID("", "", name)
			if _, err := s.Put(t.Context(), r, storetest.Objects(1, "x"), ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	each := func(s release.Store) (found, away, lost string) {
		names := map[string]bool{}
		left, err := release.Each(t.Context(), s, func(r release.Record) { names[r.Bundle] = true })
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range left.Away {
			if p.At.Fleet != "shop" || p.Owner != object.OwnerID("", "", p.Bundle) || p.At.Name != "the directory "+path || p.At.Is(left.Here) {
				t.Errorf("%+v", p)
			}
			away += p.Bundle + " "
		}
		return strings.Join(slices.Sorted(maps.Keys(names)), " "), away, strings.Join(left.Lost, " ")
	}
	check := func(what string, s release.Store, found, away, lost string) {
		t.Helper()
		if f, a, l := each(s); f != found || a != away || l != lost {
			t.Errorf("%s: found %q, away %q, lost %q", what, f, a, l)
		}
	}
	put(kube.New(c, "c"), "one", "two")
	put(shops(c, a), "three", "four", "five")
	held := release.Hold{Bundle: "held", Release: 1, Rollout: "HELD", SourceDigest: "sha256:x", Wave: "wave 1"}
	if _, err := shops(c, a).(release.Holder).PutHold(t.Context(), object.OwnerID("", "", "held"), held, ""); err != nil {
		t.Fatal(err)
	}
	check("their store", shops(c, a), "five four one three two", "", "")
	check("no store", kube.New(c, "c"), "one two", "five four held three ", "")
	check("another store", beside(c, b), "one two", "five four held three ", "")
	empty := func(but string) {
		list, err := a.List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Key == but || strings.Contains(e.Key, "/holds/") && but != "" {
				continue
			}
			if err := a.Delete(t.Context(), e.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	empty("hawser-store.json")
	check("a store that has lost them", shops(c, a), "one two", "", "five four three")
	empty("")
	check("an empty directory of the same name", shops(c, openDir(t, path)), "one two", "five four held three ", "")
}
