package fleetplan

import (
	"strings"
	"testing"
)

// After a wave went back by itself the same command would bring the same again: the files are changed first.
func TestResumingAfterGoingBack(t *testing.T) {
	rows := []ClusterOutcome{{Cluster: "p1", Wave: 1, Result: Failed}, {Cluster: "p2", Wave: 1, Result: Failed}}
	o := &Outcome{Clusters: rows, WentBack: &WentBack{To: "4 (D)", Clusters: []ClusterOutcome{{Cluster: "p1", Result: Succeeded}}}}
	if got := o.Resuming(false); !strings.Contains(got, "change the files first") || !o.Anew() {
		t.Error(got)
	}
	if o.WentBack.Clusters[0].Result = Failed; strings.Contains(o.Resuming(false), "change the files") || o.Anew() {
		t.Error("none is back")
	}
}
