package lockfile

import "testing"

// TestFormer: a bundle that was deleted from a cluster of a fleet is known by its owner id; one that runs there, or of which
// nothing tells that it was deleted, is not.
func TestFormer(t *testing.T) {
	id := func(bundle string) string { return "id-of-" + bundle }
	f := File{Lineages: map[string]string{"gone": "1", "shop": "2"}, Places: map[string]map[string]Place{"prod": {"eu": {Bundles: []string{"shop"}}}}}
	for _, c := range []struct{ fleet, cluster, owner, want string }{
		{"prod", "eu", "id-of-gone", "gone"},
		{"prod", "eu", "id-of-shop", ""},
		{"prod", "eu", "id-of-other", ""},
		{"prod", "us", "id-of-gone", ""},
		{"", "", "id-of-gone", ""},
	} {
		if got := f.Former(c.fleet, c.cluster, c.owner, id); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
