package history

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/plan"
	"hawser.dev/hawser/internal/release"
	"hawser.dev/hawser/internal/testseed"
)

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// rec is the record of a release on a cluster: its number is that of the rollout, "r7" is number 7, and its files' digest.
func rec(revision, number int, phase release.Phase) release.Record {
	r := release.Record{Bundle: "shop", Owner: "o", Revision: revision, Release: number, Rollout: fmt.Sprint("R", number), Phase: phase,
		SourceDigest: fmt.Sprint("h", number), Started: epoch.Add(time.Duration(number) * time.Hour), Done: plan.Counts{Update: 1}}
	if !phase.Open() {
		r.Finished = r.Started.Add(time.Minute)
	}
	return r
}

// keeps is a cluster with records, newest first.
func keeps(name string, records ...release.Record) Cluster {
	c := Cluster{Name: name}
	if len(records) > 0 {
		c.Bundles = []Kept{{Records: records}}
	}
	return c
}

// said is a history in short: "3 pending a:in b:2 c:-".
func said(h *History) []string {
	var out []string
	for _, r := range h.Bundles[0].Releases {
		line := fmt.Sprintf("%s %s", r.Rollout, r.State)
		for _, c := range r.Clusters {
			where := fmt.Sprint(c.Release)
			switch {
			case c.In:
				where = "in"
			case c.Unchanged:
				where = "same"
			case c.Unknown != "":
				where = "?"
			case c.Release == 0:
				where = cmp.Or(c.Rollout, "-")
			}
			line += " " + c.Cluster + ":" + where
		}
		out = append(out, line)
	}
	return out
}

func TestStates(t *testing.T) {
	const ok, bad = release.Succeeded, release.Failed
	ejecting := rec(2, 2, release.Deleting)
	ejecting.Ejecting = true
	sameFiles := rec(1, 1, ok)
	sameFiles.Learned = "h2"
	for name, c := range map[string]struct {
		clusters []Cluster
		want     []string
	}{
		"one release everywhere": {[]Cluster{keeps("a", rec(1, 1, ok)), keeps("b", rec(1, 1, ok))}, []string{"R1 succeeded a:in b:in"}},
		"the second follows it":  {[]Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok))}, []string{"R2 succeeded a:in", "R1 superseded a:in"}},
		"it goes on later on b": {[]Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), keeps("b", rec(1, 1, ok))},
			[]string{"R2 pending a:in b:1", "R1 succeeded a:in b:in"}},
		"b has the same files": {[]Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), keeps("b", sameFiles)},
			[]string{"R2 succeeded a:in b:same", "R1 superseded a:in b:in"}},
		"it failed on b":                            {[]Cluster{keeps("a", rec(1, 1, ok)), keeps("b", rec(1, 1, bad))}, []string{"R1 partial a:in b:in"}},
		"it failed where it came":                   {[]Cluster{keeps("a", rec(2, 2, bad), rec(1, 1, ok)), keeps("b", rec(1, 1, ok))}, []string{"R2 failed a:in b:1", "R1 succeeded a:in b:in"}},
		"a failure that another followed stays one": {[]Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, bad))}, []string{"R2 succeeded a:in", "R1 failed a:in"}},
		"nobody waited":                             {[]Cluster{keeps("a", rec(1, 1, release.Written)), keeps("b", rec(1, 1, ok))}, []string{"R1 written a:in b:in"}},
		"nobody waited, and another followed":       {[]Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, release.Written))}, []string{"R2 succeeded a:in", "R1 written a:in"}},
		"at work":                                   {[]Cluster{keeps("a", rec(1, 1, release.Applying)), keeps("b", rec(1, 1, ok))}, []string{"R1 applying a:in b:in"}},
		"a delete that ended":                       {[]Cluster{keeps("a", rec(2, 2, release.Deleting), rec(1, 1, ok)), keeps("b")}, []string{"R2 deleting a:in b:-", "R1 superseded a:in b:-"}},
		"an eject that did not end":                 {[]Cluster{keeps("a", ejecting, rec(1, 1, ok)), keeps("b", rec(1, 1, ok))}, []string{"R2 ejecting a:in b:1", "R1 succeeded a:in b:in"}},
		"c did not answer":                          {[]Cluster{keeps("a", rec(1, 1, ok)), {Name: "c", Unreachable: "no route"}}, []string{"R1 succeeded a:in c:?"}},
		"c skipped one":                             {[]Cluster{keeps("a", rec(2, 2, ok), rec(1, 1, ok)), keeps("c", rec(1, 3, ok))}, []string{"R3 pending a:2 c:in", "R2 succeeded a:in c:-", "R1 superseded a:in c:-"}},
		"what it had then is not kept":              {[]Cluster{keeps("a", rec(12, 12, ok), rec(11, 11, ok)), keeps("b", rec(3, 10, ok))}, []string{"R12 pending a:in b:10", "R11 superseded a:in b:10", "R10 succeeded a:? b:in"}},
		"in between were others, of which none is kept": {[]Cluster{keeps("a", rec(9, 9, ok), rec(2, 2, ok)), keeps("b", rec(1, 5, ok))},
			[]string{"R9 pending a:in b:5", "R5 succeeded a:? b:in", "R2 superseded a:in b:-"}},
	} {
		if got := said(Of(c.clusters)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
}

// Releases from before there were numbers stand before those with one, in the order of their time, and are named by rollout.
func TestWithoutNumbers(t *testing.T) {
	old := func(revision int, rollout string, hour int) release.Record {
		r := rec(revision, 0, release.Succeeded)
		r.Rollout, r.Started = rollout, epoch.Add(time.Duration(hour)*time.Hour)
		return r
	}
	h := Of([]Cluster{keeps("a", rec(43, 43, release.Succeeded), old(42, "Y", 2), old(41, "X", 1)), keeps("b", old(7, "Y", 3))})
	if got, want := said(h), []string{"R43 pending a:in b:Y", "Y succeeded a:in b:in", "X superseded a:in b:?"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if st := h.Bundles[0].Releases[0].Clusters[1]; st.Rollout != "Y" || st.Revision != 7 {
		t.Errorf("%+v", st)
	}
	if r, err := h.Find("y"); err != nil || r.Rollout != "Y" || r.Name() != "Y" {
		t.Errorf("%v %v", r, err)
	}
}

// What the current record says of its revision is newer than what is kept of it.
func TestMerge(t *testing.T) {
	learned := rec(3, 3, release.Failed)
	learned.SourceDigest = "h4"
	got := Merge(learned, []release.Record{rec(3, 3, release.Succeeded), rec(1, 1, release.Succeeded), rec(2, 2, release.Succeeded)})
	if len(got) != 3 || got[0].Phase != release.Failed || got[1].Revision != 2 || got[2].Revision != 1 || got[0].SourceDigest != "h3" || got[0].Learned != "h4" {
		t.Errorf("%+v", got)
	}
	learned.SourceDigest, learned.Learned = "h3", "h5"
	if got := Merge(learned, []release.Record{rec(3, 3, release.Succeeded)}); got[0].SourceDigest != "h3" || got[0].Learned != "h5" {
		t.Errorf("%+v", got)
	}
}

func TestFind(t *testing.T) {
	twice := rec(1, 2, release.Succeeded)
	twice.Rollout = "OTHER"
	clusters := []Cluster{keeps("a", rec(2, 2, release.Succeeded), rec(1, 1, release.Succeeded)), keeps("b", twice), {Name: "c", Unreachable: "no route"}}
	for name, want := range map[string]string{"1": "R1", "r2": "R2", "OTHER": "OTHER", "2": "which-release R2 OTHER", "9": "releases-unknown c: no route", "x": "releases-unknown", "0": "releases-unknown"} {
		r, err := Of(clusters).Find(name)
		if err == nil {
			if r.Rollout != want {
				t.Errorf("%s: %s, want %s", name, r.Rollout, want)
			}
			continue
		}
		f := finding(t, err)
		for _, word := range strings.Split(want, " ") {
			if !strings.Contains(f.Code+f.What+f.Why+f.Fix, word) {
				t.Errorf("%s: %+v, want %s", name, f, want)
			}
		}
	}
}

func finding(t *testing.T, err error) diag.Finding {
	t.Helper()
	var fe *diag.FindingsError
	if !errors.As(err, &fe) || len(fe.Findings) != 1 {
		t.Fatalf("%v", err)
	}
	return fe.Findings[0]
}

func TestChoose(t *testing.T) {
	two := keeps("a", rec(1, 1, release.Succeeded))
	other := rec(1, 1, release.Succeeded)
	other.Bundle, other.Owner = "base", "p"
	two.Bundles = append(two.Bundles, Kept{Records: []release.Record{other}})
	for name, want := range map[string]string{"shop": "", "": "which-bundle", "shpo": "not-installed"} {
		h := Of([]Cluster{two})
		err := h.Choose(name)
		if want == "" {
			if err != nil || len(h.Bundles) != 1 || h.Bundles[0].Bundle != "shop" {
				t.Errorf("%s: %v %+v", name, err, h.Bundles)
			}
			continue
		}
		if f := finding(t, err); f.Code != want || name != "" && !strings.Contains(f.Fix, "did you mean shop?") {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := finding(t, Of([]Cluster{two, {Name: "c", Unreachable: "no route"}}).Choose("shpo")); f.Code != CodeUnknown || !strings.Contains(f.Fix, "did you mean shop?") {
		t.Errorf("nobody knows, and nearly one: %+v", f)
	}
	if err := Of([]Cluster{two}).Only("base", "1", nil); err != nil {
		t.Error(err)
	}
	none := Of([]Cluster{keeps("a")})
	if f := finding(t, none.Verdict("shop")); f.Code != "not-installed" || len(none.Findings) != 1 || none.Verdict("") == nil || Of([]Cluster{two}).Verdict("shop") != nil {
		t.Errorf("%+v", f)
	}
	if err := Of([]Cluster{{Name: "c", Unreachable: "no route"}}).Verdict("shop"); err != nil {
		t.Errorf("nobody knows: %v", err)
	}
	if f := finding(t, Of([]Cluster{{Name: "c", Unknown: "no right"}}).Choose("")); f.Code != CodeUnknown || !strings.Contains(f.Why, "c: no right") {
		t.Errorf("%+v", f)
	}
}

// TestStandingIsNeverWrong plays releases over a fleet, each on some clusters and with some end, and lets the clusters keep
// only some of the records: then a standing is what it is with all of them, or it is not known.
func TestStandingIsNeverWrong(t *testing.T) {
	phases := []release.Phase{release.Succeeded, release.Succeeded, release.Failed, release.Written}
	first := testseed.From(t)
	for seed := first; seed < first+300; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 1))
		full := make([][]release.Record, 3)
		for number := 1; number <= 15; number++ {
			for c := range full {
				if rnd.IntN(3) > 0 {
					full[c] = append([]release.Record{rec(len(full[c])+1, number, phases[rnd.IntN(len(phases))])}, full[c]...)
				}
			}
		}
		var whole, some []Cluster
		for c, records := range full {
			name := fmt.Sprint("c", c)
			whole = append(whole, keeps(name, records...))
			var left []release.Record
			if len(records) > 0 {
				left, _ = release.Retain(records[1:], records[0], 1+rnd.IntN(4), func(r release.Record) (int, release.Phase) { return r.Revision, r.Phase })
			}
			some = append(some, keeps(name, left...))
		}
		truth, told := Of(whole), Of(some)
		for _, r := range told.Bundles[0].Releases {
			all, err := truth.Find(r.Rollout)
			if err != nil {
				t.Fatal(err)
			}
			for i, st := range r.Clusters {
				want := all.Clusters[i]
				if st.Unknown == "" && (st.Release != want.Release || st.Revision != want.Revision || st.In != want.In || st.Phase != want.Phase) {
					t.Fatalf("seed %d: %s in %s: %+v, it was %+v", seed, st.Cluster, r.Rollout, st, want)
				}
				newest := 0
				for _, x := range full[i] {
					if x.Release <= r.Release {
						newest = max(newest, x.Release)
					}
				}
				if want.Unknown != "" || want.Release != newest {
					t.Fatalf("seed %d: %s in %s stands at %+v, want %d", seed, st.Cluster, r.Rollout, want, newest)
				}
			}
		}
	}
}

// A number that one cluster says, damaged or made up, is neither the release's nor the newest of the fleet, and is said.
func TestMisnumbered(t *testing.T) {
	lying := func(number int, rollout string) release.Record {
		r := rec(3, 3, release.Succeeded)
		r.Release, r.Rollout = number, rollout
		return r
	}
	for name, c := range map[string]struct {
		evil          []release.Record
		numbers, said string
		before        string
	}{
		"of a release that others have":  {[]release.Record{lying(release.MaxNumber, "R3"), rec(2, 2, release.Succeeded)}, "[3 2]", "says release 1073741824, and others say 3", "R2"},
		"less than others say":           {[]release.Record{lying(1, "R3"), rec(2, 2, release.Succeeded)}, "[3 2]", "says release 1, and others say 3", "R2"},
		"of a release of its own":        {[]release.Record{lying(release.MaxNumber, "X")}, "[3 2 0]", "says release 1073741824, which is none of the others' numbers", "R2"},
		"a release of its own, and near": {[]release.Record{lying(40, "X")}, "[40 3 2]", "", "R3"},
	} {
		h := Of([]Cluster{keeps("a", rec(3, 3, release.Succeeded), rec(2, 2, release.Succeeded)), keeps("evil", c.evil...), keeps("b", rec(3, 3, release.Succeeded), rec(2, 2, release.Succeeded))})
		var numbers []int
		for _, r := range h.Bundles[0].Releases {
			numbers = append(numbers, r.Release)
		}
		var unknown []string
		for _, u := range h.Unknown {
			unknown = append(unknown, u.Cluster+" "+u.Why)
		}
		text := strings.Join(unknown, "; ")
		if fmt.Sprint(numbers) != c.numbers || c.said == "" != (text == "") || c.said != "" && (len(unknown) != 1 || !strings.HasPrefix(text, "evil ") || !strings.Contains(text, c.said)) {
			t.Errorf("%s: %v, %q", name, numbers, text)
		}
		if back := h.before(); back == nil || back.Rollout != c.before {
			t.Errorf("%s: before is %+v", name, back)
		}
	}
}

// The files of a release are those that it was made of, whatever its record has learned since.
func TestHeads(t *testing.T) {
	learned, before := rec(2, 2, release.Succeeded), rec(2, 2, release.Succeeded)
	learned.Learned, before.SourceDigest = "h3", "h3" // before: earlier versions put it there
	b := keeps("b", learned)
	back := rec(3, 4, release.Succeeded)
	back.SourceDigest, back.RollbackTo = "h2", &release.Name{Release: 2, Rollout: "R2"}
	for name, c := range map[string]struct {
		clusters []Cluster
		want     string
	}{
		"learned": {[]Cluster{b}, "R2 succeeded h2"},
		"learned in its place, and kept as it was": {[]Cluster{keeps("a", Merge(before, []release.Record{rec(2, 2, release.Succeeded)})...)}, "R2 succeeded h2"},
		"learned in its place, and known of others": {[]Cluster{keeps("a", before), keeps("c", rec(3, 5, release.Succeeded), rec(2, 2, release.Succeeded))},
			"R5 pending h5, R2 succeeded h2"},
		"learned in its place, and said by another":     {[]Cluster{keeps("a", before), b}, "R2 succeeded h2"},
		"learned in its place, and nobody knows better": {[]Cluster{keeps("a", before)}, "R2 succeeded h3"},
		"a rollback learns nothing":                     {[]Cluster{keeps("a", back, rec(2, 3, release.Succeeded)), keeps("b", rec(1, 2, release.Succeeded))}, "R4 succeeded h2, R3 superseded h3, R2 succeeded h2"},
	} {
		var got []string
		for _, r := range Of(c.clusters).Bundles[0].Releases {
			got = append(got, fmt.Sprintf("%s %s %s", r.Rollout, r.State, r.SourceDigest))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
	if reach := Of([]Cluster{keeps("a", rec(3, 3, release.Succeeded)), b}).Bundles[0].Releases[0].Reach(); reach != "2/2" {
		t.Error(reach)
	}
	f := finding(t, Of([]Cluster{keeps("a", rec(2, 9, release.Succeeded))}).missing("2"))
	if !strings.Contains(f.Why, "revision 2 of cluster a is release 9 (R9)") {
		t.Errorf("%+v", f)
	}
}
