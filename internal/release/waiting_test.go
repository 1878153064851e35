package release

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAwait: what the newest release is kept by, and where; nothing where it came, or a newer one went past it; a pause is told whatever came after it.
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
		"aborted":                          {[]OnCluster{{Cluster: "b", Hold: waiting(1, "D", func(h *Hold) { h.Aborted = ann })}}, "aborted by ann@laptop another release hawser apply b"},
		"aborted while paused":             {[]OnCluster{{Cluster: "b", Hold: waiting(1, "D", func(h *Hold) { h.Paused, h.Aborted = ann, ann })}}, "aborted by ann@laptop b"},
		"aborted, and a newer one came":    {[]OnCluster{{Cluster: "a", Record: came(5, "E")}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Aborted = ann })}}, ""},
		"a window":                         {[]OnCluster{{Cluster: "b", Hold: &Hold{Release: 4, Rollout: "D", Closed: "wave 2 (production)", Opens: &noon}}}, "waits for the window of wave 2 (production), which opens Tue 2026-09-01 12:00 UTC hawser apply b"},
		"a window that is paused":          {[]OnCluster{{Cluster: "b", Hold: &Hold{Release: 4, Rollout: "D", Closed: "wave 2", Opens: &noon, Paused: ann}}}, "paused by ann@laptop hawser resume shop b"},
		"approved, and a window":           {[]OnCluster{{Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Approved, h.Closed, h.Opens = ann, "wave 2", &noon })}}, "waits for the window of wave 2 hawser apply b"},
		"resumed":                          {[]OnCluster{{Cluster: "b", Hold: &Hold{Release: 4, Rollout: "D"}}}, ""},
		"it has come":                      {[]OnCluster{{Cluster: "b", Record: came(4, "D"), Hold: waiting(4, "D", approved)}}, ""},
		"a newer one came":                 {[]OnCluster{{Cluster: "a", Record: came(5, "E")}, {Cluster: "b", Record: came(3, "C"), Hold: waiting(4, "D", nil)}}, ""},
		"a newer one came beside a pause":  {[]OnCluster{{Cluster: "a", Record: came(5, "E")}, {Cluster: "b", Record: came(3, "C"), Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "paused by ann@laptop hawser resume shop b"},
		"a newer one waits beside a pause": {[]OnCluster{{Cluster: "a", Hold: waiting(5, "E", nil)}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "paused by ann@laptop hawser resume shop b"},
		"it is not answered":               {[]OnCluster{{Cluster: "a", Unreachable: "timeout"}}, ""},
	} {
		got := ""
		for _, w := range Await("shop", c.on) {
			got += w.String() + " " + strings.Join(w.Clusters, " ")
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

// A window that is closed is noted like an approval that is wanted, and takes no approval away; it is nothing that can be approved.
func TestWaitingForAWindow(t *testing.T) {
	opens, later := noon, noon.Add(24*time.Hour)
	rec := Record{Bundle: "shop", Release: 4, Rollout: "D", SourceDigest: "sha256:D", Started: noon}
	first, err := rec.Waiting("wave 2 (production)", &opens)(nil)
	if err != nil || first == nil || first.Closed != "wave 2 (production)" || first.Wave != "" || !first.Opens.Equal(opens) {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := rec.Waiting("wave 2 (production)", &opens)(first); again != nil || err != nil {
		t.Errorf("it stands there already: %+v, %v", again, err)
	}
	if again, err := rec.Waiting("wave 2 (production)", &later)(first); err != nil || again == nil || !again.Opens.Equal(later) {
		t.Errorf("it opens later: %+v, %v", again, err)
	}
	if _, findings := Say(Approve, "shop", Meant{}, Word{By: "bob"}, []OnCluster{{Cluster: "b", Hold: first}}); !findings.HasErrors() {
		t.Error("a window was approved")
	}
	approved := waiting(4, "D", func(h *Hold) { h.Approved = ann })
	closed, err := rec.Waiting("wave 2 (production)", &opens)(approved)
	if err != nil || closed == nil || closed.Approved != ann || closed.Closed == "" {
		t.Errorf("the approval is lost: %+v, %v", closed, err)
	}
	if open, err := rec.Waiting("wave 2 (production)", nil)(closed); err != nil || open == nil || open.Approved != ann || open.Closed != "" {
		t.Errorf("the window is open: %+v, %v", open, err)
	}
	back := Holds{"b": &Hold{Release: 4, Rollout: "D", SourceDigest: "sha256:A", Closed: "wave 2", Opens: &opens, RollbackTo: &Name{Rollout: "A"}}}
	if _, rollout, _ := back.Continues(Record{Phase: Applying, Rollout: "NEW", SourceDigest: "sha256:A"}, nil, nil, func(string) bool { return true }); rollout != "NEW" {
		t.Error("an apply of the old files goes on with the rollback to them")
	}
}

// TestAwaitTwoWaves: where two waves want approvals, and the release has come to the first one, it is the second that waits.
func TestAwaitTwoWaves(t *testing.T) {
	came := OnCluster{Cluster: "a", Record: &Record{Release: 4, Rollout: "D", Phase: Succeeded}, Hold: waiting(4, "D", func(h *Hold) { h.Wave, h.Approved = "wave 1 (one)", ann })}
	waits := OnCluster{Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Wave = "wave 2 (two)" })}
	for _, on := range [][]OnCluster{{came, waits}, {waits, came}} {
		if w := Await("shop", on); len(w) != 1 || w[0].Wave != "wave 2 (two)" || w[0].Approved != nil || len(w[0].Clusters) != 1 {
			t.Errorf("%+v", w)
		}
	}
}

// TestApproveIsOfOneWave: where two waves wait for approvals of one release, as a cluster of the first was away when that was approved, each cluster is
// told of its own, and what is approved is one of them, on its clusters alone; the other one is a question of its own.
func TestApproveIsOfOneWave(t *testing.T) {
	one := func(h *Hold) { h.Wave = "wave 1 (one)" }
	on := []OnCluster{
		{Cluster: "c1", Record: &Record{Release: 4, Rollout: "D", Phase: Succeeded}, Hold: waiting(4, "D", func(h *Hold) { h.Wave, h.Approved = "wave 1 (one)", ann })},
		{Cluster: "c2", Record: &Record{Release: 3, Rollout: "C", Phase: Succeeded}, Hold: waiting(4, "D", one)},
		{Cluster: "c3", Record: &Record{Release: 3, Rollout: "C", Phase: Succeeded}, Hold: waiting(4, "D", nil)},
		{Cluster: "c4", Record: &Record{Release: 3, Rollout: "C", Phase: Succeeded}, Hold: &Hold{Release: 4, Rollout: "D", Closed: "wave 3", Opens: &noon}},
	}
	shown := func() (out string) {
		for _, w := range Await("shop", on) {
			if w.Next == "" {
				t.Errorf("%+v", w)
			}
			out += strings.Join(w.Clusters, " ") + ": " + strings.SplitN(w.String(), ",", 2)[0] + "; "
		}
		return out
	}
	next := func(want ...string) {
		t.Helper()
		var got []string
		for _, w := range Await("shop", on) {
			got = append(got, w.Next)
		}
		if !slices.Equal(got, want) {
			t.Errorf("next are %q, want %q", got, want)
		}
	}
	approve := func(clusters string) {
		t.Helper()
		said, found := Say(Approve, "shop", Meant{}, Word{By: "bob"}, on)
		if found.HasErrors() || said.For() != clusters {
			t.Fatalf("%v, %q", found, said.For())
		}
		for i, c := range on {
			h, err := said.On(c.Hold)
			if named := slices.ContainsFunc(said.Clusters, func(s SaidOn) bool { return s.Cluster == c.Cluster }); named != (h != nil) {
				t.Errorf("%s: %+v, %v", c.Cluster, h, err)
			}
			if h != nil {
				on[i].Hold = h
			} else if c.Cluster == "c3" && said.Wave != c.Hold.Wave && (err == nil || err.Error() != "wave 2 (production) waits there now") {
				t.Errorf("it came to the other wave meanwhile: %v", err)
			}
		}
	}
	if got := shown(); got != "c2: waits for an approval of wave 1 (one); c3: waits for an approval of wave 2 (production); c4: waits for the window of wave 3; " {
		t.Error(got)
	}
	next("hawser approve shop --wave 1", "hawser approve shop --wave 2", "hawser apply")
	approve("wave 1 (one): c2")
	next("hawser approve shop", "hawser apply", "hawser apply")
	if got := shown(); got != "c3: waits for an approval of wave 2 (production); c2: wave 1 (one) was approved by bob at 0001-01-01T00:00:00Z; it goes on with: hawser apply; c4: waits for the window of wave 3; " {
		t.Error(got)
	}
	approve("wave 2 (production): c3")
	newer := &Record{Release: 5, Rollout: "E", Phase: Succeeded}
	on = []OnCluster{{Cluster: "c2", Record: newer, Hold: waiting(4, "D", one)}, {Cluster: "c3", Hold: waiting(4, "D", nil)}}
	if said, found := Say(Approve, "shop", Meant{Release: "4"}, Word{By: "bob"}, on); found.HasErrors() || said.For() != "wave 2 (production): c3" {
		t.Errorf("a newer one is on a cluster of the first wave: %v, %+v", found, said)
	}
}
