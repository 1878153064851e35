package retirement

import (
	"strings"
	"testing"

	"hawser.dev/hawser/api/v1alpha1"
	"hawser.dev/hawser/internal/lineage"
	"hawser.dev/hawser/internal/lockfile"
)

func lock() lockfile.File {
	return lockfile.File{
		Clusters: map[string]map[string]string{"f": {"old": "uid-old", "eu": "uid-eu", "renamed": "uid-same", "now": "uid-same"}},
		Places: map[string]map[string]lockfile.Place{"f": {
			"old":     {Bundles: []string{"shop"}, Context: "old-admin"},
			"nowhere": {Bundles: []string{"shop"}},
			"moved":   {Context: "eu", Kubeconfig: "kube/eu"},
			"file":    {Context: "x", Kubeconfig: "kube/x"},
			"renamed": {Context: "elsewhere"},
		}},
	}
}

func spec() *v1alpha1.FleetSpec {
	return &v1alpha1.FleetSpec{Name: "f", Clusters: []v1alpha1.ClusterSpec{
		{Name: "eu", Kubeconfig: &v1alpha1.KubeconfigAccess{Path: "../kube/eu", Context: "eu", Dir: "/repo/fleets"}},
		{Name: "us", UID: "uid-us"}, {Name: "now", KubeContext: "now"}}}
}

func TestLeftSaysWhatRuns(t *testing.T) {
	for want, bundles := range map[string][]string{"and shop runs there still": {"shop"}, "and api, shop run there still": {"api", "shop"}} {
		file := lockfile.File{Clusters: map[string]map[string]string{"f": {"old": "uid"}}, Places: map[string]map[string]lockfile.Place{"f": {"old": {Bundles: bundles}}}}
		if fs := Left(file, "hawser.lock", "f", nil, nil, []string{"b.yaml"}, []string{"my fleet.yaml"}); len(fs) != 1 || !strings.HasSuffix(fs[0].What, want) ||
			!strings.HasPrefix(fs[0].Fix, "hawser fleet retire old --delete -f b.yaml --fleet 'my fleet.yaml'; ") {
			t.Errorf("%v: %v", bundles, fs)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name    string
		request Request
		fleet   *v1alpha1.FleetSpec
		context string // of what is found
		refused string
	}{
		{name: "reached as it was", request: Request{Cluster: "old"}, context: "old-admin"},
		{name: "a context of the user", request: Request{Cluster: "old", Context: "mine"}, context: "mine"},
		{name: "no access", request: Request{Cluster: "nowhere"}, refused: "is not known"},
		{name: "no access is needed", request: Request{Cluster: "nowhere", Keep: true}},
		{name: "declared", request: Request{Cluster: "eu"}, refused: "still declares the cluster eu"},
		{name: "unknown", request: Request{Cluster: "none"}, refused: "no cluster none is known"},
		{name: "renamed: equal access", request: Request{Cluster: "moved"}, refused: "as eu"},
		{name: "renamed: equal uid", request: Request{Cluster: "renamed"}, refused: "as now"},
		{name: "renamed, to forget", request: Request{Cluster: "renamed", Keep: true}, context: "elsewhere"},
	} {
		got, findings := Find(lock(), "/repo/hawser.lock", spec(), c.request)
		text := ""
		if len(findings) > 0 {
			text = findings[0].What
		}
		if c.refused == "" && (text != "" || got.KubeContext != c.context || got.Name != c.request.Cluster) || !strings.Contains(text, c.refused) {
			t.Errorf("%s: %+v, %q", c.name, got, text)
		}
	}
	if _, findings := Find(lockfile.File{}, "/repo/hawser.lock", spec(), Request{Cluster: "none"}); !strings.Contains(findings[0].Why, "retired with --keep is forgotten") || !strings.HasPrefix(findings[0].Fix, "put none into the fleet again") {
		t.Errorf("no way back: %s", findings[0])
	}
	if _, findings := Find(lockfile.File{}, "", spec(), Request{Cluster: "none"}); !strings.HasPrefix(findings[0].Why, "there is no hawser.lock") {
		t.Errorf("no file: %s", findings[0])
	}
	if _, findings := Find(lock(), "/repo/hawser.lock", spec(), Request{Cluster: "nowher"}); findings[0].Fix != `did you mean "nowhere"?` {
		t.Errorf("misspelt: %s", findings[0])
	}
	if _, findings := Find(lock(), "", nil, Request{Cluster: "old"}); !findings.HasErrors() {
		t.Error("no fleet")
	}
	got, _ := Find(lock(), "/repo/hawser.lock", spec(), Request{Cluster: "file"})
	if k := got.Kubeconfig; k == nil || k.Path != "kube/x" || k.Dir != "/repo" || k.Context != "x" || got.KubeContext != "" {
		t.Errorf("a kubeconfig of its own: %+v", got)
	}
}

// TestTakes: bundles of a fleet of the same name are taken where the lineage, or the place that is told, is ours; the others are
// named.
func TestTakes(t *testing.T) {
	repo := lineage.Source{Repository: "github.com/acme/shop", Path: "deploy"}
	for name, c := range map[string]struct {
		rec  lineage.Record
		run  lineage.Run
		want bool
	}{
		"our lineage, no files named":            {lineage.Record{ID: "1", Source: repo}, lineage.Run{ID: "1"}, true},
		"another lineage, no files named":        {lineage.Record{ID: "2", Source: repo}, lineage.Run{ID: "1"}, false},
		"not delivered by us":                    {lineage.Record{Bundle: "other", ID: "2", Source: repo}, lineage.Run{}, false},
		"delivered by us, of an unknown lineage": {lineage.Record{Bundle: "ours", ID: "2", Source: repo}, lineage.Run{}, true},
		"our place":                              {lineage.Record{ID: "2", Source: repo}, lineage.Run{Source: repo}, true},
		"another place":                          {lineage.Record{ID: "2", Source: repo}, lineage.Run{Source: lineage.Source{Repository: "github.com/acme/other", Path: "deploy"}}, false},
	} {
		if c.rec.Bundle == "" {
			c.rec.Bundle = "b"
		}
		r := Retirement{Fleet: "f", Cluster: "old", Lock: "hawser.lock"}
		if got := r.Takes(c.rec, c.run, []string{"ours"}); got != c.want || (r.Left() == "") != c.want {
			t.Errorf("%s: %v, left %q", name, got, r.Left())
		}
		if !c.want && (len(r.Nobodys()) != 1 || !strings.Contains(r.Ended(false), c.rec.Bundle+" (github.com/acme/shop, directory deploy)")) {
			t.Errorf("%s: %v; %s", name, r.Nobodys(), r.Ended(false))
		}
		r.Known = true
		if len(r.Nobodys()) > 0 {
			t.Errorf("%s: what is known is refused", name)
		}
	}
}
