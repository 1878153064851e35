package waitlist

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/release/memory"
)

func welcome(*release.Record) diag.Findings { return nil }

// TestRecordsOfOthers: a record that is another cluster's is told in one finding for each reason, and neither used nor waited for.
func TestRecordsOfOthers(t *testing.T) {
	store := memory.New("c")
	for _, bundle := range []string{"own", "shop", "api", "swapped"} {
		owner := object.OwnerID("", "", bundle)
		if _, err := store.Put(t.Context(), release.Record{Bundle: bundle, Owner: owner, Revision: 1, Release: 2, Rollout: "B", Phase: release.Succeeded}, nil, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := store.PutHold(t.Context(), owner, release.Hold{Bundle: bundle, Release: 3, Rollout: "C", SourceDigest: "sha256:C", Author: "ann", Since: time.Now(), Wave: "wave 2 (prod)"}, ""); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(r *release.Record) diag.Findings {
		var fs diag.Findings
		if r.Bundle == "shop" || r.Bundle == "api" {
			fs = append(fs, diag.Finding{Code: "wrong-cluster", Why: "it has another UID"}, diag.Finding{Code: "wrong-cluster", Why: "and its name"})
		}
		if r.Bundle == "swapped" {
			fs = append(fs, diag.Finding{Code: "wrong-cluster", Why: "and its name"})
		}
		return fs
	}
	var l List
	var used []string
	fs, unknown := l.Each(t.Context(), "c", store, "", refuse, func(r release.Record) { used = append(used, r.Bundle) })
	if !strings.Contains(unknown, "is of another cluster") || !slices.Equal(used, []string{"own"}) || len(fs) != 2 {
		t.Fatal(used, unknown, fs)
	}
	var got []string
	for _, f := range fs {
		got = append(got, f.What+": "+f.Why)
		if f.Severity != diag.Error || f.Code != "wrong-cluster" || !strings.Contains(f.Fix, "--accept-cluster c;") {
			t.Errorf("%+v", f)
		}
	}
	slices.Sort(got)
	if got[0] != "what is recorded here of api, shop is of another cluster, and is not shown: it has another UID" ||
		got[1] != "what is recorded here of swapped is of another cluster, and is not shown: and its name" {
		t.Errorf("%q", got)
	}
	if waits := l.Await("", nil, nil); len(waits) != 1 || waits[0].Bundle != "own" {
		t.Errorf("%+v", waits)
	}
}

// TestAwait: of all bundles it is told what is kept from which clusters, also of one that has no record anywhere; one that has come
// is not told.
func TestAwait(t *testing.T) {
	since := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	var l List
	for _, name := range []string{"eu", "us"} {
		store := memory.New(name)
		for _, bundle := range []string{"shop", "new", "done"} {
			owner := object.OwnerID("", "", bundle)
			h := release.Hold{Bundle: bundle, Release: 3, Rollout: "C", SourceDigest: "sha256:C", Author: "ann", Since: since, Wave: "wave 2 (prod)"}
			if bundle == "shop" && name == "us" {
				h.Paused = &release.Word{By: "bob", At: since}
			}
			if _, err := store.PutHold(t.Context(), owner, h, ""); err != nil {
				t.Fatal(err)
			}
			rec := release.Record{Bundle: bundle, Owner: owner, Revision: 1, Release: 2, Rollout: "B", Phase: release.Succeeded}
			switch bundle {
			case "done":
				rec.Release, rec.Rollout = 3, "C"
			case "new":
				continue
			}
			if _, err := store.Put(t.Context(), rec, nil, ""); err != nil {
				t.Fatal(err)
			}
		}
		seen := 0
		if _, unknown := l.Each(t.Context(), name, store, "", welcome, func(release.Record) { seen++ }); unknown != "" || seen != 2 {
			t.Fatal(seen, unknown)
		}
	}
	all := l.Await("", nil, nil)
	if len(all) != 2 || all[0].Bundle != "new" || all[1].Bundle != "shop" {
		t.Fatalf("%+v", all)
	}
	if w := all[0]; len(w.Clusters) != 2 || w.Next != "hawser approve new" || w.Paused != nil {
		t.Errorf("%+v", w)
	}
	if one := l.Await("shop", func() []release.OnCluster { return l.on(object.OwnerID("", "", "shop")) }, func(int) bool { return false }); len(one) != 1 || one[0].Next != all[1].Next {
		t.Errorf("by its name: %+v", one)
	}
	if none := l.Await("done", func() []release.OnCluster { return nil }, nil); len(none) != 0 {
		t.Errorf("%+v", none)
	}
	if w := all[1]; w.Paused == nil || w.Next != "hawser resume shop" || w.Release != 3 {
		t.Errorf("%+v", w)
	}
}

// astray is a store of which something is left.
type astray struct {
	release.Store
	left release.Left
}

func (a astray) Remnants(context.Context, string, []string) (release.Left, error) { return a.left, nil }

// TestElsewhereIsUnknown: of a fleet's bundles those whose records are lost or elsewhere are unknown, each place with all of its bundles
// once; those of other fleets are a warning.
func TestElsewhereIsUnknown(t *testing.T) {
	at := func(id, fleet string) release.Place {
		return release.Place{ID: id, Name: "the directory /" + id, Fleet: fleet}
	}
	store := astray{memory.New("c"), release.Left{Lost: []string{"gone"}, Here: at("here", "shop"), Away: []release.Pointer{{At: at("a", "shop"), Bundle: "one"},
		{At: at("b", "web"), Bundle: "two"}, {At: at("a", "shop"), Bundle: "three"}, {At: at("here", ""), Bundle: "four"}}}}
	var l List
	others, unknown := l.Each(t.Context(), "c", store, "shop", welcome, func(release.Record) {})
	for _, want := range []string{"bundle gone is lost", "bundles one, three are kept in the directory /a, and this run keeps them in the directory /here", "release move BUNDLE --from",
		"bundle four are kept in the directory /here, and what this run finds there is another store, or an empty one"} {
		if !strings.Contains(unknown, want) {
			t.Errorf("without %q: %s", want, unknown)
		}
	}
	if strings.Contains(unknown, "two") || len(others) != 1 || others.HasErrors() || !strings.Contains(others[0].What, "two (fleet web)") {
		t.Errorf("%v, %s", others, unknown)
	}
}
