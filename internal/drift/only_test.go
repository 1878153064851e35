package drift

import "testing"

// The one bundle that drifted is named; of several, or none, none is.
func TestOnly(t *testing.T) {
	of := func(name string, states ...State) Bundle {
		b := Bundle{Bundle: name, Clusters: []Cluster{{}}}
		for _, s := range states {
			b.Clusters[0].Drifted = append(b.Clusters[0].Drifted, Object{State: s})
		}
		return b
	}
	for want, bundles := range map[string][]Bundle{"api": {of("shop", Settled), of("api", Settled, "changed")}, "BUNDLE": {of("shop", "changed"), of("api", "changed")}, "shop": {of("shop", "changed")}} {
		if got := (&Report{Bundles: bundles}).Only("BUNDLE"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (&Report{}).Only("BUNDLE"); got != "BUNDLE" {
		t.Error(got)
	}
}
