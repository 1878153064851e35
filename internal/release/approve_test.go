package release

import (
	"strings"
	"testing"
)

// inWaves are clusters of a fleet of two waves that want approvals, as two is where a release is, and one of a wave that wants none.
func inWaves(one, two OnCluster) []OnCluster {
	one.Cluster, one.Wave, two.Cluster, two.Wave = "c1", "wave 1 (one)", "c2", "wave 2 (two)"
	return []OnCluster{one, two, {Cluster: "c3", Record: &Record{Bundle: "shop", Release: 4, Rollout: "D", Phase: Succeeded}}}
}

// TestApproveNamesItsWave: who is asked approves the wave that waits. Nobody who is not is taken to mean that one where another one is still to be
// approved, or may be: he has to name it, and run again the command that does approves nothing else.
func TestApproveNamesItsWave(t *testing.T) {
	bob, old := Word{By: "bob"}, &Record{Bundle: "shop", Release: 3, Rollout: "C", Phase: Succeeded}
	came := &Record{Bundle: "shop", Release: 4, Rollout: "D", Phase: Succeeded}
	hold := func(wave string, by *Word) *Hold {
		return waiting(4, "D", func(h *Hold) { h.Wave, h.Approved = wave, by })
	}
	one, two := hold("wave 1 (one)", nil), hold("wave 2 (two)", nil)
	done := hold("wave 1 (one)", ann)
	for name, c := range map[string]struct {
		on       []OnCluster
		meant    Meant
		clusters string // clusters it is for, "" for none
		why      string // of the refusal
		fix      string
	}{
		"both wait, asked":                 {inWaves(OnCluster{Hold: one}, OnCluster{Hold: two}), Meant{}, "wave 1 (one): c1", "", ""},
		"both wait":                        {inWaves(OnCluster{Hold: one}, OnCluster{Hold: two}), Meant{Unasked: true}, "", "wave 1 (one), wave 2 (two); the one that waits is wave 1 (one)", "--wave 1"},
		"both wait, the first":             {inWaves(OnCluster{Hold: one}, OnCluster{Hold: two}), Meant{Wave: 1, Unasked: true}, "wave 1 (one): c1", "", ""},
		"both wait, the second":            {inWaves(OnCluster{Hold: one}, OnCluster{Hold: two}), Meant{Wave: 2, Unasked: true}, "wave 2 (two): c2", "", ""},
		"the second will":                  {inWaves(OnCluster{Hold: one}, OnCluster{Record: old}), Meant{Unasked: true}, "", "wave 2 (two)", "--wave 1"},
		"the second may":                   {inWaves(OnCluster{Hold: one}, OnCluster{Unreachable: "timeout"}), Meant{Unasked: true}, "", "wave 2 (two)", "--wave 1"},
		"the second will, of a name":       {inWaves(OnCluster{Hold: one}, OnCluster{Record: old}), Meant{Release: "D", Unasked: true}, "", "wave 2 (two)", "--wave 1"},
		"the first was":                    {inWaves(OnCluster{Record: came, Hold: done}, OnCluster{Hold: two}), Meant{Unasked: true}, "wave 2 (two): c2", "", ""},
		"the first was, and has yet to":    {inWaves(OnCluster{Record: old, Hold: done}, OnCluster{Hold: two}), Meant{Unasked: true}, "wave 2 (two): c2", "", ""},
		"the second does not wait yet":     {inWaves(OnCluster{Hold: one}, OnCluster{Record: old}), Meant{Wave: 2, Unasked: true}, "", "wave 2 waits for no approval", "hawser apply asks for one"},
		"there is no such wave":            {inWaves(OnCluster{Hold: one}, OnCluster{Hold: two}), Meant{Wave: 3}, "", "wave 3 waits for no approval", "hawser apply asks for one"},
		"one of ten":                       {[]OnCluster{{Cluster: "c1", Hold: hold("wave 10", nil)}}, Meant{Wave: 1}, "", "wave 1 waits for no approval", "hawser apply asks for one"},
		"without a name":                   {[]OnCluster{{Cluster: "c1", Hold: hold("wave 10", nil)}}, Meant{Wave: 10}, "wave 10: c1", "", ""},
		"what it is called nobody can say": {[]OnCluster{{Cluster: "c1", Hold: hold("nonsense", nil)}}, Meant{}, "nonsense: c1", "", ""},
		"it was aborted":                   {inWaves(OnCluster{Hold: waiting(4, "D", func(h *Hold) { h.Wave, h.Aborted = "wave 1 (one)", ann })}, OnCluster{Hold: two}), Meant{Wave: 2}, "", "it was aborted by ann@laptop", "apply it again"},
	} {
		said, found := Say(Approve, "shop", c.meant, bob, c.on)
		switch {
		case c.clusters != "" && (found.HasErrors() || said.Already || said.For() != c.clusters):
			t.Errorf("%s: %+v, %v", name, said, found)
		case c.clusters == "" && (said != nil || len(found) != 1 || !strings.Contains(found[0].Why, c.why) || !strings.Contains(found[0].Fix, c.fix)):
			t.Errorf("%s: %+v, %+v", name, said, found)
		}
	}
}

// TestApprovedAlready: who approves a wave again that was approved is told so, by whom, and whether something is left to go on with; nothing is asked, and nothing
// else approved.
func TestApprovedAlready(t *testing.T) {
	came := &Record{Bundle: "shop", Release: 4, Rollout: "D", Phase: Succeeded}
	hold := func(wave string, by *Word) *Hold {
		return waiting(4, "D", func(h *Hold) { h.Wave, h.Approved = wave, by })
	}
	done, two := hold("wave 1 (one)", ann), hold("wave 2 (two)", nil)
	everywhere := "It has come to every cluster that waited for that: hawser status shop shows how it is there."
	for name, c := range map[string]struct {
		on       []OnCluster
		wave     int
		clusters string
		then     string
	}{
		"it has yet to come":          {inWaves(OnCluster{Hold: done}, OnCluster{}), 0, "c1", "go on"},
		"it has yet to come, by name": {inWaves(OnCluster{Hold: done}, OnCluster{}), 1, "c1", "go on"},
		"it came":                     {inWaves(OnCluster{Hold: done, Record: came}, OnCluster{}), 0, "c1", everywhere},
		"the next one waits":          {inWaves(OnCluster{Hold: done, Record: came}, OnCluster{Hold: two}), 1, "c1", everywhere},
		"both were":                   {inWaves(OnCluster{Hold: done, Record: came}, OnCluster{Hold: hold("wave 2 (two)", ann)}), 0, "c2", "go on"},
		"one does not answer":         {inWaves(OnCluster{Hold: done}, OnCluster{Unreachable: "timeout"}), 1, "c1 c2", "go on"},
		"it is paused":                {inWaves(OnCluster{Hold: waiting(4, "D", func(h *Hold) { h.Approved, h.Paused = ann, ann })}, OnCluster{}), 0, "c1", "It is paused by ann@laptop at 2026-09-01T12:00:00Z. hawser resume shop lets it go on."},
	} {
		said, found := Say(Approve, "shop", Meant{Wave: c.wave, Unasked: true}, Word{By: "bob"}, c.on)
		if found.HasErrors() || !said.Already || !said.Word.Is(*ann) || said.Then("go on") != c.then || said.Missed() != strings.Count(c.clusters, " ") {
			t.Errorf("%s: %+v, %v", name, said, found)
			continue
		}
		var names []string
		for _, on := range said.Clusters {
			names = append(names, on.Cluster)
		}
		if got := strings.Join(names, " "); got != c.clusters {
			t.Errorf("%s: on %s, want %s", name, got, c.clusters)
		}
		if err := said.Agreed(nil); err != nil { // nobody is asked
			t.Errorf("%s: %v", name, err)
		}
		if got := said.Summary("approved", "go on"); !strings.HasPrefix(got, "Release 4 of shop: wave ") || !strings.Contains(got, " was approved already by ann@laptop at 2026-09-01T12:00:00Z. ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestAbortOfUnjudged: a release that nobody could look at after its soak keeps its approval, as it is applied again, and so it can be given up.
func TestAbortOfUnjudged(t *testing.T) {
	rec := &Record{Bundle: "shop", Release: 4, Rollout: "D", SourceDigest: "sha256:D", Phase: Written, Unjudged: true}
	on := []OnCluster{{Cluster: "b", Record: rec, Hold: waiting(4, "D", func(h *Hold) { h.Approved = ann })}}
	again := Record{Rollout: "E", Release: 5, SourceDigest: "sha256:D", Bundle: "shop"}
	if (Holds{"b": on[0].Hold}).Approval("b", "wave 2 (production)", rec, again) == nil {
		t.Fatal("its approval is not kept")
	}
	said, found := Say(Abort, "shop", Meant{}, Word{By: "bob"}, on)
	if found.HasErrors() || len(said.Clusters) != 1 {
		t.Fatalf("%+v, %v", said, found)
	}
	h, err := said.On(on[0].Hold)
	if err != nil || h.Aborted == nil || (Holds{"b": h}).Approval("b", "wave 2 (production)", rec, again) != nil {
		t.Errorf("%+v, %v", h, err)
	}
	rec.Unjudged = false // nobody waited, and that was meant
	if said, found := Say(Abort, "shop", Meant{}, Word{By: "bob"}, on); !found.HasErrors() {
		t.Errorf("%+v", said)
	}
}

// TestPausedIsOfTheWaveThatWaits: a release that is paused is told once, with the wave that waits for an approval, whichever cluster comes first; who resumes it is told
// of that wave, and who resumes another one beside it that was given up is not told that it stays paused.
func TestPausedIsOfTheWaveThatWaits(t *testing.T) {
	hold := func(wave string, change func(*Hold)) *Hold {
		return waiting(4, "D", func(h *Hold) { h.Wave, h.Paused = wave, ann; change(h) })
	}
	one := OnCluster{Cluster: "a", Hold: hold("wave 1 (one)", func(h *Hold) { h.Approved = ann })}
	two := OnCluster{Cluster: "b", Hold: hold("wave 2 (two)", func(*Hold) {})}
	for _, on := range [][]OnCluster{{one, two}, {two, one}} {
		if w := Await("shop", on); len(w) != 1 || w[0].Paused == nil || w[0].Wave != "wave 2 (two)" || w[0].Approved != nil || len(w[0].Clusters) != 2 {
			t.Errorf("%+v", w)
		}
		if said, found := Say(Resume, "shop", Meant{}, Word{By: "bob"}, on); found.HasErrors() || said.Then("go on") != "It waits for an approval of wave 2 (two): hawser approve shop" {
			t.Errorf("%+v, %v", said, found)
		}
	}
	gone := OnCluster{Cluster: "c", Hold: waiting(5, "E", func(h *Hold) { h.Paused, h.Aborted = ann, ann })}
	if said, found := Say(Resume, "shop", Meant{Release: "D"}, Word{By: "bob"}, []OnCluster{one, gone}); found.HasErrors() || said.Still != nil {
		t.Errorf("%+v, %v", said, found)
	}
}
