package place

import (
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/fleet"
)

// TestUnknownAsksLittle: a bundle that names no cluster is judged without a look at the fleet: it is for every cluster.
func TestUnknownAsksLittle(t *testing.T) {
	spec := v1alpha1.BundleSpec{Instances: make([]v1alpha1.Instance, 3)}
	clusters := make([]fleet.Cluster, 10_000)
	if n := testing.AllocsPerRun(10, func() { Unknown(spec, clusters) }); n > 10 {
		t.Errorf("%.0f allocations", n)
	}
}

// A group or cluster that nobody has is shown where the placement names it, with those that there are.
func TestUnknownStandsWhereItIs(t *testing.T) {
	at := func(line int) v1alpha1.Position { return v1alpha1.Position{File: "b.yaml", Line: line, Column: 9} }
	in := v1alpha1.Instance{Name: "web", Pos: at(5), Placement: &v1alpha1.Placement{Clusters: []string{"mars"}, Groups: []string{"nobody"}, ClustersPos: at(9), GroupsPos: at(10)}}
	clusters := []fleet.Cluster{{ClusterSpec: v1alpha1.ClusterSpec{Name: "eu", Group: "production"}}}
	got := Unknown(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{in}}, clusters)
	if len(got) != 2 || got[0].Pos.Line != 9 || got[0].Fix != "there is: eu" || got[1].Pos.Line != 10 || got[1].Fix != "there is: production" {
		t.Errorf("%+v", got)
	}
	in.Placement.ClustersPos, in.Placement.GroupsPos = v1alpha1.Position{}, v1alpha1.Position{} // of a document that nobody knows the lines of
	if got := Unknown(v1alpha1.BundleSpec{Instances: []v1alpha1.Instance{in}}, clusters); len(got) != 2 || got[0].Pos.Line != 5 {
		t.Errorf("%+v", got)
	}
}
