package report

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/health"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
)

func shopListing() *release.Listing {
	own := func(kind, name string) plan.InventoryEntry {
		return plan.InventoryEntry{Ref: ref(kind, name), Version: "v1", Instance: "api"}
	}
	rec := release.Record{Bundle: "shop", Fleet: "shop", Revision: 44, Release: 42, Phase: release.Succeeded, Started: noon, Finished: noon, Author: "ada", Message: "news",
		Sources: map[string]string{"api": "module oci://registry.example.com/api 1.4.2", "web": "helm podinfo 6.5.0 (https://charts.example.com)"},
		Inputs:  map[string]string{"api": "sha256:77ab03d1c2"}, Origins: map[string]string{"REGION": "eu (env)"},
		Inventory: []plan.InventoryEntry{own("Deployment", "api"), own("Namespace", "shop")}}
	failed := rec
	failed.Phase, failed.Suspended = release.Failed, []string{"web"}
	open := rec
	open.Phase = release.Applying
	return &release.Listing{V: diag.DocumentVersion, Clusters: []release.ClusterListing{
		{Cluster: "staging-eu", Group: "staging", Bundles: []release.BundleListing{rec.List("")}},
		{Cluster: "staging-us", Group: "staging", Bundles: []release.BundleListing{rec.List("")}},
		{Cluster: "production-eu", Group: "production", Bundles: []release.BundleListing{failed.List("")}},
		{Cluster: "production-us", Group: "production", Bundles: []release.BundleListing{open.List("bob@ci since 2026-09-01T12:00:00Z")}},
		{Cluster: "production-ap", Unreachable: "i/o timeout"},
		{Cluster: "edge", Unknown: "the right to list secrets is missing"},
		{Cluster: "new"},
	}}
}

func TestListing(t *testing.T) {
	for _, w := range []int{160, 70} {
		st := Style{Width: w, Unicode: true}
		name := map[int]string{160: "wide", 70: "narrow"}[w]
		golden(t, "listing/"+name+".txt", text(t, func(b *bytes.Buffer) error { return Listing(b, shopListing(), st) }))
	}
	if got := text(t, func(b *bytes.Buffer) error {
		return Listing(b, shopListing(), Style{Width: 70, Unicode: true, Color: true})
	}); strings.Contains(got, `\x1b`) {
		t.Errorf("escape codes as text: %s", got)
	}
	for _, part := range []string{"module", "resources"} {
		l := shopListing()
		if err := l.Find("", "api"); err != nil {
			t.Fatal(err)
		}
		golden(t, "listing/"+part+".txt", text(t, func(b *bytes.Buffer) error { return Inspected(b, l, part, Style{Width: 100}) }))
	}
}

// TestOrdersInNames: whatever stands in a name, a line of ours stays one line, and gives no orders to the terminal.
func TestOrdersInNames(t *testing.T) {
	const order = "web\x1b[2J\x1b]0;t\a\x1b[8m\n::error::boom\u202e\nv: 1\n"
	p := shopPlan()
	p.Bundle, p.Clusters[0].Server = order, order
	for i := range p.Clusters {
		p.Clusters[i].Group = order
	}
	l := shopListing()
	l.Clusters[0].Bundles[0].Instances[0].Instance, l.Clusters[0].Bundles[0].Instances[0].Namespaces = order, []string{order}
	r := &fleetplan.StatusReport{V: diag.DocumentVersion, Clusters: []fleetplan.ClusterStatus{{Cluster: order, Group: order, Bundle: order, Revision: 1, Instances: []fleetplan.InstanceStatus{{Instance: order, State: order}}}}}
	for _, st := range []Style{{}, {Color: true, Unicode: true}, {Width: 60}, {Width: 60, Color: true}} {
		for name, print := range map[string]func(*bytes.Buffer) error{
			"plan": func(b *bytes.Buffer) error { return Plan(b, p, st) }, "listing": func(b *bytes.Buffer) error { return Listing(b, l, st) },
			"status": func(b *bytes.Buffer) error { return Status(b, r, st) },
		} {
			got := text(t, print)
			if strings.ContainsAny(bare(got), "\x1b\a\u202e") || strings.Contains(got, "\x1b[2J") || strings.Contains(got, "\x1b[8m") || strings.Contains(got, "\n::error") || strings.Contains(got, "\nv: 1") {
				t.Errorf("%s, %+v:\n%q", name, st, got)
			}
		}
	}
}

// TestStatusOfWhatMoved: what is another bundle's now is told with where it is, and is nothing that is wrong.
func TestStatusOfWhatMoved(t *testing.T) {
	ref := func(name string) object.Ref { return object.Ref{Kind: "ConfigMap", Namespace: "shop", Name: name} }
	whole := fleetplan.InstanceStatus{Instance: "api", State: fleetplan.StateMoved, Objects: []fleetplan.ObjectStatus{{Object: ref("a"), MovedTo: "new"}}}
	part := fleetplan.InstanceStatus{Instance: "web", State: "ready", Objects: []fleetplan.ObjectStatus{{Object: ref("b"), MovedTo: "new"}, {Object: ref("c"), Status: health.Status{State: health.Ready}}}}
	for _, c := range []struct {
		instances   []fleetplan.InstanceStatus
		has, hasNot []string
	}{
		{[]fleetplan.InstanceStatus{whole}, []string{"1 moved", "moved to new", "0/0"}, []string{"drifted", "shop/a"}},
		{[]fleetplan.InstanceStatus{whole, part}, []string{"1 ready", "1/1", "ConfigMap shop/b: moved to bundle new"}, []string{"drifted", "shop/c"}},
	} {
		for _, width := range []int{60, 120} {
			var b strings.Builder
			r := &fleetplan.StatusReport{Bundle: "old", Clusters: []fleetplan.ClusterStatus{{Cluster: "eu", Bundle: "old", Revision: 2, Release: 2, Phase: release.Succeeded, Instances: c.instances}}}
			if err := Status(&b, r, Style{Width: width}); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.has {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is not in\n%s", want, b.String())
				}
			}
			for _, want := range c.hasNot {
				if strings.Contains(b.String(), want) {
					t.Errorf("%q is in\n%s", want, b.String())
				}
			}
		}
	}
	var b strings.Builder
	l := &release.Listing{Clusters: []release.ClusterListing{{Cluster: "eu", Bundles: []release.BundleListing{{Bundle: "old", MovedTo: []string{"new"}, Instances: []release.InstanceListing{{Instance: "api"}}}}}}}
	if err := Listing(&b, l, Style{Width: 120}); err != nil || !strings.Contains(b.String(), "moved to new") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
