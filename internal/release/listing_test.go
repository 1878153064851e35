package release_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/source"
)

func shop() release.Record {
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	own := func(instance, group, version, kind, namespace, name string) plan.InventoryEntry {
		return plan.InventoryEntry{Ref: object.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, Version: version, Instance: instance}
	}
	hook := own("api", "batch", "v1", "Job", "shop", "migrate")
	hook.Hook = &plan.HookRun{}
	return release.Record{Bundle: "shop", Fleet: "prod", Revision: 4, Phase: release.Failed, Started: at, Finished: at.Add(time.Minute), Author: "ada",
		Sources:   map[string]string{"web": "helm podinfo 6.5.0 (https://charts.example.com)", "api": "module oci://r/api 1.0.0", "empty": "manifests"},
		Inputs:    map[string]string{"api": "sha256:1"},
		Suspended: []string{"web"},
		Inventory: []plan.InventoryEntry{own("api", "apps", "v1", "Deployment", "shop", "api"), hook, own("web", "", "v1", "Service", "web", "w"),
			own("api", "", "v1", "Namespace", "", "shop"), own("web", "", "v1", "ConfigMap", "other", "c"), own("", "", "v1", "Namespace", "", "web")}}
}

// A listing is what the record says: instances with their objects, those of hooks apart, also one without any.
func TestRecordList(t *testing.T) {
	got := shop().List("bob since noon")
	want := []release.InstanceListing{
		{Instance: "api", Namespaces: []string{"shop"}, Source: source.Described{Kind: "module", Name: "oci://r/api", Version: "1.0.0"}, Inputs: "sha256:1", Ended: release.Failed,
			Objects: []release.ListedObject{{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "api"}, {APIVersion: "v1", Kind: "Namespace", Name: "shop"}}},
		{Instance: "empty", Source: source.Described{Kind: "manifests"}, Ended: release.Failed, Objects: []release.ListedObject{}},
		{Instance: "web", Namespaces: []string{"other", "web"}, Suspended: true, Ended: release.Failed,
			Source:  source.Described{Kind: "helm", Name: "podinfo", Version: "6.5.0", Repository: "https://charts.example.com"},
			Objects: []release.ListedObject{{APIVersion: "v1", Kind: "Service", Namespace: "web", Name: "w"}, {APIVersion: "v1", Kind: "ConfigMap", Namespace: "other", Name: "c"}}},
	}
	if d := cmp.Diff(want, got.Instances); d != "" {
		t.Error(d)
	}
	if got.InProgress != "bob since noon" || got.Phase != release.Failed || got.At.Minute() != 1 {
		t.Errorf("%+v", got)
	}
	open := shop()
	open.Finished = time.Time{}
	if got := open.List(""); !got.At.Equal(open.Started) {
		t.Errorf("an open record is dated %v", got.At)
	}
}

func TestListingFind(t *testing.T) {
	listing := func() *release.Listing {
		return &release.Listing{V: 1, Clusters: []release.ClusterListing{{Cluster: "eu", Bundles: []release.BundleListing{shop().List("")}}, {Cluster: "us", Unknown: "forbidden"}}}
	}
	l := listing()
	l.Narrow("web", "")
	if d := cmp.Diff([]string{"web"}, l.Names()); d != "" {
		t.Error(d)
	}
	if l = listing(); l.Find("", "api") != nil || len(l.Clusters) != 2 || len(l.Clusters[0].Bundles[0].Instances) != 1 {
		t.Errorf("%+v", l)
	}
	for _, c := range [][3]string{{"", "apo", "did you mean api?"}, {"web", "api", "namespace web"}, {"", "nothing", "nobody knows of us: forbidden"}} {
		if err := listing().Find(c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%v: %v", c, err)
		}
	}
	l = &release.Listing{Clusters: []release.ClusterListing{{Cluster: "eu", Unreachable: "no answer"}, {Cluster: "us", Unknown: "forbidden"}}}
	if err := l.Find("", "api"); err == nil || !strings.Contains(err.Error(), "is not known") || !strings.Contains(err.Error(), "eu: no answer; of us: forbidden") {
		t.Errorf("%v", err)
	}
}

// TestListedFailure: an instance failed when something of it did; where nobody noted which ones, all of the bundle's did.
func TestListedFailure(t *testing.T) {
	rec := release.Record{Phase: release.Failed, Sources: map[string]string{"api": "x", "db": "x"}, Unfinished: []string{"api"}}
	ended := func(r release.Record) string {
		out := ""
		for _, in := range r.List("").Instances {
			out += in.Instance + " " + string(in.Ended) + "; "
		}
		return out
	}
	for _, c := range []struct {
		change func(*release.Record)
		want   string
	}{
		{func(*release.Record) {}, "api failed; db succeeded; "},
		{func(r *release.Record) { r.Unfinished = nil }, "api failed; db failed; "},
		{func(r *release.Record) { r.Phase = release.Applying }, "api applying; db applying; "},
	} {
		r := rec
		if c.change(&r); ended(r) != c.want {
			t.Errorf("%q, want %q", ended(r), c.want)
		}
	}
	a, b, c := object.Ref{Kind: "A"}, object.Ref{Kind: "B"}, object.Ref{Kind: "C"}
	changes, owned := []plan.Change{{Ref: a, Instance: "one"}, {Ref: c}}, []plan.InventoryEntry{{Ref: b, Instance: "two"}}
	if got := release.InstancesOf([]object.Ref{a, b}, changes, owned, []string{"two"}); !slices.Equal(got, []string{"one", "two"}) {
		t.Error(got)
	}
	if got := release.InstancesOf([]object.Ref{a, c}, changes, owned, nil); got != nil {
		t.Error(got)
	}
}

// Own are the bundles of the run's fleet, or those without one; others are named, and their fleets.
func TestListingOwn(t *testing.T) {
	of := func(bundle, fleet string) release.BundleListing {
		return release.BundleListing{Bundle: bundle, Fleet: fleet}
	}
	l := release.Listing{Clusters: []release.ClusterListing{
		{Bundles: []release.BundleListing{of("web", "shop"), of("alone", ""), of("theirs", "other")}},
		{Bundles: []release.BundleListing{of("web", "other"), of("app", "shop"), of("web", "shop")}}}}
	for fleet, want := range map[string]struct{ own, said string }{
		"shop":  {"app web", "alone (without a fleet), theirs (fleet other)"},
		"other": {"theirs web", "alone (without a fleet), app (fleet shop)"},
		"":      {"alone", "app (fleet shop), theirs (fleet other), web (fleet shop)"},
		"none":  {"", "alone (without a fleet), app (fleet shop), theirs (fleet other), web (fleet shop)"},
	} {
		l.Fleet = fleet
		own, others := l.Own()
		if strings.Join(own, " ") != want.own || len(others) != 1 || !strings.HasSuffix(others[0].What, ": "+want.said) || others.HasErrors() {
			t.Errorf("%q: %v, %+v", fleet, own, others)
		}
	}
	if _, others := (&release.Listing{}).Own(); len(others) > 0 {
		t.Errorf("%+v", others)
	}
}

// Clusters of which nobody knows what they have are named by what looks at all bundles; one that does not answer only where no bundle tells.
func TestOwnNamesTheUnknown(t *testing.T) {
	right := "cluster eu: the right to list secrets in namespace hawser-system is missing; all roles a bundle needs: hawser fleet check"
	l := release.Listing{Clusters: []release.ClusterListing{{Cluster: "eu", Unknown: right}, {Cluster: "us", Unreachable: "i/o timeout"}}}
	names, fs := l.Own()
	if len(names) != 0 || len(fs) != 2 || fs[0].Cluster != "eu" || !strings.HasPrefix(fs[0].Why, "the right to list secrets in namespace hawser-system is missing") ||
		fs[1].Cluster != "us" || !strings.Contains(fs[1].Why, "i/o timeout") {
		t.Errorf("%v %+v", names, fs)
	}
	l.Clusters = append(l.Clusters, release.ClusterListing{Cluster: "a", Bundles: []release.BundleListing{{Bundle: "shop"}}})
	if names, fs = l.Own(); len(names) != 1 || len(fs) != 1 || fs[0].Cluster != "eu" || fs[0].Code != release.CodeBundlesUnknown {
		t.Errorf("%v %+v", names, fs)
	}
}
