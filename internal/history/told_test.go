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

// TestBackPastAborted: what somebody gave up after its first wave had succeeded is no release to go back to by itself; where there is no other, or
// where it is named, it is said.
func TestBackPastAborted(t *testing.T) {
	const ok, bad = release.Succeeded, release.Failed
	aborted := func(c Cluster, n int) Cluster {
		c.Held = append(c.Held, release.Hold{Bundle: "shop", Owner: rec(1, n, ok).Owner, Release: n, Rollout: rec(1, n, ok).Rollout, Wave: "wave 2",
			Aborted: &release.Word{By: "bob", At: epoch, Message: "corrupts orders"}})
		return c
	}
	three, two := keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(2, 3, ok), rec(1, 1, ok))
	late := keeps("c", rec(2, 3, ok), rec(1, 1, ok))
	beside := aborted(two, 2)
	beside.Beside = true
	back := rec(3, 3, ok)
	back.RollbackTo, back.SourceDigest = &release.Name{Release: 1, Rollout: "R1"}, rec(1, 1, ok).SourceDigest
	const over = "aborted-release@"
	backs(t, map[string]backCase{
		"the one before was aborted after wave 1":        {clusters: []Cluster{three, aborted(two, 2)}, want: "R1 a:R1 b:R1", codes: over},
		"b alone keeps that, and is beside":              {clusters: []Cluster{three, beside}, want: "R1 a:R1 b:-", codes: over},
		"c should know of it, and does not":              {clusters: []Cluster{three, aborted(two, 2), late}, codes: "disputed-release"},
		"c knows of it":                                  {clusters: []Cluster{three, aborted(two, 2), aborted(late, 2)}, want: "R1 a:R1 b:R1 c:R1", codes: over},
		"c came to the fleet later":                      {clusters: []Cluster{three, aborted(two, 2), keeps("c", rec(1, 3, ok))}, want: "R1 a:R1 b:R1 c:-", codes: over + " skipped-release@c"},
		"it had come everywhere: nobody could abort it":  {clusters: []Cluster{aborted(three, 2), keeps("b", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, ok))}, want: "R2 a:R2 b:R2"},
		"whether it came to b is not known":              {clusters: []Cluster{three, aborted(keeps("b", rec(3, 3, ok), rec(1, 1, ok)), 2)}, want: "R2 a:R2 b:-", codes: "not-kept@b"},
		"it is named":                                    {clusters: []Cluster{three, aborted(two, 2)}, to: "2", want: "R2 a:R2 b:R1", codes: over + " skipped-release@b"},
		"there is no other":                              {clusters: []Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), aborted(keeps("b", rec(1, 2, ok)), 1)}, want: "R1 a:R1 b:-", codes: over + " skipped-release@b"},
		"the other one failed":                           {clusters: []Cluster{keeps("a", rec(3, 3, ok), rec(2, 2, ok), rec(1, 1, bad)), aborted(two, 2)}, want: "R2 a:R2 b:R1", codes: over + " skipped-release@b"},
		"the newest was aborted":                         {clusters: []Cluster{aborted(three, 3), two}, want: "R2 a:R2 b:R1", codes: "skipped-release@b"},
		"a rollback that was aborted goes where it went": {clusters: []Cluster{keeps("a", back, rec(2, 2, ok), rec(1, 1, ok)), aborted(keeps("b", rec(2, 2, ok), rec(1, 1, ok)), 3)}, want: "R1 a:R1 b:R1"},
	})
}
