package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/release"
)

func owner(bundle string) string { return "owner of " + bundle }

// TestWaiting: history and status say which release waits, for what, asked for by whom and when, and what to do next; also where the
// bundle never was.
func TestWaiting(t *testing.T) {
	w := &release.Waiting{Bundle: "shop", Release: 42, Rollout: "7K2M3XYZ", Author: "ada@laptop", Since: noon, Wave: "wave 2 (production)", Next: "hawser approve shop", Clusters: []string{"production-eu"}}
	for _, width := range []int{70, 200} {
		first, later := history.Of([]history.Cluster{{Name: "production-eu"}}), history.Of(shopKept()[1:])
		first.Await(owner, []history.Cluster{{Name: "production-eu"}}, w)
		later.Await(owner, shopKept()[1:], w)
		for _, h := range []*history.History{first, later} {
			var out bytes.Buffer
			if err := History(&out, h, Style{Width: width}); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(out.String()), " ")
			if strings.Count(text, "7K2M3XYZ waiting "+noon.Format("2006-01-02")) != 1 && width > 100 || !strings.Contains(text, "waits for an approval of wave 2 (production), asked for by ada@laptop since "+noon.Format("2006-01-02")) || !strings.Contains(text, ": hawser approve shop") {
				t.Errorf("%s", out.String())
			}
		}
		s := &fleetplan.StatusReport{V: diag.DocumentVersion, Bundle: "shop", Clusters: []fleetplan.ClusterStatus{{Cluster: "production-eu"}, {Cluster: "staging-eu", Bundle: "shop", Revision: 1, Release: 42, Phase: release.Succeeded}}}
		s.Await(w)
		if err := s.Verdict(); err != fleetplan.ErrNotReady {
			t.Errorf("the bundle is not everywhere: %v", err)
		}
		var out bytes.Buffer
		if err := Status(&out, s, Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		if !strings.Contains(text, "1 ready, 1 waiting") || strings.Count(text, "release 42 waits for an approval of wave 2 (production), asked for by ada@laptop since ") != 1 {
			t.Errorf("%s", out.String())
		}
	}
}

// TestWaitingOfAll: a look at all bundles tells of each what is kept from which clusters; one that never came to a cluster has a row there.
func TestWaitingOfAll(t *testing.T) {
	shop := &release.Waiting{Bundle: "shop", Release: 42, Rollout: "7K2M3XYZ", Author: "ada@laptop", Since: noon, Wave: "wave 2 (production)", Next: "hawser approve shop", Clusters: []string{"eu", "us"}}
	api := &release.Waiting{Bundle: "api", Release: 7, Rollout: "ABCDEFGH", Since: noon, Paused: &release.Word{By: "bob@ci", At: noon}, Next: "hawser resume api", Clusters: []string{"eu"}}
	ready := fleetplan.ClusterStatus{Cluster: "eu", Bundle: "api", Revision: 1, Release: 6, Phase: release.Succeeded}
	for _, width := range []int{70, 200} {
		s := &fleetplan.StatusReport{V: diag.DocumentVersion, Clusters: []fleetplan.ClusterStatus{ready, {Cluster: "us"}, {Cluster: "ap", Unreachable: "timeout"}}}
		s.Await(api, shop)
		got := strings.Join(strings.Fields(text(t, func(b *bytes.Buffer) error { return Status(b, s, Style{Width: width}) })), " ")
		if !strings.Contains(got, "Bundles on 3 clusters: 1 ready, 2 waiting, 1 not reached") || strings.Count(got, "release 42 waits for an approval of wave 2") != 2 || strings.Count(got, "release 7 paused by bob@ci at") != 1 {
			t.Errorf("%s", got)
		}
	}
	h := history.Of([]history.Cluster{{Name: "eu"}, {Name: "us"}})
	h.Await(owner, []history.Cluster{{Name: "eu"}, {Name: "us"}}, shop, api)
	if len(h.Bundles) != 2 || h.Bundles[0].Bundle != "api" || h.Bundles[0].Releases[0].Waits != api || h.Bundles[1].Owner != "owner of shop" || h.Bundles[1].Releases[0].State != history.Waiting {
		t.Errorf("%+v", h.Bundles)
	}
}

// TestSaidNowhere: what could be written on no cluster is not told as said, and nothing goes on with it.
func TestSaidNowhere(t *testing.T) {
	s := &release.Saying{Release: 27, Bundle: "shop", Clusters: []release.SaidOn{{Cluster: "a", Problem: "forbidden"}, {Cluster: "b", Unreachable: "timeout"}}}
	for want, done := range map[string]bool{"Release 27 of shop is approved on no cluster.\n": false, "Release 27 of shop is approved on 1 cluster. Run it again.\n": true} {
		s.Clusters[0].Done = done
		if got := text(t, func(b *bytes.Buffer) error { return Said(b, s, "approved", "Run it again.", wideStyle) }); !strings.HasSuffix(got, want) {
			t.Error(got)
		}
	}
}

// TestKeptEverywhere: history, status, list and the outcome call a release that was aborted, or that waits for a window, the same.
func TestKeptEverywhere(t *testing.T) {
	opens, bob := noon, &release.Word{By: "bob@ci", At: noon, Message: "broken"}
	for name, c := range map[string]struct {
		waits   release.Waiting
		state   history.State
		outcome fleetplan.Outcome
		says    string
		last    []string // of the run
	}{
		"aborted": {release.Waiting{Aborted: bob, Next: "hawser apply"}, history.Aborted, fleetplan.Outcome{Result: fleetplan.Aborted, Word: "aborted"},
			"aborted by bob@ci at 2026-", []string{"Aborted: rollout 7K2M3XYZ stopped in wave 2: ", "is another release: this one was aborted"}},
		"a window": {release.Waiting{Closed: "wave 2 (production)", Opens: &opens, Next: "hawser apply"}, history.Waiting, fleetplan.Outcome{Result: fleetplan.Waiting, Opens: &opens},
			"waits for the window of wave 2 (production), which opens ", []string{"Waiting: rollout 7K2M3XYZ ended before wave 2: ", "resumes from "}},
		"paused": {release.Waiting{Paused: bob, Next: "hawser resume shop"}, history.Waiting, fleetplan.Outcome{Result: fleetplan.Waiting, Word: "paused"},
			"paused by bob@ci at 2026-", []string{"Waiting: rollout 7K2M3XYZ stopped in wave 2: ", "hawser resume shop --fleet f.yaml", "resumes after that"}},
	} {
		w := c.waits
		w.Bundle, w.Release, w.Rollout, w.Since, w.Clusters = "shop", 42, "7K2M3XYZ", noon, []string{"production-eu"}
		h := history.Of(shopKept()[1:])
		h.Await(owner, shopKept()[1:], &w)
		if got := h.Bundles[0].Releases[0]; got.State != c.state || got.Rollout != w.Rollout {
			t.Errorf("%s: history has %s as %s", name, got.Rollout, got.State)
		}
		s := &fleetplan.StatusReport{V: diag.DocumentVersion, Bundle: "shop", Clusters: []fleetplan.ClusterStatus{{Cluster: "production-eu", Bundle: "shop", Revision: 1, Release: 41, Phase: release.Succeeded, NotStarted: true}}}
		s.Await(&w)
		l := &release.Listing{V: diag.DocumentVersion, Clusters: []release.ClusterListing{{Cluster: "production-eu", Bundles: []release.BundleListing{{Bundle: "shop", Release: 41, Phase: release.Succeeded, Instances: []release.InstanceListing{{Instance: "api", Ended: release.Succeeded}}}}}}}
		l.Await(&w)
		for what, print := range map[string]func(*bytes.Buffer) error{
			"history": func(b *bytes.Buffer) error { return History(b, h, wideStyle) },
			"show":    func(b *bytes.Buffer) error { return Shown(b, h, wideStyle) },
			"status":  func(b *bytes.Buffer) error { return Status(b, s, wideStyle) },
			"narrow":  func(b *bytes.Buffer) error { return Status(b, s, Style{Width: 80}) },
			"list":    func(b *bytes.Buffer) error { return Listing(b, l, wideStyle) },
		} {
			if got := strings.Join(strings.Fields(text(t, print)), " "); !strings.Contains(got, c.says) || strings.Contains(got, "stopped before it came here") {
				t.Errorf("%s: %s says %s", name, what, got)
			}
		}
		o := c.outcome
		o.V, o.Verb, o.Bundle, o.Rollout, o.StoppedWave, o.Stopped = diag.DocumentVersion, "apply", "shop", "7K2M3XYZ", 2, "so"
		o.Clusters = []fleetplan.ClusterOutcome{{Cluster: "staging-eu", Wave: 1, Result: fleetplan.Succeeded}, {Cluster: "production-eu", Wave: 2, Result: fleetplan.NotStarted}}
		got := text(t, func(b *bytes.Buffer) error {
			return OutcomeVerdict(b, &o, Hints{Resume: "hawser apply -f shop.yaml --fleet f.yaml", Access: "--fleet f.yaml"}, wideStyle)
		})
		for _, want := range c.last {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the run ends with %s", name, got)
			}
		}
	}
}

// TestStillPausedSaid: who resumes one of two paused releases is not told that the command goes on now.
func TestStillPausedSaid(t *testing.T) {
	s := &release.Saying{Release: 4, Bundle: "shop", Clusters: []release.SaidOn{{Cluster: "a", Done: true}},
		Still: &release.Waiting{Release: 5, Rollout: "E", Paused: &release.Word{By: "ann@laptop", At: noon}, Next: "hawser resume shop"}}
	want := "Release 4 of shop is resumed on 1 cluster. Release 5 (E) stays paused by ann@laptop at " + noon.Format(time.RFC3339) + "; it goes on after: hawser resume shop"
	if got := text(t, func(b *bytes.Buffer) error { return Said(b, s, "resumed", "Run it again.", wideStyle) }); strings.Join(strings.Fields(got), " ") != want {
		t.Error(got)
	}
}
