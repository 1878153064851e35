package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
)

// One mistake is one message, where the cluster's name, an address or its place in the fleet alone differs; the same mistake at
// two places of one cluster is two.
func TestOneMistakeIsOneMessage(t *testing.T) {
	on := func(cluster, what string, line int) diag.Finding {
		f := diag.Errorf("fact", "%s", what)
		f.Cluster, f.Pos = cluster, diag.Pos{File: "fleet.yaml", Line: line}
		return f
	}
	fs := diag.Findings{on("a", "cluster a has no labels.regin", 1), on("b", "cluster b has no labels.regin", 2), on("c", "dial 10.0.0.1:1", 3), on("d", "dial 10.0.0.2:1", 4),
		on("e", "twice", 5), on("e", "twice", 6)}
	if got := merge(fs); len(got) != 4 {
		t.Errorf("%+v", got)
	}
	got := text(t, func(b *bytes.Buffer) error { return Findings(b, fs, Style{Width: 100}) })
	for _, want := range []string{"Error: the cluster has no labels.regin", "2 clusters: a, b", "dial <address>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Clusters that did not answer for one reason are one line, wherever they are, and each other reason keeps its own.
func TestUnreachedAreGrouped(t *testing.T) {
	p := &fleetplan.FleetPlan{}
	for name, why := range map[string]string{"a": "connection refused (https://10.0.0.1:6443)", "b": "connection refused (https://10.0.0.2:6443)", "c": "no answer in time (https://10.0.0.3:6443)"} {
		p.Clusters = append(p.Clusters, &fleetplan.ClusterPlan{Cluster: name, Unreachable: why})
	}
	slices.SortFunc(p.Clusters, func(a, b *fleetplan.ClusterPlan) int { return strings.Compare(a.Cluster, b.Cluster) })
	got := text(t, func(b *bytes.Buffer) error {
		o := newOut(b, Style{Width: 120})
		unreached(o, p)
		return o.Flush()
	})
	for _, want := range []string{"2 clusters: a, b", "connection refused (<address>). Not planned", "1 cluster: c", "no answer in time (https://10.0.0.3:6443). Not planned"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
