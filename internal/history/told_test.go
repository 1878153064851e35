package history

import (
	"strings"
	"testing"

	"hawser.dev/hawser/internal/release"
)

// TestDecided: an aborted release stays that when newer ones came, also where it came nowhere; what was decided is told with the clusters that keep
// it, and a rollback does not wonder about one that came nowhere.
func TestDecided(t *testing.T) {
	ok := release.Succeeded
	word := func(who, why string) *release.Word { return &release.Word{By: who, At: epoch, Message: why} }
	own := rec(1, 1, ok).Owner
	with := func(c Cluster, hs ...release.Hold) Cluster {
		for _, h := range hs {
			h.Bundle, h.Owner = rec(1, 1, ok).Bundle, own
			c.Held = append(c.Held, h)
		}
		return c
	}
	came := release.Hold{Release: 2, Rollout: rec(2, 2, ok).Rollout, Wave: "wave 2", Approved: word("ann", "a1"), Aborted: word("bob", "corrupts orders")}
	nowhere := release.Hold{Release: 3, Rollout: "X3", Author: "eve", Message: "m", Since: epoch, Aborted: word("bob", "CHG-7")}
	cs := []Cluster{with(keeps("a", rec(3, 4, ok), rec(2, 2, ok), rec(1, 1, ok)), came), with(keeps("b", rec(2, 4, ok), rec(1, 1, ok)), came, nowhere)}
	h := Of(cs)
	h.Await(func(string) string { return own }, cs)
	b := h.Bundles[0]
	var got []string
	for _, r := range b.Releases {
		got = append(got, r.Name()+" "+string(r.State))
	}
	if text := strings.Join(got, ", "); text != "4 (R4) succeeded, 3 (X3) aborted, 2 (R2) aborted, 1 (R1) superseded" {
		t.Fatal(text)
	}
	if r := b.Releases[1]; r.Author != "eve" || r.Message != "m" || r.Reach() != "0/2" || r.Clusters[0].Rollout != "R2" || len(r.Decisions) != 1 {
		t.Errorf("%+v", r)
	}
	if r := b.Releases[2]; len(r.Decisions) != 2 || strings.Join(r.Decisions[0].Clusters, " ") != "a b" || !strings.Contains(r.Decided(), "approved wave 2 by ann") || !strings.Contains(r.Decided(), ": corrupts orders") {
		t.Errorf("%+v", r)
	}
	if back, err := Back(cs, "", ""); err != nil || len(back.Findings.Warnings()) > 1 || strings.Contains(strings.Join(back.Findings.Whats(), ";"), "nobody keeps") {
		t.Errorf("%v, %+v", err, back)
	}
	cs[1].Held = cs[1].Held[:1]
	if back, err := Back(cs, "", ""); err != nil || !strings.Contains(strings.Join(back.Findings.Whats(), ";"), "nobody keeps: 3") {
		t.Errorf("%v, %+v", err, back)
	}
}
