package history

import (
	"testing"

	"hawser.dev/hawser/internal/release"
)

// Of a release whose record a cluster that answered keeps no longer it is said so, and that its changes are at least those that are known.
func TestReachOfWhatIsPruned(t *testing.T) {
	const ok = release.Succeeded
	pruned := func(name string) Cluster { return keeps(name, rec(12, 12, ok), rec(11, 11, ok)) }
	for name, c := range map[string]struct {
		clusters    []Cluster
		reach, done string
	}{
		"one":                 {[]Cluster{pruned("a"), keeps("b", rec(1, 1, ok))}, "1/2, no longer kept on a", "at least ~1"},
		"two":                 {[]Cluster{pruned("a"), keeps("b", rec(1, 1, ok)), pruned("c")}, "1/3, no longer kept on a and 1 more", "at least ~1"},
		"another is not read": {[]Cluster{pruned("a"), keeps("b", rec(1, 1, ok)), {Name: "c", Unreachable: "no route"}}, "1/3, no longer kept on a, 1 unknown", "at least ~1"},
		"none":                {[]Cluster{keeps("a"), keeps("b", rec(1, 1, ok)), {Name: "c", Unreachable: "no route"}}, "1/3, 1 unknown", "~1"},
	} {
		all := Of(c.clusters).Bundles[0].Releases
		r := all[len(all)-1]
		if got := r.Reach(); got != c.reach || r.Least("~1") != c.done || r.Least("") != "" {
			t.Errorf("%s: %q, want %q; %q", name, got, c.reach, r.Least("~1"))
		}
	}
	r := Of([]Cluster{pruned("a"), keeps("b", rec(1, 1, ok)), {Name: "c", Unreachable: "no route"}}).Bundles[0].Releases[2]
	if got := r.Clusters[0].Doubt(); got != "what it had then is no longer kept" {
		t.Error(got)
	}
	if got := r.Clusters[2].Doubt(); got != "not reached: no route" {
		t.Error(got)
	}
}
