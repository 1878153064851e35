package report

import (
	"bytes"
	"strings"
	"testing"

	"hawser.dev/hawser/internal/fleetplan"
	"hawser.dev/hawser/internal/history"
	"hawser.dev/hawser/internal/release"
)

// TestWaiting: history and status say which release waits, for what, asked for by whom and when, and what to do next; also where the
// bundle never was.
func TestWaiting(t *testing.T) {
	w := &release.Waiting{Release: 42, Rollout: "7K2M3XYZ", Author: "ada@laptop", Since: noon, Wave: "wave 2 (production)", Next: "hawser approve shop", Clusters: []string{"production-eu"}}
	for _, width := range []int{70, 200} {
		first, later := history.Of([]history.Cluster{{Name: "production-eu"}}), history.Of(shopKept()[1:])
		first.Await("shop", w, []history.Cluster{{Name: "production-eu"}})
		later.Await("shop", w, shopKept()[1:])
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
		s := &fleetplan.StatusReport{V: 1, Bundle: "shop", Clusters: []fleetplan.ClusterStatus{{Cluster: "production-eu"}, {Cluster: "staging-eu", Bundle: "shop", Revision: 1, Release: 42, Phase: release.Succeeded}}}
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
