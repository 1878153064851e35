package fleetplan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/lockfile"
	"hawser.dev/hawser/internal/module"
	"hawser.dev/hawser/internal/source"
)

// TestLockReport: what is used is pinned once, with what it was, and what nothing uses any more comes last.
func TestLockReport(t *testing.T) {
	use := func(url, digest string) source.Use {
		return source.Use{Source: source.Source{Kind: "module", Name: url, Ref: module.Reference{URL: url}}, Resolved: module.Resolved{Digest: digest}}
	}
	used := []source.Use{use("oci://c", "3"), use("oci://b", "2"), use("oci://c", "3")}
	r := &LockReport{V: diag.DocumentVersion}
	pins := r.Pin(used, map[string]lockfile.Pin{used[1].Key(): {Digest: "1"}, "aa": {Digest: "a"}})
	r.Drop(map[string]lockfile.Pin{"zz": {Digest: "z"}, "aa": {Digest: "a"}})
	var rows []string
	for _, s := range r.Sources {
		text := s.Digest
		switch {
		case s.Dropped:
			text += " dropped"
		case s.Was != nil:
			text += " was " + s.Was.Digest
		}
		rows = append(rows, text)
	}
	if !slices.Equal(rows, []string{"2 was 1", "3", "a dropped", "z dropped"}) || len(pins) != 2 || pins[used[1].Key()].Digest != "2" {
		t.Errorf("%q %v", rows, pins)
	}
}

// TestOutdatedRow: there is nothing where nothing is known, and a problem is masked.
func TestOutdatedRow(t *testing.T) {
	s := source.Source{Kind: "module", Name: "oci://c", Ref: module.Reference{URL: "oci://c"}, Want: "1.x"}
	hide := func(string) string { return "***" }
	got := Outdated(source.Declared{Source: s}, source.Row{Locked: lockfile.Pin{Digest: "1"}, Newest: module.Resolved{Version: "1.2.0", Digest: "2"}, Verdict: source.Behind}, hide)
	if got.Want != "1.x" || got.Locked == nil || got.Newest == nil || got.Newest.Version != "1.2.0" || got.Overall != nil || got.Problem != "" || strings.Contains(got.Source, "1.x") {
		t.Errorf("%+v", got)
	}
	if got = Outdated(source.Declared{Source: s}, source.Row{Verdict: source.Unknown, Err: errors.New("a secret")}, hide); got.Problem != "***" || got.Locked != nil {
		t.Errorf("%+v", got)
	}
}

// What nothing pins is told so, and files beside the bundle that nothing pins are nothing newer.
func TestNewer(t *testing.T) {
	for verdict, want := range map[source.Verdict][2]bool{source.Current: {}, source.Beyond: {}, source.Unknown: {}, source.Behind: {true, true},
		source.Moved: {true, true}, source.Edited: {true, true}, source.Loose: {true, false}} {
		if got := [2]bool{OutdatedSource{Verdict: verdict}.Newer(), OutdatedSource{Verdict: verdict, Local: true}.Newer()}; got != want {
			t.Errorf("%s: %v, want %v", verdict, got, want)
		}
	}
}

// TestSortItems: by instance, as they came first, and by cluster below.
func TestSortItems(t *testing.T) {
	r := &BuildResult{}
	for _, item := range []string{"eu web", "eu api", "us db", "us api", "us web"} {
		var i BuildItem
		_, _ = fmt.Sscan(item, &i.Cluster, &i.Instance)
		r.Items = append(r.Items, i)
	}
	r.Sort()
	var got []string
	for _, i := range r.Items {
		got = append(got, i.Cluster+" "+i.Instance)
	}
	if !slices.Equal(got, []string{"eu web", "us web", "eu api", "us api", "us db"}) {
		t.Errorf("%q", got)
	}
}

// What is valid is said of the clusters that were asked; where none was, that is said.
func TestValid(t *testing.T) {
	for want, r := range map[string]VetReport{
		"bundle shop is valid; no cluster was asked: --fleet, or --kube-context, says which": {Clusters: make([]ClusterValues, 1)},
		"bundle shop is valid on 1 cluster":                                                  {Clusters: make([]ClusterValues, 1), Asked: 1},
		"bundle shop is valid on 3 clusters":                                                 {Declared: true, Clusters: make([]ClusterValues, 3), Asked: 3},
		"bundle shop is valid on 3 clusters, 2 of which not asked":                           {Declared: true, Clusters: make([]ClusterValues, 3), Asked: 1},
	} {
		if r.Bundle = "shop"; r.Valid() != want {
			t.Errorf("%q, want %q", r.Valid(), want)
		}
	}
}
