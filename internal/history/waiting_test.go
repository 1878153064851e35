package history

import (
	"testing"
	"time"

	"hawser.dev/hawser/internal/release"
)

// TestSeveralWaits: a release that several waves wait for is told with all of them, each with its clusters; one that waits for one thing is told as
// ever.
func TestSeveralWaits(t *testing.T) {
	since, ann := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC), &release.Word{By: "ann@laptop"}
	waits := func(wave, cluster string, approved *release.Word) *release.Waiting {
		return &release.Waiting{Bundle: "shop", Release: 4, Rollout: "D", Author: "ci", Since: since, Wave: wave, Approved: approved, Next: "hawser approve shop", Clusters: []string{cluster}}
	}
	of := func(all ...*release.Waiting) Release {
		h := Of(nil)
		h.Await(func(string) string { return "o" }, nil, all...)
		if len(h.Bundles) != 1 || len(h.Bundles[0].Releases) != 1 {
			t.Fatalf("%+v", h.Bundles)
		}
		return h.Bundles[0].Releases[0]
	}
	one := of(waits("wave 1 (one)", "a", nil))
	if want := "waits for an approval of wave 1 (one), asked for by ci since 2026-09-01T12:00:00Z: hawser approve shop"; one.Awaits() != want || one.AlsoWaits != nil {
		t.Error(one.Awaits())
	}
	several := of(waits("wave 1 (one)", "a", nil), waits("wave 2 (two)", "b", ann), &release.Waiting{Bundle: "shop", Release: 4, Rollout: "D", Closed: "wave 3", Opens: &since, Next: "hawser apply", Clusters: []string{"c"}})
	want := "a: waits for an approval of wave 1 (one), asked for by ci since 2026-09-01T12:00:00Z: hawser approve shop; " +
		"b: wave 2 (two) was approved by ann@laptop at 0001-01-01T00:00:00Z; it goes on with: hawser approve shop; " +
		"c: waits for the window of wave 3, which opens Tue 2026-09-01 12:00 UTC; it goes on then with: hawser apply"
	if several.Awaits() != want || several.Waits.Wave != "wave 1 (one)" || len(several.AlsoWaits) != 2 {
		t.Errorf("%s\n%+v", several.Awaits(), several)
	}
	if got := (Release{}).Awaits(); got != "" {
		t.Error(got)
	}
}

// TestCameAndWaits: a release that nobody could look at after its soak keeps its approval and is told to go on; it is called what it is, as it came there,
// until somebody gives it up.
func TestCameAndWaits(t *testing.T) {
	rec := release.Record{Bundle: "shop", Owner: "o", Revision: 1, Release: 4, Rollout: "D", Phase: release.Written, Unjudged: true}
	for waits, want := range map[string]State{"a": Written, "b": Waiting} {
		clusters := []Cluster{{Name: "a", Bundles: []Kept{{Records: []release.Record{rec}}}}, {Name: "b"}}
		h := Of(clusters)
		h.Await(func(string) string { return "o" }, clusters, &release.Waiting{Bundle: "shop", Release: 4, Rollout: "D", Wave: "wave 1", Approved: &release.Word{By: "ann"}, Next: "hawser apply", Clusters: []string{waits}})
		if r := h.Bundles[0].Releases[0]; r.State != want || r.Waits == nil {
			t.Errorf("%s waits: %s", waits, r.State)
		}
	}
	for unjudged, want := range map[bool]State{true: Aborted, false: Written} {
		rec.Unjudged = unjudged
		gone := release.Hold{Bundle: "shop", Owner: "o", Release: 4, Rollout: "D", Aborted: &release.Word{By: "ann"}}
		clusters := []Cluster{{Name: "a", Bundles: []Kept{{Records: []release.Record{rec}}}, Held: []release.Hold{gone}}}
		h := Of(clusters)
		h.Await(func(string) string { return "o" }, clusters)
		if r := h.Bundles[0].Releases[0]; r.State != want {
			t.Errorf("given up, unjudged=%t: %s", unjudged, r.State)
		}
	}
}
