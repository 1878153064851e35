package release

import (
	"strings"
	"testing"
)

// TestAwait: what the newest release is kept by, and where; nothing where it came, was aborted, or a newer one went past it; a pause is told whatever came after it.
func TestAwait(t *testing.T) {
	ann := &Word{By: "ann@laptop", At: noon}
	came := func(release int, rollout string) *Record {
		return &Record{Bundle: "shop", Release: release, Rollout: rollout, Phase: Succeeded, Started: noon}
	}
	approved := func(h *Hold) { h.Approved = ann }
	for name, c := range map[string]struct {
		on   []OnCluster
		want string // text and clusters
	}{
		"nothing is held":                  {[]OnCluster{{Cluster: "a", Record: came(3, "C")}}, ""},
		"it waits":                         {[]OnCluster{{Cluster: "a", Record: came(4, "D")}, {Cluster: "b", Record: came(3, "C"), Hold: waiting(4, "D", nil)}}, "asked for by somebody since 2026 : hawser approve shop b"},
		"a first one":                      {[]OnCluster{{Cluster: "b", Hold: waiting(1, "D", nil)}, {Cluster: "c", Hold: waiting(1, "D", nil)}}, "waits for an approval of wave 2 (production) hawser approve shop b c"},
		"approved":                         {[]OnCluster{{Cluster: "b", Hold: waiting(1, "D", approved)}}, "was approved by ann@laptop hawser apply b"},
		"approved on one alone":            {[]OnCluster{{Cluster: "b", Hold: waiting(1, "D", approved)}, {Cluster: "c", Hold: waiting(1, "D", nil)}}, "hawser approve shop b c"},
		"paused":                           {[]OnCluster{{Cluster: "b", Hold: waiting(1, "D", func(h *Hold) { h.Paused = ann })}}, "paused by ann@laptop hawser resume shop b"},
		"aborted":                          {[]OnCluster{{Cluster: "b", Hold: waiting(1, "D", func(h *Hold) { h.Aborted = ann })}}, ""},
		"resumed":                          {[]OnCluster{{Cluster: "b", Hold: &Hold{Release: 4, Rollout: "D"}}}, ""},
		"it has come":                      {[]OnCluster{{Cluster: "b", Record: came(4, "D"), Hold: waiting(4, "D", approved)}}, ""},
		"a newer one came":                 {[]OnCluster{{Cluster: "a", Record: came(5, "E")}, {Cluster: "b", Record: came(3, "C"), Hold: waiting(4, "D", nil)}}, ""},
		"a newer one came beside a pause":  {[]OnCluster{{Cluster: "a", Record: came(5, "E")}, {Cluster: "b", Record: came(3, "C"), Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "paused by ann@laptop hawser resume shop b"},
		"a newer one waits beside a pause": {[]OnCluster{{Cluster: "a", Hold: waiting(5, "E", nil)}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "paused by ann@laptop hawser resume shop b"},
		"it is not answered":               {[]OnCluster{{Cluster: "a", Unreachable: "timeout"}}, ""},
	} {
		w := Await("shop", c.on)
		got := w.String()
		if w != nil {
			got += " " + strings.Join(w.Clusters, " ")
		}
		for _, want := range strings.Fields(c.want) {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
		if c.want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
