package operation

import (
	"slices"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleet"
)

// TestBetweenNames: each side is a group, a cluster or a glob; anything else says what is wrong, and no cluster is on both sides.
func TestBetweenNames(t *testing.T) {
	var clusters []fleet.Cluster
	for _, c := range [][2]string{{"s1", "staging"}, {"p1", "production"}, {"p2", "production"}, {"dev", "lab"}, {"staging-old", "lab"}} {
		clusters = append(clusters, fleet.Cluster{ClusterSpec: v1alpha1.ClusterSpec{Name: c[0], Group: c[1]}})
	}
	for between, want := range map[string][]string{"staging,production": {"s1", "p1", "p2"}, " s1 , p2": {"s1", "p2"}, "dev,p*": {"dev", "p1", "p2"}, "lab,staging": {"dev", "staging-old", "s1"}} {
		b, selected, err := Between(clusters, between)
		if err != nil || !slices.Equal(selected.Clusters, want) || len(b.From.Clusters)+len(b.To.Clusters) != len(want) {
			t.Errorf("%s: %v %v", between, selected, err)
		}
	}
	for between, code := range map[string]string{"staging": "usage", "a,b,c": "unknown-cluster", "staging,production,lab": "usage", "staging,s1": "usage", "staging,nowhere": "unknown-cluster", ",": "usage"} {
		if _, _, err := Between(clusters, between); err == nil || diag.From(err, "")[0].Code != code || diag.From(err, "")[0].Fix == "" {
			t.Errorf("%s: %v", between, err)
		}
	}
	if _, _, err := Between(nil, "a,b"); err == nil || diag.From(err, "")[0].Code != "no-fleet" {
		t.Errorf("%v", err)
	}
}
