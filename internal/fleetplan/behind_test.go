package fleetplan

import "testing"

// TestBehind: a cluster is behind the newest release of its bundle that another one of the report has, unless the files of that changed
// nothing on it; what nobody knows is behind nobody.
func TestBehind(t *testing.T) {
	s := StatusReport{Clusters: []ClusterStatus{
		{Cluster: "us", Bundle: "shop", Release: 44, SourceDigest: "d"}, {Cluster: "eu", Bundle: "shop", Release: 42, SourceDigest: "b"},
		{Cluster: "ap", Bundle: "shop", Release: 43, SourceDigest: "c"}, {Cluster: "same", Bundle: "shop", Release: 41, SourceDigest: "d"},
		{Cluster: "old", Bundle: "shop", SourceDigest: "x"}, {Cluster: "down", Unreachable: "no route"}, {Cluster: "none"},
		{Cluster: "eu", Bundle: "base", Release: 3, SourceDigest: "b"},
	}}
	s.MarkSkipped()
	for i, want := range []string{"", "2 releases behind us", "1 release behind us", "", "", "", "", ""} {
		if got := s.Clusters[i].Lag(); got != want {
			t.Errorf("%s: %q, want %q", s.Clusters[i].Cluster, got, want)
		}
	}
}
