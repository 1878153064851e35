package release

import (
	"errors"
	"strings"
	"testing"
	"time"

	"hawser.dev/hawser/internal/diag"
	"hawser.dev/hawser/internal/object"
)

var (
	noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	ann  = &Word{By: "ann@laptop", At: noon}
)

// waiting is a hold of a release that waits for an approval.
func waiting(release int, rollout string, change func(*Hold)) *Hold {
	h := &Hold{Bundle: "shop", Release: release, Rollout: rollout, SourceDigest: "sha256:" + rollout, Wave: "wave 2 (production)", Since: noon}
	if change != nil {
		change(h)
	}
	return h
}

// What is said is about the newest release, on the clusters that it has not come to, and is refused with who said what before.
func TestSay(t *testing.T) {
	done := &Record{Bundle: "shop", Release: 4, Rollout: "D", SourceDigest: "sha256:D", Phase: Succeeded}
	old := &Record{Bundle: "shop", Release: 3, Rollout: "C", Phase: Succeeded}
	for _, c := range []struct {
		name, verb, meant string
		on                []OnCluster
		rollout           string
		clusters          string
		code, why         string
	}{
		{"nothing anywhere", Approve, "", []OnCluster{{Cluster: "a"}}, "", "", "no-release", "nothing to approve"},
		{"it waits on two", Approve, "", []OnCluster{{Cluster: "a", Record: done}, {Cluster: "b", Hold: waiting(4, "D", nil)}, {Cluster: "c", Record: old, Hold: waiting(4, "D", nil)}}, "D", "b c", "", ""},
		{"one of two is approved", Approve, "", []OnCluster{{Cluster: "b", Hold: waiting(4, "D", nil)}, {Cluster: "c", Hold: waiting(4, "D", func(h *Hold) { h.Approved = ann })}}, "D", "b", "", ""},
		{"a newer one is there", Approve, "", []OnCluster{{Cluster: "a", Record: done}, {Cluster: "b", Hold: waiting(3, "C", nil)}}, "", "", "nothing-to-approve", "waits for no approval"},
		{"it was aborted", Approve, "4", []OnCluster{{Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Aborted = ann })}}, "", "", "nothing-to-approve", "aborted by ann@laptop"},
		{"aborted on one cluster", Approve, "", []OnCluster{{Cluster: "a", Hold: waiting(4, "D", nil)}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Aborted = ann })}}, "", "", "nothing-to-approve", "aborted by ann@laptop"},
		{"by its rollout", Approve, "D", []OnCluster{{Cluster: "b", Hold: waiting(4, "D", nil)}}, "D", "b", "", ""},
		{"no such one", Approve, "9", []OnCluster{{Cluster: "b", Hold: waiting(4, "D", nil)}}, "", "", "no-such-release", "the newest is 4 (D)"},
		{"one does not answer", Approve, "", []OnCluster{{Cluster: "a", Unreachable: "timeout"}, {Cluster: "b", Hold: waiting(4, "D", nil)}}, "D", "a b", "", ""},
		{"nobody answers", Approve, "", []OnCluster{{Cluster: "a", Unreachable: "timeout"}}, "", "", "no-release", "cluster a does not answer: timeout"},
		{"who was asked", Approve, "", []OnCluster{{Cluster: "a"}, {Cluster: "b"}}, "", "", "no-release", "(asked: a, b)"},
		{"paused where it is not", Pause, "", []OnCluster{{Cluster: "a", Record: done}, {Cluster: "b", Record: old}, {Cluster: "c"}}, "D", "b c", "", ""},
		{"paused twice", Pause, "", []OnCluster{{Cluster: "a", Record: done}, {Cluster: "b", Hold: &Hold{Release: 4, Rollout: "D", Paused: ann}}}, "", "", "nothing-to-pause", "paused already by ann@laptop"},
		{"paused on the way, resumed elsewhere", Pause, "", []OnCluster{{Cluster: "a", Record: done, Hold: &Hold{Release: 4, Rollout: "D", Paused: ann}}, {Cluster: "b", Record: old, Hold: &Hold{Release: 4, Rollout: "D"}}}, "D", "b", "", ""},
		{"a number of two", Approve, "4", []OnCluster{{Cluster: "a", Hold: waiting(4, "D", nil)}, {Cluster: "b", Hold: waiting(4, "E", nil)}}, "", "", "ambiguous-release", "D by somebody since"},
		{"one of two by its rollout", Approve, "E", []OnCluster{{Cluster: "a", Hold: waiting(4, "D", nil)}, {Cluster: "b", Hold: waiting(4, "E", nil)}}, "E", "b", "", ""},
		{"aborted where another is paused", Abort, "", []OnCluster{{Cluster: "a", Record: &Record{Release: 5, Rollout: "E", Phase: Succeeded}}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "", "", "nothing-to-abort", "release 4 (D) was paused by ann@laptop"},
		{"aborted beside one that is paused", Abort, "", []OnCluster{{Cluster: "a", Hold: waiting(5, "E", nil)}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "E", "a b", "", ""},
		{"paused where another is paused", Pause, "", []OnCluster{{Cluster: "a", Record: &Record{Release: 5, Rollout: "E", Phase: Succeeded}}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "", "", "nothing-to-pause", "release 4 (D) was paused by ann@laptop"},
		{"the paused one is aborted", Abort, "D", []OnCluster{{Cluster: "a", Record: &Record{Release: 5, Rollout: "E", Phase: Succeeded}}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "D", "b", "", ""},
		{"it is everywhere", Pause, "", []OnCluster{{Cluster: "a", Record: done}}, "", "", "nothing-to-pause", "every cluster"},
		{"it failed", Abort, "", []OnCluster{{Cluster: "a", Record: &Record{Release: 5, Rollout: "E", Phase: Failed}}}, "E", "a", "", ""},
		{"resumed", Resume, "", []OnCluster{{Cluster: "a", Record: done}, {Cluster: "b", Hold: &Hold{Release: 4, Rollout: "D", Paused: ann}}}, "D", "b", "", ""},
		{"resumed beside another that is paused", Resume, "D", []OnCluster{{Cluster: "a", Hold: waiting(5, "E", func(h *Hold) { h.Paused = ann })}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "D", "b", "", ""},
		{"the newest paused one first", Resume, "", []OnCluster{{Cluster: "a", Hold: waiting(5, "E", func(h *Hold) { h.Paused = ann })}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "E", "a", "", ""},
		{"approved beside another that is paused", Approve, "E", []OnCluster{{Cluster: "a", Hold: waiting(5, "E", nil)}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}, "E", "a", "", ""},
		{"nobody paused it", Resume, "", []OnCluster{{Cluster: "a", Record: done}}, "", "", "nothing-to-resume", "nobody has paused it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, findings := Say(c.verb, "shop", Meant{Release: c.meant}, Word{By: "bob"}, c.on)
			if c.code != "" {
				if said != nil || len(findings) != 1 || findings[0].Code != c.code || !strings.Contains(findings[0].Why, c.why) || findings[0].Fix == "" && c.code != "no-release" {
					t.Fatalf("%+v, %v", said, findings)
				}
				return
			}
			if findings.HasErrors() || said.Rollout != c.rollout {
				t.Fatalf("%+v, %v", said, findings)
			}
			var names []string
			for _, on := range said.Clusters {
				names = append(names, on.Cluster)
			}
			if got := strings.Join(names, " "); got != c.clusters {
				t.Errorf("on %q, want %q", got, c.clusters)
			}
		})
	}
}

// A cluster on which the files of a release changed nothing lacks nothing of it, as history counts it, so that nobody pauses or aborts what
// has ended everywhere. It may lack it where a word of the release waits there, where it goes back, and while it is under way elsewhere.
func TestSayUnchanged(t *testing.T) {
	same := func(change func(*Record)) *Record {
		r := &Record{Bundle: "shop", Release: 3, Rollout: "C", SourceDigest: "sha256:D", Phase: Succeeded}
		if change != nil {
			change(r)
		}
		return r
	}
	for name, c := range map[string]struct {
		on       OnCluster
		came     *Record
		clusters string
	}{
		"the same files":                  {OnCluster{Record: same(nil)}, nil, ""},
		"nobody waited":                   {OnCluster{Record: same(func(r *Record) { r.Phase = Written })}, nil, ""},
		"learned since":                   {OnCluster{Record: same(func(r *Record) { r.SourceDigest, r.Learned = "sha256:C", "sha256:D" })}, nil, ""},
		"other files":                     {OnCluster{Record: same(func(r *Record) { r.SourceDigest = "sha256:C" })}, nil, "b"},
		"it failed":                       {OnCluster{Record: same(func(r *Record) { r.Phase = Failed })}, nil, "b"},
		"a newer one":                     {OnCluster{Record: same(func(r *Record) { r.Release = 4; r.Started = noon.Add(1) })}, nil, "b"},
		"it waits there":                  {OnCluster{Record: same(nil), Hold: waiting(4, "D", nil)}, nil, "b"},
		"another one waits":               {OnCluster{Record: same(nil), Hold: waiting(2, "B", nil)}, nil, ""},
		"it goes back":                    {OnCluster{Record: same(nil)}, &Record{RollbackTo: &Name{Rollout: "A"}, Phase: Succeeded}, "b"},
		"it went back to where that is":   {OnCluster{Record: same(nil)}, &Record{RollbackTo: &Name{Release: 3, Rollout: "C"}, Phase: Succeeded}, ""},
		"to a newer one than it had":      {OnCluster{Record: same(func(r *Record) { r.Release, r.Rollout = 1, "A" })}, &Record{RollbackTo: &Name{Release: 2, Rollout: "B"}, Phase: Succeeded}, ""},
		"to where it went back to before": {OnCluster{Record: same(func(r *Record) { r.RollbackTo = &Name{Release: 1, Rollout: "A"} })}, &Record{RollbackTo: &Name{Release: 1, Rollout: "A"}, Phase: Succeeded}, ""},
		"and had nothing":                 {OnCluster{}, &Record{RollbackTo: &Name{Release: 2, Rollout: "B"}, Phase: Succeeded}, ""},
		"it has still to go back":         {OnCluster{Record: same(nil)}, &Record{RollbackTo: &Name{Release: 2, Rollout: "B"}, Phase: Succeeded}, "b"},
		"what it goes back to failed":     {OnCluster{Record: same(func(r *Record) { r.Phase = Failed })}, &Record{RollbackTo: &Name{Release: 3, Rollout: "C"}, Phase: Succeeded}, "b"},
		"it waits to go back":             {OnCluster{Record: same(nil), Hold: waiting(4, "D", nil)}, &Record{RollbackTo: &Name{Release: 3, Rollout: "C"}, Phase: Succeeded}, "b"},
		"it goes back elsewhere":          {OnCluster{Record: same(nil)}, &Record{RollbackTo: &Name{Release: 3, Rollout: "C"}, Phase: Applying}, "a b"},
		"it is under way":                 {OnCluster{Record: same(nil)}, &Record{Phase: Applying}, "a b"},
		"it failed elsewhere":             {OnCluster{Record: same(nil)}, &Record{Phase: Failed}, "a b"},
		"its files are of no one":         {OnCluster{Record: same(func(r *Record) { r.SourceDigest = "" })}, nil, "b"},
	} {
		came := &Record{Phase: Succeeded}
		if c.came != nil {
			came = c.came
		}
		came.Bundle, came.Release, came.Rollout, came.SourceDigest, came.Started = "shop", 4, "D", "sha256:D", noon
		c.on.Cluster = "b"
		for _, verb := range []string{Pause, Abort} {
			said, findings := Say(verb, "shop", Meant{Release: "D"}, Word{By: "bob"}, []OnCluster{{Cluster: "a", Record: came}, c.on})
			if c.clusters == "" {
				if said != nil || len(findings) != 1 || findings[0].Code != "nothing-to-"+verb || !strings.Contains(findings[0].Why, "it has come to every cluster") {
					t.Errorf("%s: %s: %+v, %v", name, verb, said, findings)
				}
				continue
			}
			if said == nil {
				t.Errorf("%s: %s: %v", name, verb, findings)
				continue
			}
			var names []string
			for _, on := range said.Clusters {
				names = append(names, on.Cluster)
			}
			if got := strings.Join(names, " "); got != c.clusters {
				t.Errorf("%s: %s on %q, want %q", name, verb, got, c.clusters)
			}
		}
	}
}

// Who resumes one of two paused releases is told that the other one still holds the bundle.
func TestStillPaused(t *testing.T) {
	paused := func(h *Hold) { h.Paused = ann }
	on := []OnCluster{{Cluster: "a", Hold: waiting(5, "E", paused)}, {Cluster: "b", Hold: waiting(4, "D", paused)}}
	for meant, still := range map[string]string{"D": "E", "E": "D", "": "D"} {
		said, findings := Say(Resume, "shop", Meant{Release: meant}, Word{By: "bob"}, on)
		if findings.HasErrors() || said.Still == nil || said.Still.Rollout != still || said.Still.Next != "hawser resume shop" {
			t.Errorf("%s: %+v, %v", meant, said, findings)
		}
	}
	if said, _ := Say(Resume, "shop", Meant{}, Word{By: "bob"}, on[:1]); said.Still != nil {
		t.Errorf("%+v", said.Still)
	}
}

// Whoever is slower is told by whom it was decided otherwise; the same word twice is no error.
func TestSaidOn(t *testing.T) {
	said, _ := Say(Approve, "shop", Meant{}, Word{By: "bob"}, []OnCluster{{Cluster: "b", Hold: waiting(4, "D", nil)}})
	next, err := said.On(waiting(4, "D", nil))
	if err != nil || next == nil || next.Approved == nil || next.Approved.By != "bob" {
		t.Fatalf("%+v, %v", next, err)
	}
	if again, err := said.On(next); again != nil || err != nil {
		t.Errorf("twice: %+v, %v", again, err)
	}
	if next, err := said.On(waiting(4, "D", func(h *Hold) { h.Approved = ann })); next != nil || err == nil || !strings.Contains(err.Error(), "approved already by ann@laptop") {
		t.Errorf("approved meanwhile: %+v, %v", next, err)
	}
	if next, err := said.On(waiting(4, "D", func(h *Hold) { h.Aborted = ann })); next != nil || err == nil || !strings.Contains(err.Error(), "ann@laptop") {
		t.Errorf("aborted meanwhile: %+v, %v", next, err)
	}
	if next, err := said.On(waiting(5, "E", nil)); next != nil || err == nil || !strings.Contains(err.Error(), "release 5 (E)") {
		t.Errorf("another one waits: %+v, %v", next, err)
	}
}

// A release that waits for its first cluster keeps its name, one that was aborted loses it, wherever it came to.
func TestHoldsContinue(t *testing.T) {
	next := Record{Phase: Applying, Rollout: "NEW", SourceDigest: "sha256:D"}
	rec := func(cluster string, number int, rollout string) *Record {
		return &Record{Cluster: cluster, Release: number, Rollout: rollout, SourceDigest: "sha256:" + rollout, Phase: Succeeded}
	}
	all := func(string) bool { return true }
	for _, c := range []struct {
		name    string
		holds   Holds
		on      []*Record
		number  int
		rollout string
	}{
		{"the first one waits", Holds{"b": waiting(1, "D", nil)}, []*Record{nil}, 1, "D"},
		{"it waits behind others", Holds{"b": waiting(4, "D", nil)}, []*Record{rec("a", 3, "C"), rec("b", 3, "C")}, 4, "D"},
		{"it has come to a cluster", Holds{"b": waiting(4, "D", nil)}, []*Record{rec("a", 4, "D"), rec("b", 3, "C")}, 4, "D"},
		{"other files", Holds{"b": waiting(4, "X", nil)}, []*Record{rec("a", 3, "C")}, 5, "NEW"},
		{"aborted before it came anywhere", Holds{"b": waiting(4, "D", func(h *Hold) { h.Aborted = ann })}, []*Record{rec("a", 3, "C")}, 5, "NEW"},
		{"aborted after", Holds{"b": waiting(4, "D", func(h *Hold) { h.Aborted = ann })}, []*Record{rec("a", 4, "D"), rec("b", 3, "C")}, 5, "NEW"},
		{"without holds", nil, []*Record{rec("a", 4, "D"), rec("b", 3, "C")}, 4, "D"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if number, rollout, _ := c.holds.Continues(next, c.on, nil, all); number != c.number || rollout != c.rollout {
				t.Errorf("release %d (%s), want %d (%s)", number, rollout, c.number, c.rollout)
			}
		})
	}
}

// An approval is of one release of the same files; a cluster that the release has come to keeps it in its record.
func TestApprovalOf(t *testing.T) {
	release := Record{Rollout: "D", SourceDigest: "sha256:D", Bundle: "shop"}
	approved := waiting(4, "D", func(h *Hold) { h.Approved = ann })
	release.Release = 5
	tried := func(release int, phase Phase, head string) *Record {
		return &Record{Rollout: "C", Release: release, Phase: phase, SourceDigest: head}
	}
	unseen := func(head string) *Record {
		return &Record{Rollout: "C", Release: 4, Phase: Written, Unjudged: true, SourceDigest: head}
	}
	before := func(release int, change func(*Hold)) *Hold {
		return waiting(release, "C", func(h *Hold) {
			h.SourceDigest, h.Approved = "sha256:D", ann
			if change != nil {
				change(h)
			}
		})
	}
	for _, c := range []struct {
		name string
		hold *Hold
		on   *Record
		want bool
	}{
		{"the same files failed there", before(4, nil), tried(4, Failed, "sha256:D"), true},
		{"they failed there twice", before(3, nil), tried(4, Failed, "sha256:D"), true},
		{"nobody could look at them there after their soak", before(4, nil), unseen("sha256:D"), true},
		{"nobody could look at other files there", before(3, nil), unseen("sha256:X"), false},
		{"nobody waited for them there", before(4, nil), tried(4, Written, "sha256:D"), false},
		{"it failed before it came there", before(4, nil), &Record{Rollout: "B", Release: 3, Phase: Succeeded, SourceDigest: "sha256:B"}, true},
		{"other files failed there", before(3, nil), tried(4, Failed, "sha256:X"), false},
		{"other files came since", before(3, nil), nil, false},
		{"they came there, and changed", before(4, nil), tried(4, Succeeded, "sha256:D"), false},
		{"failed and aborted", before(4, func(h *Hold) { h.Aborted = ann }), tried(4, Failed, "sha256:D"), false},
		{"failed in another wave", before(4, func(h *Hold) { h.Wave = "wave 1" }), tried(4, Failed, "sha256:D"), false},
		{"failed without an approval", before(4, func(h *Hold) { h.Approved = nil }), tried(4, Failed, "sha256:D"), false},
		{"nothing", nil, nil, false},
		{"it waits", waiting(4, "D", nil), nil, false},
		{"approved", approved, nil, true},
		{"approved and aborted", waiting(4, "D", func(h *Hold) { h.Approved, h.Aborted = ann, ann }), nil, false},
		{"another rollout", waiting(4, "C", func(h *Hold) { h.Approved = ann }), nil, false},
		{"other files", waiting(4, "D", func(h *Hold) { h.Approved, h.SourceDigest = ann, "sha256:x" }), nil, false},
		{"in its record", nil, &Record{Rollout: "D", SourceDigest: "sha256:D", Approvals: []Approval{{Wave: "wave 2 (production)", Word: *ann}}}, true},
		{"in the record, of another wave", nil, &Record{Rollout: "D", SourceDigest: "sha256:D", Approvals: []Approval{{Wave: "wave 1", Word: *ann}}}, false},
		{"in the record of another release", nil, &Record{Rollout: "C", SourceDigest: "sha256:D", Approvals: []Approval{{Wave: "wave 2 (production)", Word: *ann}}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Holds{"b": c.hold}).Approval("b", "wave 2 (production)", c.on, release); (got != nil) != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
	if fs := (Holds{"b": waiting(4, "D", func(h *Hold) { h.Paused = ann })}).Paused(release); len(fs) != 1 || fs[0].Code != CodePaused || fs[0].Severity != diag.Error {
		t.Errorf("paused: %v", fs)
	}
	for name, c := range map[string]struct {
		hold *Hold
		want int
	}{
		"another release is": {waiting(3, "C", func(h *Hold) { h.Paused = ann }), 1},
		"and was given up":   {waiting(3, "C", func(h *Hold) { h.Paused, h.Aborted = ann, ann }), 0},
	} {
		if fs := (Holds{"b": c.hold}).Paused(release); len(fs) != c.want || (c.hold.Stops("D") != "") != (c.want > 0) {
			t.Errorf("%s: %v, %q", name, fs, c.hold.Stops("D"))
		}
	}
	if _, err := release.Waiting("wave 2", nil)(waiting(3, "C", func(h *Hold) { h.Paused = ann })); err == nil || !strings.Contains(err.Error(), "paused by ann@laptop") {
		t.Errorf("a pause was overwritten: %v", err)
	}
}

// What is said of one release takes no pause of another away; an older wait gives way to it.
func TestSaidBesideAPause(t *testing.T) {
	on := []OnCluster{{Cluster: "a", Hold: waiting(5, "E", nil)}, {Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}, {Cluster: "c", Hold: waiting(3, "C", nil)}}
	said, fs := Say(Abort, "shop", Meant{}, Word{By: "bob"}, on)
	if fs.HasErrors() {
		t.Fatal(fs)
	}
	for _, c := range on {
		h, err := said.On(c.Hold)
		switch {
		case c.Cluster == "b":
			if h != nil || err == nil || !strings.Contains(err.Error(), "was paused by ann@laptop") {
				t.Errorf("b: %+v, %v", h, err)
			}
		case err != nil || h == nil || h.Rollout != "E" || h.Aborted == nil:
			t.Errorf("%s: %+v, %v", c.Cluster, h, err)
		}
	}
}

// What is stored of a hold is bounded, and what is no hold is damaged.
func TestHoldIsRead(t *testing.T) {
	h := waiting(4, "D", func(h *Hold) { h.Approved = ann })
	data, err := EncodeHold(*h, "mine")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeHold(data, "mine"); err != nil || got.Rollout != "D" || *got.Approved != *ann {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := DecodeHold(data, "theirs"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), `about the bundle "shop"`) {
		t.Errorf("another bundle's: %+v, %v", got, err)
	}
	old := *h
	old.V = V
	before, err := newWriter().json(old).packed(maxHold) // as versions wrote it that noted no owner
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeHold(before, object.OwnerID("", "", "shop")); err != nil || got.Rollout != "D" {
		t.Errorf("of before: %+v, %v", got, err)
	}
	if got, err := DecodeHold(before, object.OwnerID("", "", "other")); !errors.Is(err, ErrDamaged) {
		t.Errorf("of before, another bundle's: %+v, %v", got, err)
	}
	h.Message = strings.Repeat("x", 1<<20)
	if _, err := EncodeHold(*h, "mine"); err == nil {
		t.Error("a megabyte was kept")
	}
	for _, text := range []string{"", "x", "{}"} {
		if got, err := DecodeHold([]byte(text), "mine"); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// A release that is approved while it is paused does not go on by that; what is given up is on clusters of several waves.
func TestSayOfPaused(t *testing.T) {
	on := []OnCluster{{Cluster: "b", Hold: waiting(4, "D", func(h *Hold) { h.Paused = ann })}}
	for verb, want := range map[string]string{Approve: "It is paused by ann@laptop at 2026-09-01T12:00:00Z. hawser resume shop lets it go on.", Resume: "It waits for an approval of wave 2 (production): hawser approve shop", Abort: "go on"} {
		s, findings := Say(verb, "shop", Meant{}, *ann, on)
		if findings.HasErrors() || s.Then("go on") != want {
			t.Errorf("%s: %v %v", verb, s, findings)
			continue
		}
		if got := s.For(); got != map[bool]string{true: "b", false: "wave 2 (production): b"}[verb == Abort] {
			t.Errorf("%s: %s", verb, got)
		}
	}
}
