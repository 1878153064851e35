package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/release"
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
	if got := fs.Merge(); len(got) != 4 {
		t.Errorf("%+v", got)
	}
	got := text(t, func(b *bytes.Buffer) error { return Findings(b, fs, Style{Width: 100}) })
	for _, want := range []string{"Error: the cluster has no labels.regin", "2 clusters: a, b", "dial 10.0.0.1:1, and 1 more likewise"} {
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
	for _, want := range []string{"2 clusters: a, b", "connection refused (https://10.0.0.1:6443), and 1 more likewise. Not planned", "1 cluster: c", "no answer in time (https://10.0.0.3:6443). Not planned"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Why nothing is known of clusters is one line in status, list, inspect and fleet check, however many clusters it holds for.
func TestReasonsAreToldOnce(t *testing.T) {
	denied := func(cluster string) string {
		return "cluster " + cluster + ": the right to list secrets in namespace hawser-system is missing"
	}
	status, list, check := &fleetplan.StatusReport{Bundle: "shop"}, &release.Listing{}, &fleetplan.FleetReport{}
	for _, name := range []string{"eu-1", "eu-2", "eu-3"} {
		status.Clusters = append(status.Clusters, fleetplan.ClusterStatus{Cluster: name, Unknown: denied(name)})
		list.Clusters = append(list.Clusters, release.ClusterListing{Cluster: name, Unknown: denied(name)})
		check.Clusters = append(check.Clusters, fleetplan.FleetRow{Cluster: name, Problem: denied(name)})
	}
	for _, st := range []Style{{Width: 140}, {Width: 60}} {
		for name, print := range map[string]func(*bytes.Buffer) error{
			"status":  func(b *bytes.Buffer) error { return Status(b, status, st) },
			"list":    func(b *bytes.Buffer) error { return Listing(b, list, st) },
			"inspect": func(b *bytes.Buffer) error { return Inspected(b, list, "module", st) },
			"check":   func(b *bytes.Buffer) error { return FleetCheck(b, check, st) },
		} {
			got := strings.Join(strings.Fields(text(t, print)), " ")
			if strings.Count(got, "is missing") != 1 || strings.Contains(got, "cluster eu-1: the right") || !strings.Contains(got, "3 clusters: eu-1..3") {
				t.Errorf("%s at %d columns:\n%s", name, st.Width, got)
			}
		}
	}
}

// Without a fleet it is said which cluster is meant, and that nothing was delivered where nothing is.
func TestNothingDelivered(t *testing.T) {
	const chosen = "the current context kind (https://127.0.0.1:6443)"
	status := &fleetplan.StatusReport{Clusters: []fleetplan.ClusterStatus{{Cluster: "default", Chosen: chosen}}}
	list := &release.Listing{Clusters: []release.ClusterListing{{Cluster: "default", Chosen: chosen}}}
	if got := text(t, func(b *bytes.Buffer) error { return Status(b, status, wideStyle) }); got != "Bundles on cluster default, "+chosen+": nothing was delivered\n" {
		t.Error(got)
	}
	if got := text(t, func(b *bytes.Buffer) error { return Listing(b, list, wideStyle) }); !strings.Contains(got, "default, "+chosen+": nothing was delivered\n") {
		t.Error(got)
	}
	status.Bundle = "shop"
	if got := text(t, func(b *bytes.Buffer) error { return Status(b, status, wideStyle) }); !strings.Contains(got, "Bundle shop on cluster default, "+chosen+": 1 not installed\n") {
		t.Error(got)
	}
}
